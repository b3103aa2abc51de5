"""Messages in motion: when each leaves its sender and arrives, by stages or as a simulation has timed them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tradewind import _core
from tradewind.timeline.core_events import by_rank

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tradewind.workload.workload import Step

_S_PER_PS = 1e-12


@dataclass(frozen=True)
class Transfer:
    """A message from one rank to another; `stage` counts through all steps."""

    source: int
    target: int
    stage: int
    bytes: int
    begin: float
    end: float


@dataclass(frozen=True)
class StageSpan:
    """The time that a rank spends in a stage."""

    rank: int
    stage: int
    begin: float
    end: float


@dataclass(frozen=True)
class Motion:
    """All messages of a schedule, and the stages of its ranks. `unit`: of the times, "stages" or "s"."""

    transfers: Sequence[Transfer]
    stages: Sequence[StageSpan]
    unit: str

    @property
    def end(self) -> float:
        """The end of the last stage or message."""
        ends = [transfer.end for transfer in self.transfers] + [stage.end for stage in self.stages]
        return max(ends, default=0.0)


def _schedules(steps: Sequence[Step]) -> list[_core.Schedule]:
    """Return the schedules of steps in the order in which they run, each as often as it is repeated."""
    return [step.schedule for step in steps if step.schedule is not None for _ in range(step.repeat)]


def count_messages(steps: Sequence[Step], ranks: int, limit: int) -> int:
    """Return the number of messages of all steps with their repetitions; stops counting above `limit`."""
    total = 0
    for schedule in _schedules(steps):
        for stage in range(schedule.stages):
            total += sum(len(schedule.sends(rank, stage)) for rank in range(ranks))
            if total > limit:
                return total
    return total


def motion_by_stages(steps: Sequence[Step], ranks: int, bytes_per_point: int) -> Motion:
    """Return the messages of all steps, each from the beginning of its stage to its end; a stage takes the time 1."""
    transfers: list[Transfer] = []
    stages: list[StageSpan] = []
    numbered = enumerate((schedule, stage) for schedule in _schedules(steps) for stage in range(schedule.stages))
    for number, (schedule, stage) in numbered:
        for rank in range(ranks):
            stages.append(StageSpan(rank, number, number, number + 1))
            transfers += [
                Transfer(rank, message.peer, number, message.count * bytes_per_point, number, number + 1)
                for message in schedule.sends(rank, stage)
                if message.peer != rank
            ]
    return Motion(transfers, stages, "stages")


def simulated_motion(core_events: NDArray[np.int64]) -> Motion:
    """Return the messages of ``SimulationResult.trace_events``, from the first byte that leaves to the last that comes.

    Several messages from one rank to another in one stage arrive together, when the last does.
    """
    events = [event for _, of_rank, _ in by_rank(core_events) for event in of_rank]
    arrivals = {(event.peer, event.rank, event.stage): event.end for event in events if event.kind == "arrival"}
    transfers = [
        Transfer(
            event.rank,
            event.peer,
            event.stage,
            event.bytes,
            event.begin * _S_PER_PS,
            arrivals.get((event.rank, event.peer, event.stage), event.end) * _S_PER_PS,
        )
        for event in events
        if event.is_sent and event.peer is not None
    ]
    stages = [
        StageSpan(event.rank, event.stage, event.begin * _S_PER_PS, event.end * _S_PER_PS)
        for event in events
        if event.kind == "stage"
    ]
    return Motion(transfers, stages, "s")


def routes(machine: _core.Machine, nodes: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Return, for each (source node, target node), the switches on a packet's way through an empty network.

    The first is that of the source, the last that of the target. Random routings draw a way for each pair.
    """
    walker, topology = _core.Walker(machine), machine.topology
    found = []
    for number, (source, target) in enumerate(nodes):
        hops = walker.walk(source, target, random=number * 2_654_435_761 % 2**30)
        last = topology.port(*hops[-1][:2])[1] if hops else source // topology.nodes_per_switch
        found.append([*(switch for switch, _, _ in hops), last])
    return found
