"""Dwarfs on MPI ranks, by all their strategies and several methods."""

from __future__ import annotations

import hashlib
from typing import Any

from tradewind.dwarfs import find

STEPS = 3


def states(comm: Any, payload: tuple[str, dict[str, dict[str, Any]]]) -> dict[str, Any] | None:
    """By name of a request of a dwarf the state after some steps, and its diagnosis."""
    dwarf, asked = payload
    found = {}
    for name, options in asked.items():
        run = find(dwarf)(ranks=comm.Get_size(), **options).on(comm)
        run.reset()
        run.advance(STEPS)
        whole, diagnosis = run.gathered(), run.diagnose()
        if whole is not None:
            found[name] = {"state": whole.tolist(), "error": diagnosis.error, "energy": diagnosis.energy}
    return found if comm.Get_rank() == 0 else None


def bits_by_threads(comm: Any, asked: dict[str, dict[str, Any]]) -> dict[str, dict[int, list[str]]] | None:
    """By case and number of ranks digests of state and diagnosis: 1 rank of 1, 2 and 3 threads, 2 ranks of 1 and 2."""
    from mpi4py import MPI

    found: dict[str, dict[int, list[str]]] = {}
    for name, options in asked.items():
        given = {key: tuple(value) if isinstance(value, list) else value for key, value in options.items()}
        found[name] = {1: [], comm.Get_size(): []}
        runs = [(MPI.COMM_SELF, n) for n in (1, 2, 3) if comm.Get_rank() == 0] + [(comm, n) for n in (1, 2)]
        for on, threads in runs:
            run = find(name.partition(",")[0])(ranks=on.Get_size(), threads=threads, **given).on(on)
            run.advance(STEPS)
            whole, diagnosis = run.gathered(), run.diagnose()
            if whole is not None:
                digest = hashlib.sha256(whole.tobytes())
                digest.update(repr(diagnosis).encode())
                found[name][on.Get_size()].append(digest.hexdigest())
    return found if comm.Get_rank() == 0 else None
