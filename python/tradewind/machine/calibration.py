"""From what ranks have measured to the values of a machine file (its text: `tradewind.machine.calibration_file`).

Two ranks exchange one message each way, in a time of latency + overhead + bytes / rate. A message of one double takes
latency + overhead, each further one in the same stage the overhead again; what a longer one takes more is its rate. So
the rates include what it costs to pack, and what the ranks take from each other, as all measure at the same time.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tradewind.base.errors import InputError
from tradewind.base.units import format_bytes, format_seconds
from tradewind.method.method import DEFAULT_TRANSPORT

Row = Mapping[str, Any]
"""Result of `tradewind.launch.probe`."""

SPREAD_LIMIT = 0.25
"""Above this a machine is too busy to be measured, unless forced."""

_MIN_SHARE = 0.02
"""Minimum share of a message's time that is due to its bytes: noise could leave none."""
_TICK_S = 1e-8
"""At least, where what lies beside a measurement took longer than all of it."""
_CERTAIN = 3
"""Minimum standard errors of a slope that is not taken for noise; noise alone exceeds it in 1 of 80 cases."""


def spread(samples: Sequence[float]) -> float:
    """Return the spread of samples: the interquartile range over the median."""
    if len(samples) < 2:
        return 0.0
    low, middle, high = statistics.quantiles(samples, n=4, method="inclusive")
    return (high - low) / middle


@dataclass(frozen=True)
class Rates:
    """Bytes a second by size; `runs` by the bytes of a run, `whole` of one run. A list may end early."""

    sizes: list[int]
    whole: list[float]
    runs: dict[int, list[float]] = field(default_factory=dict)


@dataclass(frozen=True)
class MeasuredMethod:
    """Costs of messages by a transport with a packing."""

    transport: str
    packing: str
    latency_s: float
    overhead_s: float
    rates: Rates
    scattered: dict[int, list[float]] = field(default_factory=dict)
    """Rates of what is one run at its sender, by the bytes of a run at its receiver; none above that of one run at
    both, or of a copy of one."""
    messages: int = 1
    """Messages of a stage in the measurement that the overhead comes from."""

    @property
    def latency_reason(self) -> str | None:
        """Return why the latency is 0; None if it is not."""
        if self.latency_s > 0:
            return None
        return (
            f"not distinguishable from 0: {self.messages} messages took {self.messages} times as long as one, or "
            "longer, so that all of it counts as overhead"
        )

    @property
    def overhead_reason(self) -> str | None:
        """Return why the overhead is 0; None if it is not."""
        if self.overhead_s > 0:
            return None
        if self.messages == 1:
            return "not measured: no stage of several messages, so that all of the time counts as latency"
        return f"not distinguishable from 0: {self.messages} messages took no longer than one"


def fitted(rows: Iterable[Row], scattered: Iterable[Row] = (), copies: Iterable[Row] = ()) -> list[MeasuredMethod]:
    """The methods of all rows of pairs; one of which something is missing is left out.

    `scattered`: rows of messages that are one run at their sender, beside a copy within the rank of the same shape,
    whose time is that of `copies`.
    """
    copies = list(copies)
    kept = {(row["run"], row["bytes"]): row["best_s"] for row in copies}
    beside: dict[tuple[str, str], list[Row]] = {}
    for row in scattered:
        if (shape := (row["run"], row["bytes"])) in kept:
            less = {**row, "best_s": row["best_s"] - kept[shape]}
            beside.setdefault((row["transport"], row["packing"]), []).append(less)
    grouped: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        grouped.setdefault((row["transport"], row["packing"]), []).append(row)
    copied = copy_rates(copies)
    found = (_method(*names, chosen, beside.get(names, []), copied) for names, chosen in grouped.items())
    return [method for method in found if method is not None]


def _method(
    transport: str, packing: str, rows: Sequence[Row], scattered: Sequence[Row], copied: Rates | None
) -> MeasuredMethod | None:
    minimum = min(row["bytes"] for row in rows)
    small = {row["messages"]: row["best_s"] for row in rows if row["bytes"] == minimum}
    rates = _rates([row for row in rows if row["bytes"] > minimum], small.get(1, 0.0))
    if 1 not in small or rates is None:
        return None
    maximum = max(small)
    overhead = (small[maximum] - small[1]) / (maximum - 1) if maximum > 1 else 0.0
    overhead = min(max(overhead, 0.0), small[1])
    whole = [row for row in rows if row["run"] == 0 and row["bytes"] > minimum]
    beside = _rates([*whole, *scattered], small[1]) if scattered else None
    bounded = _bounded(beside, copied) if beside else {}
    return MeasuredMethod(transport, packing, small[1] - overhead, overhead, rates, bounded, maximum)


def _bounded(beside: Rates, copied: Rates | None) -> dict[int, list[float]]:
    """The rates of runs, none above that of one: as a copy was taken away from their times, noise may leave next to
    nothing of these."""
    copies = dict(zip(copied.sizes, copied.whole, strict=True)) if copied else {}
    maximum = [min(rate, copies.get(size, rate)) for size, rate in zip(beside.sizes, beside.whole, strict=True)]
    return {run: [min(pair) for pair in zip(rates, maximum, strict=False)] for run, rates in beside.runs.items()}


def copy_rates(rows: Sequence[Row]) -> Rates | None:
    """The rates of copies within a rank, of the rows of copies."""
    return _rates(rows, 0.0)


def _rates(rows: Sequence[Row], start_s: float) -> Rates | None:
    """Return, per run, the rates by size up to the first gap; None without rates of a single run."""
    times = {(row["run"], row["bytes"]): row["best_s"] for row in rows}
    sizes = sorted({size for run, size in times if run == 0})
    lists: dict[int, list[float]] = {}
    for run in sorted({run for run, _ in times}):
        for size in sizes:
            if (run, size) not in times:
                break
            seconds = times[run, size]
            lists.setdefault(run, []).append(size / max(seconds - start_s, _MIN_SHARE * abs(seconds), _TICK_S))
    whole = lists.pop(0, None)
    return None if whole is None else Rates(sizes, whole, lists)


@dataclass(frozen=True)
class FittedLine:
    """A straight line through times by bytes: start_s + s_per_byte * bytes, with the standard error of its slope."""

    start_s: float
    s_per_byte: float
    error_s_per_byte: float

    @property
    def bytes_per_s(self) -> float | None:
        """The rate; None if the slope does not differ from 0 significantly."""
        return 1 / self.s_per_byte if self.s_per_byte > _CERTAIN * self.error_s_per_byte else None


@dataclass(frozen=True)
class Unexpected:
    """The copies of eager messages that came before their receive was posted."""

    eager_bytes: int
    """Size of the longest eager messages; 0 if there are none."""
    more: FittedLine | None
    """The extra time of such a message over one whose receive was posted first; None if it was not measured."""

    @property
    def bytes_per_s(self) -> float | None:
        """The rate of the copies; None if it is not known."""
        return None if self.more is None else self.more.bytes_per_s

    @property
    def reason(self) -> str | None:
        """Return why the rate is not known; None if it is."""
        if self.bytes_per_s is not None:
            return None
        if not self.eager_bytes:
            return "no message is eager: even short ones wait until their receive is posted"
        if self.more is None:
            return "messages did not come before their receive was posted"
        more, error = (self.eager_bytes * slope for slope in (self.more.s_per_byte, self.more.error_s_per_byte))
        sign = "-" if more < 0 else ""
        return (
            f"the bytes of a message of {format_bytes(self.eager_bytes)} took {sign}{format_seconds(abs(more))} more, "
            f"with a standard error of {format_seconds(error)}: not distinguishable from nothing"
        )


def unexpected(rows: Sequence[Row], eager_bytes: int) -> Unexpected:
    """The copies of unexpected messages, from rows of receives that were posted before and after the message came."""
    times = {(row["bytes"], row["posted"]): row["best_s"] for row in rows}
    more = {size: times[size, False] - times[size, True] for size, posted in times if posted and (size, False) in times}
    if len(more) < 3:
        return Unexpected(eager_bytes, None)
    slope, start = statistics.linear_regression(list(more), list(more.values()))
    squares = sum((seconds - start - slope * size) ** 2 for size, seconds in more.items())
    middle = statistics.fmean(more)
    error = math.sqrt(squares / (len(more) - 2) / sum((size - middle) ** 2 for size in more))
    return Unexpected(eager_bytes, FittedLine(start, slope, error))


@dataclass(frozen=True)
class Calibration:
    """Measured values of a machine."""

    methods: list[MeasuredMethod]
    copies: Rates | None
    outside: MeasuredMethod | None
    """Between nodes; None where there is one."""
    unexpected: Unexpected
    probed: Mapping[str, Any]
    """The rest of the result of `tradewind.launch.probe.probe`."""
    spread: float
    """Upper quartile of the spread of measurements."""
    worst_spread: float
    """Upper decile of the spread of measurements."""
    repeat: int
    rounds: int

    @property
    def bases(self) -> MeasuredMethod:
        """Return the method whose costs give the values of the network."""
        found = self.outside or next((method for method in self.methods if method.transport == DEFAULT_TRANSPORT), None)
        return found or self.methods[0]


def calibrated(result: Mapping[str, Any], repeat: int, rounds: int) -> Calibration:
    """The calibration of a result of `tradewind.launch.probe.probe`. Raises InputError where nothing was measured."""
    inside, outside = fitted(result["inside"], result["scattered"], result["copies"]), fitted(result["outside"])
    if not inside and not outside:
        raise InputError("nothing could be measured: none of these transports goes with any of these packings")
    spreads = sorted(row["spread"] for name in ("inside", "scattered", "outside", "copies") for row in result[name])
    return Calibration(
        inside,
        copy_rates(result["copies"]),
        outside[0] if outside else None,
        unexpected(result["unexpected"], result["eager_bytes"]),
        result,
        spreads[int(0.75 * (len(spreads) - 1))],
        spreads[int(0.9 * (len(spreads) - 1))],
        repeat,
        rounds,
    )


def refusals(calibration: Calibration, limit: float) -> list[str]:
    """Return why the figures should not be trusted."""
    found = []
    if calibration.spread > limit:
        found.append(
            f"the machine is busy: in one of four measurements half of the samples lie {calibration.spread:.0%} of "
            f"their median apart or more, and {limit:.0%} are allowed; calibrate when it is idle, or force it"
        )
    if calibration.probed["ranks_per_core"] > 1:
        found.append(
            f"{calibration.probed['ranks_per_core']:g} ranks per core: at most 1 is allowed, as ranks that take turns "
            "at a core measure that; name fewer, or force it"
        )
    return found
