"""Cases of MPDATA that the ranks of the tests run."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from typing import Any

import numpy as np
from mpi4py import MPI

from tradewind.dwarfs.mpdata import Mpdata, MpdataRun, divergence, tracer

GRID, LEVELS, STEPS = "O8", 5, 4

CHOICES: list[dict[str, Any]] = [
    {"strategy": "exchange"},
    {"strategy": "exchange", "partition": "curve", "transport": "shared"},
    {"strategy": "mask", "limiter": True, "partition": "curve"},
    {"strategy": "indirection", "form": "basic", "passes": 3, "threads": 2},
    {"strategy": "renumbered", "form": "basic", "limiter": True, "passes": 4, "transport": "persistent"},
    {"strategy": "renumbered", "partition": "curve", "divergence_method": ",put-fence,"},
    {"strategy": "fused", "threads": 2},
    {"strategy": "fused", "partition": "curve", "precision": "f4"},
    {"strategy": "plain", "fluxes": "averaged", "work": 2},
    {"strategy": "mask", "grid": "9x8", "limiter": True, "tracer": "hill"},
    {"strategy": "staged", "limiter": True, "form": "basic", "transport": "shared"},
    {"strategy": "indirection", "passes": 1},
    {"strategy": "staged", "flow": "deformation", "shear": 0.0},
    {"strategy": "fused", "flow": "overturning", "shear": 0.0, "threads": 2},
    {"strategy": "mask", "flow": "overturning", "shear": 0.0, "form": "basic", "passes": 3, "limiter": True},
    {"strategy": "renumbered", "mountain": 3e3, "shear": 0.0, "limiter": True, "partition": "curve"},
    {"strategy": "fused", "mountain": 3e3, "shear": 0.0, "precision": "f4", "partition": "curve"},
    {"strategy": "exchange", "flow": "overturning", "shear": 0.0, "passes": 1, "precision": "f4"},
]


def digest(field: np.ndarray) -> str:
    """Tells fields apart that differ by a bit; 0 and -0 are alike."""
    return hashlib.sha256(np.ascontiguousarray(field + field.dtype.type(0)).tobytes()).hexdigest()


def request(ranks: int, choice: dict[str, Any]) -> Mpdata:
    return Mpdata(ranks, **{"grid": GRID, "levels": LEVELS, "shear": 0.5, **choice})


def random_field(dwarf: Mpdata) -> np.ndarray:
    return np.random.default_rng(3).random((dwarf.nodes, dwarf.levels))


def final_fields(comm: MPI.Intracomm, _: Any) -> list[dict[str, Any]]:
    """By choice the final field's digest, its diagnosis, and what each rank has sent in a step."""
    outcomes = []
    for choice in CHOICES:
        dwarf = request(comm.Get_size(), choice)
        run = dwarf.on(comm, random_field(dwarf))
        run.advance(STEPS)
        whole = run.gathered()
        run.reset()
        run.advance(1)
        outcomes.append(
            {
                "field": None if whole is None else digest(whole),
                "diagnosis": asdict(run.diagnose()),
                "sent": comm.gather([run.messages, run.bytes_sent]),
            }
        )
    return outcomes


def forgotten_exchange(comm: MPI.Intracomm, _: None) -> None:
    """A strategy that forgets to exchange the divergence."""
    run = Mpdata(comm.Get_size(), GRID, levels=2).on(comm)
    run.compute(divergence)
    run.compute(tracer)
    run.finish()
    run.diagnose()


def too_long_a_step(comm: MPI.Intracomm, _: None) -> None:
    Mpdata(comm.Get_size(), GRID, levels=2, dt_s=86400.0).on(comm)


def negative_field(comm: MPI.Intracomm, _: None) -> None:
    dwarf = Mpdata(comm.Get_size(), GRID, levels=1, form="basic")
    field = random_field(dwarf)
    field[-1] = -0.5
    dwarf.on(comm, field)


def errors(run: MpdataRun) -> dict[str, float]:
    return asdict(run.diagnose())


def advected(comm: MPI.Intracomm, asked: dict[str, Any]) -> list[dict[str, float]]:
    """By request its diagnosis before and after some steps."""
    found = []
    for values in asked["requests"]:
        run = Mpdata(comm.Get_size(), **values["dwarf"]).on(comm)
        before = errors(run)
        run.advance(values["steps"])
        found.append({"before": before, "after": errors(run)})
    return found
