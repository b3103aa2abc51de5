"""Cases of the semi-Lagrangian dwarf that the ranks of the tests run."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from mpi4py import MPI

from tradewind.dwarfs.semi_lagrangian import SemiLagrangian

STEPS = 3
PLANE: dict[str, Any] = {"grid": (24, 18, 4), "strategy": "on-demand"}
SPHERE: dict[str, Any] = {"grid": (36, 18, 4), "geometry": "sphere", "strategy": "on-demand"}
OCTAHEDRAL: dict[str, Any] = {"grid": "O8x4", "strategy": "on-demand"}

CHOICES: list[dict[str, Any]] = [
    {**PLANE, "strategy": "wide"},
    {**PLANE, "strategy": "overlap", "transport": "shared"},
    {**PLANE},
    {**PLANE, "strategy": "wide", "flow": "swirl", "tracers": 3, "limiter": True},
    {**PLANE, "flow": "swirl", "tracers": 3, "limiter": True, "transport": "put-fence", "winds_method": ",sendrecv,"},
    {**PLANE, "strategy": "overlap", "lift": 0.7, "stencil": "cubic", "courant": 12.3, "width": 16},
    {**PLANE, "lift": 0.7, "stencil": "cubic", "courant": 12.3, "threads": 2},
    {**PLANE, "strategy": "wide", "precision": "f4", "shear": 0.5, "courant": 3.0, "alpha": 0.0},
    {**PLANE, "precision": "f4", "shear": 0.5, "courant": 3.0, "alpha": 0.0},
    {**SPHERE, "alpha": 1.2},
    {**SPHERE, "strategy": "wide", "alpha": 1.2, "width": 20},
    {**SPHERE, "flow": "deformation", "tracer": "hills", "tracers": 2, "limiter": True, "courant": 4.0},
    {**SPHERE, "strategy": "overlap", "flow": "deformation", "tracer": "hills", "tracers": 2, "limiter": True}
    | {"courant": 4.0, "width": 20},
    {**SPHERE, "lift": 0.3, "stencil": "cubic", "tracers": 2, "iterations": 3},
    {**OCTAHEDRAL, "alpha": 1.2},
    {**OCTAHEDRAL, "strategy": "wide", "alpha": 1.2, "threads": 2},
    {**OCTAHEDRAL, "flow": "deformation", "tracers": 2, "limiter": True, "stencil": "cubic", "lift": 0.3},
    {**OCTAHEDRAL, "strategy": "overlap", "flow": "deformation", "tracers": 2, "limiter": True, "stencil": "cubic"}
    | {"lift": 0.3, "transport": "shared"},
    {**OCTAHEDRAL, "precision": "f4", "shear": 0.5, "courant": 4.0},
    {**OCTAHEDRAL, "precision": "f4", "shear": 0.5, "courant": 4.0, "strategy": "wide"},
]
ALIKE = [(0, 1, 2), (3, 4), (5, 6), (7, 8), (9, 10), (11, 12), (14, 15), (16, 17), (18, 19)]
"""Choices that must end with the same bits."""


def digest(field: np.ndarray) -> str:
    """Tells fields apart that differ by a bit; 0 and -0 are alike."""
    return hashlib.sha256(np.ascontiguousarray(field + field.dtype.type(0)).tobytes()).hexdigest()


def request(ranks: int, choice: dict[str, Any]) -> SemiLagrangian:
    return SemiLagrangian(ranks, **choice)


def random_field(dwarf: SemiLagrangian) -> np.ndarray:
    shape = (dwarf.tracers * dwarf.grid[2], *dwarf.all_columns().points[::-1])
    return np.random.default_rng(3).random(shape).astype(dwarf.precision)


def final_fields(comm: MPI.Intracomm, _: Any) -> list[dict[str, Any]]:
    """By choice the final field's digest, its diagnosis, and what each rank has sent in the first step."""
    outcomes = []
    for choice in CHOICES:
        dwarf = request(comm.Get_size(), choice)
        run = dwarf.on(comm, random_field(dwarf))
        run.reset()
        run.advance(1)
        sent = comm.gather([run.messages, run.bytes_sent])
        run.advance(STEPS - 1)
        whole = run.gathered()
        outcomes.append(
            {"field": None if whole is None else digest(whole), "diagnosis": asdict(run.diagnose()), "sent": sent}
        )
    return outcomes


def wind_that_outruns_the_halo(comm: MPI.Intracomm, _: None) -> None:
    dwarf = SemiLagrangian(comm.Get_size(), grid=(64, 24, 2), split=(2, 1), courant=2.0)
    dwarf.on(comm, wind=replace(dwarf.flow_wind, speed=4.1 * dwarf.flow_wind.speed)).advance(1)


def wind_that_outruns_a_region(comm: MPI.Intracomm, strategy: str) -> None:
    """Rows of other ranks, or columns of the same rows, are missing; on demand none are."""
    dwarf = SemiLagrangian(comm.Get_size(), grid="O12x2", courant=2.0, alpha=0.3, strategy=strategy)
    dwarf.on(comm, wind=replace(dwarf.flow_wind, speed=4.1 * dwarf.flow_wind.speed)).advance(1)


def no_number_on_an_octahedral_grid(comm: MPI.Intracomm, _: None) -> None:
    run = SemiLagrangian(comm.Get_size(), grid="O12x2", tracers=3).on(comm)
    if run.rank == 1:
        run.field[2 * 2 + 1, 0, 7] = np.nan
    run.advance(1)


def no_number(comm: MPI.Intracomm, _: None) -> None:
    dwarf = SemiLagrangian(comm.Get_size(), grid=(64, 24, 2), split=(2, 1), tracers=3, strategy="on-demand")
    run = dwarf.on(comm)
    run.advance(4)
    if run.rank == 1:
        run.field[2 * 2 + 1, 5, 7] = np.nan
    run.advance(1)


def no_wind(comm: MPI.Intracomm, _: None) -> None:
    dwarf = SemiLagrangian(comm.Get_size(), grid=(64, 24, 2), split=(2, 1), strategy="on-demand")
    dwarf.on(comm, wind=replace(dwarf.flow_wind, speed=float("nan"))).advance(1)


def advected(comm: MPI.Intracomm, asked: list[dict[str, Any]]) -> list[dict[str, float]]:
    """By request its diagnosis after some steps."""
    found = []
    for values in asked:
        run = SemiLagrangian(comm.Get_size(), **values["dwarf"]).on(comm)
        run.advance(values["steps"])
        found.append(asdict(run.diagnose()))
    return found
