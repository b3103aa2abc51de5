"""A recorded trace as a workload: what `tradewind.simulation` simulates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tradewind import _core
from tradewind.replay.calls import DEFAULT_ALLREDUCE, Replayed, calls_of
from tradewind.replay.changes import changed
from tradewind.replay.critical_path import critical_path
from tradewind.replay.row import COMPUTING
from tradewind.trace.model import Trace
from tradewind.workload.workload import Step, Workload

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tradewind.timeline.model import TimeLine


@dataclass(frozen=True, eq=False)
class TraceWorkload(Workload):
    """The calls of a trace, to be simulated. Raises InputError for what cannot be replayed."""

    trace: Trace
    title: str = "trace"
    """Its name in results."""
    computing: float = 1.0
    """Time of computations over the recorded time."""
    allreduce: str = DEFAULT_ALLREDUCE
    """Algorithm of MPI_Allreduce."""

    merge_bytes: int = 0
    """Messages of one rank to another become one, of at most this number of bytes; see `tradewind.replay.changes`."""
    overlap: str = "none"
    """One of `tradewind.replay.changes.OVERLAPS`."""

    @cached_property
    def replayed(self) -> Replayed:
        """The calls, and what is left out."""
        return calls_of(self.trace, self.computing, self.allreduce)

    @cached_property
    def calls(self) -> _core.Calls:  # type: ignore[override]  # made when it is asked for
        """The calls as the core replays them, with the changes that were asked for."""
        return changed(self.replayed.calls, self.merge_bytes, self.overlap)

    @property
    def ranks(self) -> int:  # type: ignore[override]  # of the trace
        """Number of ranks of the trace."""
        return self.trace.size

    @property
    def name(self) -> str:
        """Name of the trace."""
        return self.title

    @property
    def bytes_per_point(self) -> int:
        """1: messages are bytes."""
        return 1

    @property
    def element_bytes(self) -> int:
        """1."""
        return 1

    def steps(self) -> list[Step]:
        """Return one step, in which all calls are made."""
        return [Step("trace", None, 1, _core.Compute(points=[0.0] * self.ranks))]

    def as_dict(self) -> dict[str, Any]:
        """Return the trace's name, ranks and what was changed, as plain values."""
        return {
            "trace": self.title,
            "ranks": self.ranks,
            "computing": self.computing,
            "allreduce": self.allreduce,
            **({"merge_bytes": self.merge_bytes} if self.merge_bytes else {}),
            **({"overlap": self.overlap} if self.overlap != "none" else {}),
            "recorded_s": recorded_s(self.trace),
        }

    def figures(self, result: _core.SimulationResult) -> dict[str, Any]:
        """Return causes of the time, and the time in each MPI function: minimum, mean and maximum over the ranks.

        Causes add up to the time: computing, the mean of the ranks; imbalance, what the longest chain of computing from
        message to message takes beyond that; network, the rest.
        """
        import numpy as np

        spent: NDArray[np.float64] = np.array(result.spent_s).reshape(self.ranks, -1)
        computing = spent[:, COMPUTING]
        by_call = {
            label: {"minimum_s": float(low), "mean_s": float(mean), "maximum_s": float(high)}
            for label, low, mean, high in zip(
                self.calls.labels, spent.min(axis=0), spent.mean(axis=0), spent.max(axis=0), strict=True
            )
            if high > 0
        }
        free_s = min(_core.free_network_s(self.calls), result.time_s)
        mean_s = min(float(computing.mean()), free_s)
        return {
            "causes": {"computing_s": mean_s, "imbalance_s": free_s - mean_s, "network_s": result.time_s - free_s},
            "busy_s": (float(computing.sum()), float(computing.min()), float(computing.max())),
            "calls": dict(sorted(by_call.items(), key=lambda item: -float(item[1]["mean_s"]))),
            "critical_path": critical_path(self.calls.labels, result),
            "not_replayed": not_replayed(self.replayed),
        }

    def time_line(self, result: _core.SimulationResult, ranks: Sequence[int], title: str) -> TimeLine:
        """Return the time line of some ranks; see `tradewind.replay.time_line`."""
        from tradewind.replay.time_line import time_line

        return time_line(self.trace, self.calls, result, ranks, title)


def recorded_s(trace: Trace) -> float:
    """Return the time from the first to the last event of a trace, seconds."""
    begins, ends = [], []
    for rank in trace.ranks:
        events = trace.events(rank)
        if len(events):
            begins.append(int(events.begin_ns.min()))
            ends.append(int(events.end_ns.max()))
    return (max(ends) - min(begins)) * 1e-9 if ends else 0.0


def not_replayed(replayed: Replayed) -> Mapping[str, Any]:
    """Return calls and bytes by function that a replay leaves out; and the messages without another end.

    Those of which that end may be among missing last calls are counted as ``not_known``, not as ``unmatched``.
    """
    return {
        "calls": dict(replayed.left.calls),
        "bytes": dict(replayed.left.bytes),
        "unmatched": len(replayed.unmatched),
        "not_known": replayed.not_known,
    }
