"""Computing time between exchanges, rank by rank, from the gaps between recorded calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tradewind.recognition.parsing import Instance
from tradewind.replay.rows import gaps_ns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tradewind.trace.model import Trace


@dataclass(frozen=True)
class Computing:
    """Computing time of the ranks at one place of a loop."""

    mean_s: float
    spread: float
    """Standard deviation of the ranks over the mean."""


class ComputingTimes:
    """Computing time between instances of exchanges."""

    def __init__(self, trace: Trace, instances: Sequence[Instance]) -> None:
        self._until = [np.cumsum(gaps_ns(trace.events(rank))) for rank in range(trace.size)]
        self._before = self._between(instances)

    def _between(self, instances: Sequence[Instance]) -> NDArray[np.float64]:
        """Return computing seconds before each instance since the one before it, [instance][rank]."""
        begins = np.array([each.begin for each in instances], np.int64).reshape(len(instances), len(self._until))
        found = np.zeros(begins.shape)
        for rank, until in enumerate(self._until):
            takes_part = np.flatnonzero(begins[:, rank] >= 0)
            at = until[begins[takes_part, rank]].astype(float)
            # Before the first exchange a program sets up; that is no computing of a step.
            found[takes_part, rank] = np.diff(at, prepend=at[:1]) * 1e-9
        return np.maximum(found, 0.0)

    def at(self, places: Sequence[int]) -> Computing:
        """Return the computing before the instances at one place of a loop, the first of several left out."""
        times = self._before[list(places[1:] if len(places) > 1 else places)].mean(axis=0)
        mean = float(times.mean())
        return Computing(mean, float(times.std()) / mean if mean else 0.0)
