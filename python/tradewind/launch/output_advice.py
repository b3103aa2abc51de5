"""Which way a dwarf had best write: its steps and the cost of its output, measured on the ranks of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradewind.base.collective import on_root
from tradewind.dwarfs import from_plain
from tradewind.fieldserver.plan.field import OutputField
from tradewind.fieldserver.plan.plan_file import OutputPlan, load_plan
from tradewind.fieldserver.server.advice import advise
from tradewind.launch import job

if TYPE_CHECKING:
    from mpi4py import MPI

    from tradewind.dwarfs.frame.dwarf import Dwarf
    from tradewind.dwarfs.frame.output import Output
    from tradewind.dwarfs.frame.running import Running

AUTO = "auto"
_LONG_S, _MAX_STEPS = 0.1, 64
"""Steps are taken until they last `_LONG_S`, but at most `_MAX_STEPS`."""


def advise_dwarf(dwarf: Dwarf, plan: str | Path) -> dict[str, Any]:
    """Measure some steps of a dwarf on its ranks, and one output of a plan on one of them, and advise.

    Starts the ranks, or where this process is one of them, is one. Returns what `fieldserver.server.advice.advise`
    does, for as many cores as the dwarf has ranks, servers included. Raises InputError, PlanError.
    """
    payload = {"name": dwarf.kind, "dwarf": asdict(dwarf), "plan": str(Path(plan).absolute())}
    result: dict[str, Any] = job.on_ranks(dwarf.ranks, f"{__name__}:take_part", payload)
    return result


def take_part(comm: MPI.Intracomm, payload: dict[str, Any]) -> dict[str, Any]:
    """Run on each rank. Collective; all return the result."""
    dwarf, plan = from_plain(payload["name"], payload["dwarf"]), load_plan(payload["plan"])
    running = dwarf.on(comm)
    outputs = running.outputs()
    step_s = _step_s(comm, running)

    def advice() -> dict[str, Any]:
        fields = [_field(each, dwarf.precision, plan) for each in outputs]
        between, step = steps_between(plan, [field.name for field in fields])
        found = advise(plan, fields, comm.Get_size(), step_s * between, step)
        return {**found, "step_s": step_s, "steps_between": between}

    return on_root(comm, advice)


def _step_s(comm: MPI.Intracomm, running: Running) -> float:
    """Seconds of a step on the slowest rank."""
    from tradewind.mpi.library import MPI

    steps = 1
    running.advance(steps)
    while True:
        comm.Barrier()
        begin = MPI.Wtime()
        running.advance(steps)
        total_s = comm.allreduce(MPI.Wtime() - begin, MPI.MAX)
        if total_s >= _LONG_S or steps >= _MAX_STEPS:
            return float(total_s) / steps
        steps *= 2


def _field(output: Output, precision: str, plan: OutputPlan) -> OutputField:
    """The field as `FieldServer.define` makes it."""
    levels = output.levels
    if levels is None:
        levels = output.where.grid.points[2]  # type: ignore[union-attr]  # a layout, where no levels are named
    numbers = tuple(float(n) for n in range(1, levels + 1))
    field = OutputField(output.name, output.geometry, numbers, precision, **output.attributes)
    return field.described(plan.table.field.get(output.name))


def steps_between(plan: OutputPlan, names: Sequence[str]) -> tuple[int, int]:
    """Return the fewest steps between two outputs of a plan, and a step at which most fields are written."""
    least, candidates = None, {0}
    for rule in plan.table.rule:
        gaps = [rule.every or 1]
        if rule.steps is not None:
            candidates |= set(rule.steps)
            gaps = [b - a for a, b in pairwise(sorted(set(rule.steps)))]
        least = min([*gaps, *([least] if least is not None else [])], default=None)
    most = max(sorted(candidates), key=lambda step: sum(len(plan.requests(name, step)) for name in names))
    return max(1, least or 1), most
