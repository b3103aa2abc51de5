"""Noise of the operating system: how often, and for how long, the CPU of a rank does something else."""

from __future__ import annotations

from dataclasses import dataclass

from tradewind.base import units
from tradewind.base.errors import InputError
from tradewind.base.names import nearest

ARRIVALS = ("periodic", "scattered")
"""Times of a rank's detours: at equal distances, or anywhere in each period, drawn at random."""
NONE = "none"
_MIN_HZ, _MAX_HZ = 1e-3, 1e6


@dataclass(frozen=True)
class Noise:
    """Detours of the CPU of each rank, in its own phase: `frequency_hz` of them per second, each of `duration_s`."""

    frequency_hz: float
    duration_s: float
    arrival: str = ARRIVALS[0]

    @property
    def share(self) -> float:
        """Share of the time that is taken from a rank."""
        return self.frequency_hz * self.duration_s

    @property
    def text(self) -> str:
        """The same as a user writes it."""
        scattered = "" if self.arrival == ARRIVALS[0] else f",{self.arrival}"
        return f"{self.frequency_hz:g}Hz,{1e6 * self.duration_s:g}us{scattered}"

    def problems(self) -> list[str]:
        """Return why there can be no such noise."""
        found = []
        if not _MIN_HZ <= self.frequency_hz <= _MAX_HZ:
            found.append(f"frequency {self.frequency_hz:g}Hz: 0.001Hz to 1MHz are allowed")
        if not 1e-9 <= self.duration_s <= 3600:
            found.append(f"duration {self.duration_s:g}s: 1ns to 1h are allowed")
        if not found and self.share >= 1:
            found.append(f"{self.text} takes {self.share:.0%} of the time from a rank; less than all of it is allowed")
        return found


NAMED = {
    "linux-tick": Noise(1000.0, 10e-6),
    "linux-osnoise": Noise(1000.0, 2.1e-6),
}
"""Published noise by name; `SOURCES` has who published it."""
SOURCES = {
    "linux-tick": "timer interrupts at 1 kHz cost 0.5 to 1.5 % of the time (Tsafrir 2007, The context-switch overhead "
    "inflicted by hardware interrupts): 1 % is taken",
    "linux-osnoise": "example of the osnoise tracer in the documentation of Linux (trace/osnoise-tracer), a virtual "
    "machine: 1008 interrupts and 2.07 ms of noise per second, in the mean over 8 CPUs",
}


def noise_of(text: str) -> Noise | None:
    """Return the noise of a text like ``100Hz,250us``, ``100Hz,250us,scattered``, or of a name; "none": none.

    Raises InputError.
    """
    if text == NONE:
        return None
    if text in NAMED:
        return NAMED[text]
    parts = text.split(",")
    if len(parts) not in (2, 3) or (len(parts) == 3 and parts[2] not in ARRIVALS):
        known = (NONE, *NAMED)
        raise InputError(
            f"noise {text!r}{nearest(text, known)}: {', '.join(known)}, or frequency and duration of detours are "
            f"allowed, such as 100Hz,250us or 100Hz,250us,{ARRIVALS[1]}"
        )
    problems: list[str] = []
    numbers = []
    for parse, part in ((units.hertz, parts[0]), (units.seconds, parts[1])):
        try:
            numbers.append(parse(part))
        except InputError as error:
            problems += [f"noise {text!r}: {problem}" for problem in error.problems]
    if problems:
        raise InputError(*problems)
    noise = Noise(numbers[0], numbers[1], *parts[2:])
    if problems := noise.problems():
        raise InputError(*(f"noise {text!r}: {problem}" for problem in problems))
    return noise
