"""Dwarfs on MPI ranks, by all their strategies and several methods."""

from __future__ import annotations

from typing import Any

from tradewind.dwarfs import find

STEPS = 3


def states(comm: Any, payload: tuple[str, dict[str, dict[str, Any]]]) -> dict[str, Any] | None:
    """By name of a request of a dwarf the state after some steps, what all ranks have sent, and its diagnosis."""
    dwarf, asked = payload
    found = {}
    for name, options in asked.items():
        run = find(dwarf)(ranks=comm.Get_size(), **options).on(comm)
        run.reset()
        run.advance(STEPS)
        sent = comm.allreduce(run.messages), comm.allreduce(run.bytes_sent)
        whole, diagnosis = run.gathered(), run.diagnose()
        if whole is not None:
            found[name] = {"state": whole.tolist(), "sent": sent, "error": diagnosis.error, "energy": diagnosis.energy}
    return found if comm.Get_rank() == 0 else None
