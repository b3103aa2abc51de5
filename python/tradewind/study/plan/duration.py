"""How long the simulations of a study will take on this machine, and how sure that is.

Forecasts give packet-hops and seconds at one rate. The rate of this machine follows from stored cases of the same study
that were simulated here, or else from a probe of the simulator (`tradewind.simulation.speed_probe`).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tradewind.study.cases.case import HERE_ONLY
from tradewind.study.cases.environment import Environment
from tradewind.study.cases.store import CorruptCaseError, Store
from tradewind.study.plan.planned import Planned

FEWEST = 3
"""Stored cases that make a rate."""
_LONG_S = 0.05
"""A shorter simulation says little about longer ones."""
_LEAST_SPREAD = 1.25
"""Factor of uncertainty that a rate has at least."""


@dataclass(frozen=True)
class Pace:
    """Processor time on this machine over that of forecasts."""

    ratio: float
    spread: float
    """Factor of uncertainty."""
    source: str


@dataclass(frozen=True)
class Duration:
    """Estimated wall time of the cases that are still to be computed."""

    seconds: float
    low_s: float
    high_s: float
    cores: int
    measured: int
    """Cases whose time is not known before, as they are measured."""
    source: str

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return vars(self).copy()


def pace_of(cases: Iterable[tuple[Planned, Store]], environment: Environment, probe: Callable[[], list[float]]) -> Pace:
    """Return the pace by stored cases of this machine, or by a probe where there are too few of them."""
    pairs = [pair for planned, store in cases if (pair := _timed(planned, store, environment)) is not None]
    if len(pairs) >= FEWEST:
        ratio = sum(took for took, _ in pairs) / sum(expected for _, expected in pairs)
        return Pace(ratio, _spread([took / expected for took, expected in pairs]), f"{len(pairs)} stored cases")
    ratios = probe()
    return Pace(statistics.geometric_mean(ratios), _spread(ratios), "a probe of the simulator here")


def duration_of(missing: Sequence[Planned], pace: Pace, environment: Environment, workers: int | None) -> Duration:
    """Return the time of cases that are computed side by side on the cores of this machine.

    At least that of the longest one on a core, where `workers` of them at a time leave it no more.
    """
    costs = [planned.cost_s * pace.ratio for planned in missing]
    cores = environment.cores
    threads = 1 if workers is None else max(1, cores // workers)
    at_a_time = cores if workers is None else min(cores, workers * threads)
    longest = max(costs, default=0.0) / (cores if workers is None else threads)
    seconds = max(sum(costs) / at_a_time, longest)
    measured = sum(planned.case.kind in HERE_ONLY for planned in missing)
    return Duration(seconds, seconds / pace.spread, seconds * pace.spread, cores, measured, pace.source)


def _timed(planned: Planned, store: Store, environment: Environment) -> tuple[float, float] | None:
    """Return the processor time and the forecast of a stored simulation of this machine."""
    if planned.forecast is None or planned.cost_s < _LONG_S:
        return None
    try:
        body = store.load(planned.key)
    except CorruptCaseError:  # which is computed again, with a note
        return None
    if body is None or body.get("environment", {}).get("cpu") != environment.cpu:
        return None
    result = body["result"]
    return float(result["wall_s"]) * int(result.get("threads") or 1), planned.cost_s


def _spread(ratios: Sequence[float]) -> float:
    """Return the factor within which two of three ratios lie about their mean."""
    logs = [math.log(ratio) for ratio in ratios]
    return max(_LEAST_SPREAD, math.exp(statistics.stdev(logs)))
