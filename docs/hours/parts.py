"""Times of the exchanges of a model, on lines through what was simulated packet by packet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import closed
import numpy as np
import numpy.typing as npt
from choices import LEVELS, POINTS

Array = npt.NDArray[np.float64]
NETWORKS = {"torus-L": "torus", "fattree-L": "fat-tree", "dragonfly-ML": "dragonfly"}
"""Machines of the studies, and what the page calls them."""
ROUTINGS = ("dimension-order", "d-mod-k", "valiant")
"""The routing of each."""
SPLITS = {1000: (25, 40), 10_000: (100, 100), 100_000: (250, 400), 1_000_000: (1000, 1000)}
"""Ranks along x and y, nearest to a square."""
WIDTHS = (1, 3, 10)
"""Widths of the halos that were simulated."""
HUNDREDTH = (POINTS[0] // 10, POINTS[1] // 10)
FINITE = "credits"
"""Buffers of switches. Where a place was simulated with finite and with unbounded ones, the finite ones count."""
Key = tuple[object, ...]
ELEMENT_BYTES = {"f4": 4, "f8": 8}


@dataclass(frozen=True)
class Line:
    """A time against the levels that are exchanged, in double precision: straight between the simulated ones, and
    straight on beyond the last two."""

    amounts: tuple[float, ...]
    times: tuple[float, ...]

    def parts(self, amount: Array) -> tuple[Array, Array]:
        """Return the time that does not depend on the bandwidth of links, and the rest: of the piece of the line in
        which `amount` lies, what it has at 0, and what it rises from there."""
        x, y = np.array(self.amounts), np.array(self.times)
        if len(x) == 1:
            return np.zeros_like(amount), y[0] / x[0] * amount
        piece = np.clip(np.searchsorted(x, amount) - 1, 0, len(x) - 2)
        slope = (y[piece + 1] - y[piece]) / (x[piece + 1] - x[piece])
        start = y[piece] - slope * x[piece]
        return start, slope * amount

    def at(self, amount: Array, faster: Array | float = 1.0) -> Array:
        """Return the time of an amount on links that are `faster`, at the same latency. Where a line would start
        below 0, all of the time is due to bandwidth."""
        start, rise = self.parts(np.asarray(amount, dtype=float))
        whole = start + rise
        latency = np.clip(start, 0.0, None)
        return latency + (whole - latency) / faster


@dataclass(frozen=True)
class Place:
    """Where a step is taken: a machine, a base of the studies, a horizontal grid and ranks."""

    machine: str
    base: str
    points: tuple[int, int]
    ranks: int

    @property
    def split(self) -> tuple[int, int]:
        return SPLITS[self.ranks]

    @property
    def columns(self) -> int:
        """Columns of the rank that has most."""
        return int(np.prod([-(-n // parts) for n, parts in zip(self.points, self.split, strict=True)]))


class Parts:
    """The simulated exchanges, by place."""

    def __init__(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Takes the records of the studies (see `tradewind.dataset.read`)."""
        found: dict[Key, dict[str, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
        for record in records:
            if record["kind"] == "simulate" and record["routing"] in ROUTINGS:
                key, amount = _key(record)
                found[key][record["buffers"]].append((amount, record["time_s"] / (record["times"] or 1)))
        self._lines = {key: {buffers: _line(own) for buffers, own in lines.items()} for key, lines in found.items()}

    def transposition(self, place: Place) -> Line:
        """Three transpositions, against levels of fields of a hundredth of the grid."""
        return self._line("transpose", place, HUNDREDTH, None)

    def halo(self, place: Place, width: int) -> Line:
        """A halo exchange, against its levels."""
        return self._line("halo", place, place.points, width)

    def allreduce(self, place: Place) -> float:
        """Seconds of one of three numbers, by the fastest algorithm."""
        return self._line("allreduce", place, None, None).times[0]

    def finite_over_unbounded(self, place: Place, levels: float) -> float | None:
        """Return what finite buffers make of the time of a transposition; None where one of them is missing."""
        lines = self._lines.get(("transpose", place.machine, place.base, place.ranks, HUNDREDTH, None), {})
        if len(lines) < 2:
            return None
        return float(lines[FINITE].at(np.array(levels)) / lines["unbounded"].at(np.array(levels)))

    def _line(self, pattern: str, place: Place, points: tuple[int, int] | None, width: int | None) -> Line:
        key = (pattern, place.machine, place.base, place.ranks, points, width)
        lines = self._lines.get(key) or {FINITE: self._estimate(pattern, place, points, width)}
        finite, unbounded = lines.get(FINITE), lines.get("unbounded")
        if finite and unbounded and len(finite.amounts) < len(unbounded.amounts):
            return _scaled(unbounded, finite)
        return finite or lines["unbounded"]

    def _estimate(self, pattern: str, place: Place, points: tuple[int, int] | None, width: int | None) -> Line:
        """Return alpha-beta times what congestion made of it on the most ranks that were simulated."""
        known = [ranks for ranks in SPLITS if (pattern, place.machine, place.base, ranks, points, width) in self._lines]
        if not known or place.ranks < max(known) or place.machine not in closed.LATENCIES:
            raise KeyError(f"not simulated: {pattern} at {place}, width {width}")
        reference = replace(place, ranks=max(known))
        line = self._line(pattern, reference, points, width)
        factor = line.times[-1] / _quiet(pattern, reference, width, line.amounts[-1])
        if pattern == "allreduce":
            return Line((1.0,), (factor * _quiet(pattern, place, width, 1.0),))
        times = (factor * _quiet(pattern, place, width, amount) for amount in closed.SAMPLES)
        return Line(tuple(closed.SAMPLES), tuple(times))

    def simulated(self, place: Place) -> bool:
        """Whether all exchanges of a place were simulated."""
        where = (place.machine, place.base, place.ranks)
        wanted = [("transpose", *where, HUNDREDTH, None), ("allreduce", *where, None, None)]
        return all(key in self._lines for key in [*wanted, *(("halo", *where, place.points, w) for w in WIDTHS)])

    def has(self, place: Place) -> bool:
        """Whether all exchanges of a place were simulated, or can be estimated."""
        try:
            self.transposition(place), self.allreduce(place)
            for width in WIDTHS:
                self.halo(place, width)
        except KeyError:
            return False
        return place.ranks <= np.prod(place.points)


def _scaled(line: Line, few: Line) -> Line:
    """Return a line of more amounts, times what another makes of the last of its few: the factor of finite buffers."""
    factor = few.times[-1] / float(line.at(np.array(few.amounts[-1])))
    return Line(line.amounts, tuple(factor * time for time in line.times))


def _quiet(pattern: str, place: Place, width: int | None, levels: float) -> float:
    latency_s = closed.LATENCIES[place.machine]
    if pattern == "allreduce":
        return closed.allreduce(place.ranks, latency_s)
    if pattern == "halo":
        return closed.halo(levels, place.points, place.split, width or 0, latency_s)
    forms = (closed.ring, closed.bruck)
    return min(form(levels, int(np.prod(HUNDREDTH)), place.split, latency_s) for form in forms)


def _key(record: Mapping[str, Any]) -> tuple[Key, float]:
    """The place of a case, and how much it exchanges: levels of double precision."""
    pattern, place = record["pattern"], (record["machine"], record["base"], record["ranks"])
    if pattern == "allreduce":
        return (pattern, *place, None, None), 1.0
    nx, ny, nz = map(int, record["grid"].split("x"))
    if pattern == "halo":
        return (pattern, *place, (nx, ny), record["width"]), float(nz)
    bytes_per_point = ELEMENT_BYTES[record["dtype"]]
    return (pattern, *place, HUNDREDTH, None), nx * ny * nz * bytes_per_point / (
        np.prod(HUNDREDTH) * ELEMENT_BYTES["f8"]
    )


def _line(points: list[tuple[float, float]]) -> Line:
    """Return the line through the shortest time of each amount: an algorithm is chosen for each number of ranks."""
    best: dict[float, float] = {}
    for amount, time in points:
        best[amount] = min(time, best.get(amount, time))
    amounts = tuple(sorted(best))
    return Line(amounts, tuple(best[amount] for amount in amounts))


def field_levels(fields: Array, place: Place) -> Array:
    """Return what is transposed, in levels of fields of a hundredth of the grid."""
    share = np.prod(place.points) / np.prod(HUNDREDTH)
    return fields * (LEVELS * share)
