"""Changes that would make a recorded program faster, each tried by a replay."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tradewind.base.errors import InputError
from tradewind.base.units import format_bytes
from tradewind.machine import MachineFile, load_machine
from tradewind.replay.workload import TraceWorkload
from tradewind.simulation.checks import prepare
from tradewind.trace.model import Trace
from tradewind.workload.simulation_options import PLACEMENTS

ALLREDUCES = ("recursive-2", "recursive-4", "rabenseifner", "ring", "binomial")
FASTER = 0.5
"""Factor on the time of computations where cores are twice as fast."""

SHORT = 8192
"""Messages up to this number of bytes are merged, unless the machine sends fewer at once."""
OVERLAPPED = {"receives": "receives posted before computing", "waits": "computing before the waits ahead of it"}
"""Those of `tradewind.replay.changes.OVERLAPS` that are tried, and their names."""


@dataclass(frozen=True)
class Change:
    """One thing that is changed: options of the trace, of the simulation, or the machine."""

    what: str
    by: str
    """Who can do it: run (options of the run), program, machine or library."""
    trace: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    machine: MachineFile | None = None


def changes(workload: TraceWorkload, file: MachineFile, options: Mapping[str, Any]) -> Iterator[Change]:
    """Yield what can be tried of a trace on a machine."""
    if any(name.startswith(("MPI_Allreduce", "MPI_Iallreduce")) for name in _called(workload.trace)):
        for name in ALLREDUCES:
            if name != workload.allreduce:
                yield Change(f"allreduce by {name}", "library", {"allreduce": name})
    each = options.get("ranks_per_node", 1)
    if workload.ranks > each:
        unfit = {"blocks"} if file.machine.topology.kind == "torus" else {"blocks", "box"}
        for placement in PLACEMENTS:
            if placement not in unfit and placement != options.get("placement", "linear"):
                yield Change(f"placement {placement}", "run", options={"placement": placement})
    if isinstance(each, int) and each > 1:
        half = each // 2
        yield Change(f"{half} rank{'s' * (half > 1)} per node", "run", options={"ranks_per_node": half})
    if file.machine.mpi.eager_limit is not None:
        limit = max(workload.calls.largest_message, file.machine.mpi.eager_limit)
        yield Change("all messages sent at once", "library", machine=file.with_eager_limit(limit))
        yield Change("a thread for MPI's progress", "library", options={"mpi_progress": "thread"})
    yield from _merges(workload, file.machine.mpi.eager_limit)
    for overlap, what in OVERLAPPED.items():
        if workload.overlap == "none":
            yield Change(what, "program", {"overlap": overlap})
    yield Change("cores twice as fast", "machine", {"computing": FASTER * workload.computing})


def _merges(workload: TraceWorkload, eager_limit: int | None) -> Iterator[Change]:
    """Yield that short messages become one, where there are such; what comes of it is still sent at once."""
    limit = min(SHORT, SHORT if eager_limit is None else eager_limit)
    if limit <= workload.merge_bytes:
        return
    before, after = workload.calls.messages, replace(workload, merge_bytes=limit).calls.messages
    if after < before:
        up_to = format_bytes(limit)
        yield Change(f"messages merged up to {up_to}: {after:,}, not {before:,}", "program", {"merge_bytes": limit})


def _called(trace: Trace) -> set[str]:
    names: set[str] = set()
    for rank in trace.ranks:
        events = trace.events(rank)
        names |= {events.call(number).name for number in range(len(events.operations))}
    return names


def advise_trace(
    workload: TraceWorkload,
    machine: str | Path | MachineFile,
    *,
    settings: Mapping[str, str] | None = None,
    report: Callable[[str], None] = lambda _: None,
    **options: Any,
) -> dict[str, Any]:
    """Return what would make a recorded program faster on a machine, each change tried alone by a replay.

    - ``time_s``, and ``causes``: ``computing_s``, the mean of the ranks; ``imbalance_s``, what the longest chain of
      computing takes beyond; ``network_s``, the rest;
    - ``changes``: by ascending ``time_s``, each ``change``, ``by`` (who can do it: run, program, library, machine) and
      ``saves_s``, negative where it takes longer;
    - ``bounds``: ``balanced_s``, if all ranks computed as long as their mean and messages took what they take now
      (at best); ``free_network_s``, if messages took no time.

    `options`: of `tradewind.simulation.prepare`. Raises InputError.
    """
    file = machine if isinstance(machine, MachineFile) else load_machine(machine, settings)
    report("replaying the trace as it is")
    before = prepare(workload, file, **options).run()
    tried, left_out = [], []
    for change in changes(workload, file, options):
        report(f"trying {change.what}")
        try:
            changed = replace(workload, **change.trace) if change.trace else workload
            time_s = prepare(changed, change.machine or file, **{**options, **change.options}).run()["time_s"]
        except InputError as error:  # as too few nodes
            left_out.append({"change": change.what, "because": str(error)})
            continue
        tried.append({"change": change.what, "by": change.by, "time_s": time_s, "saves_s": before["time_s"] - time_s})
    tried.sort(key=lambda each: float(each["time_s"]))
    causes = before["causes"]
    return {
        **{key: before[key] for key in ("trace", "ranks", "machine", "recorded_s", "time_s", "causes", "calls")},
        "changes": tried,
        "left_out": left_out,
        "bounds": {
            "balanced_s": before["time_s"] - causes["imbalance_s"],
            "free_network_s": before["time_s"] - causes["network_s"],
        },
    }
