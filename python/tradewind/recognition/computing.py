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


NOTHING = Computing(0.0, 0.0)


class ComputingTimes:
    """Computing time before and during instances of exchanges."""

    def __init__(self, trace: Trace, instances: Sequence[Instance]) -> None:
        self._until = [np.cumsum(gaps_ns(trace.events(rank))) for rank in range(trace.size)]
        shape = (len(instances), len(self._until))
        begins, ends = (
            np.array([getattr(each, name) for each in instances], np.int64).reshape(shape) for name in ("begin", "end")
        )
        self._before, self._during = np.zeros(shape), np.zeros(shape)
        for rank, until in enumerate(self._until):
            takes_part = np.flatnonzero(begins[:, rank] >= 0)
            begin, end = (until[events[takes_part, rank]].astype(float) for events in (begins, ends))
            # An exchange that is awaited after the next one has begun is open until then.
            end[:-1] = np.minimum(end[:-1], begin[1:])
            during = np.maximum(end - begin, 0.0)
            self._during[takes_part, rank] = during * 1e-9
            # Before the first exchange a program sets up; that is no computing of a step.
            since = np.diff(begin, prepend=begin[:1])
            since[1:] -= during[:-1]
            self._before[takes_part, rank] = np.maximum(since, 0.0) * 1e-9

    def before(self, places: Sequence[int]) -> Computing:
        """Return the computing before the instances at one place of a loop, since the exchanges before them ended; the
        first of several instances is left out."""
        return _of_ranks(self._before[list(places[1:] if len(places) > 1 else places)].mean(axis=0))

    def during(self, places: Sequence[int]) -> Computing:
        """Return the computing while the instances at one place of a loop are under way."""
        return _of_ranks(self._during[list(places)].mean(axis=0))


def _of_ranks(times: NDArray[np.float64]) -> Computing:
    mean = float(times.mean())
    return Computing(mean, float(times.std()) / mean) if mean else NOTHING
