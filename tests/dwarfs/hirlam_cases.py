"""The dwarf HIRLAM on MPI ranks, by all its strategies and several methods."""

from __future__ import annotations

from typing import Any

from tradewind.dwarfs.hirlam import Hirlam

STEPS = 3


def states(comm: Any, asked: dict[str, dict[str, Any]]) -> dict[str, Any] | None:
    """By name of a request the whole state after some steps, what all ranks have sent in them, and its diagnosis."""
    found = {}
    for name, options in asked.items():
        run = Hirlam(ranks=comm.Get_size(), **options).on(comm)
        run.reset()
        run.advance(STEPS)
        sent = comm.allreduce(run.messages), comm.allreduce(run.bytes_sent)
        whole, diagnosis = run.gathered(), run.diagnose()
        if whole is not None:
            found[name] = {"state": whole.tolist(), "sent": sent, "error": diagnosis.error, "energy": diagnosis.energy}
    return found if comm.Get_rank() == 0 else None
