"""The plans of a dwarf in a round of steps, beside its program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mpi4py import MPI

import tradewind as tw
from tradewind.dwarfs import find
from tradewind.workload.program import Compute, Poke, ProgramWorkload, Start, Wait


def orders(comm: MPI.Intracomm, requests: Sequence[tuple[str, dict[str, Any]]]) -> list[tuple[list[str], list[str]]]:
    """By request the operations of its program, and those that the plans of a run have carried out."""
    found = []
    for kind, values in requests:
        dwarf = find(kind)(comm.Get_size(), **{k: tuple(v) if isinstance(v, list) else v for k, v in values.items()})
        run = dwarf.on(comm)
        with tw.record(comm) as recorded:
            run.advance(dwarf.steps_per_round)
        found.append((list(operations(dwarf.program())), list(operations(recorded))))
    return found


def operations(program: ProgramWorkload) -> Iterator[str]:
    """Starts, waits, pokes and exchanges of a program in their order."""
    if not program.groups:
        for step in program.steps():
            if step.schedule is not None:
                yield from ("exchange",) if step.compute is None else ("start", "wait")
        return
    for step in program.groups[0].steps:
        if not isinstance(step, Compute):
            yield {Start: "start", Wait: "wait", Poke: "poke"}.get(type(step), "exchange")
