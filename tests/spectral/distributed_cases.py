"""A transform on MPI ranks, each compared with the same one in one process."""

from __future__ import annotations

from typing import Any

import numpy as np

from tradewind.spectral import SpectralTransform
from tradewind.spectral.distributed import DistributedTransform
from tradewind.spectral.distribution import Distribution

METHODS: dict[str, dict[str, dict[str, Any]]] = {
    "default": {},
    "mixed": {
        "rows": {"algorithm": "native"},
        "wavenumbers": {"algorithm": "bruck", "packing": "datatype"},
        "columns": {"algorithm": "pairwise", "transport": "sendrecv"},
    },
    "nodes": {name: {"algorithm": "two-level-1"} for name in ("rows", "wavenumbers", "columns")},
}
LEVELS, VARIABLES = 3, 2


def values(places: int) -> np.ndarray:
    random = np.random.default_rng(7)
    return random.normal(size=(places, LEVELS * VARIABLES)) + 1j * random.normal(size=(places, LEVELS * VARIABLES))


def run(comm: Any, payload: str) -> dict[str, float]:
    """The largest relative differences on any rank, by what is compared."""
    one = SpectralTransform("O16")
    t = one.truncation
    spectral = values(t.coefficients)
    spectral[: t.degree + 1].imag = 0
    grid = one.to_grid(spectral)
    d = Distribution(t, comm.Get_size(), levels=LEVELS, variables=VARIABLES)
    many = DistributedTransform(d, comm, methods=METHODS[payload])
    levels = d.levels_of(comm.Get_rank())
    fields = slice(levels.start * VARIABLES, levels.stop * VARIABLES)

    def of(whole: np.ndarray, numbers: Any) -> np.ndarray:
        return whole[[t.index(m, n) for m, n in zip(*(each.tolist() for each in numbers), strict=True)]]

    def apart(found: np.ndarray, wanted: np.ndarray) -> float:
        return float(np.abs(found - wanted).max(initial=0) / np.abs(spectral).max())

    found = {}
    own = many.own_points()
    many.points[:] = grid[:, own]
    found["direct"] = apart(many.to_spectral(), of(one.to_spectral(grid), many.own_coefficients())[:, fields])
    many.spectral[:] = of(spectral, many.own_coefficients())[:, fields]
    found["columns"] = apart(many.to_columns(), of(spectral, many.own_columns()))
    many.spectral[:] = np.nan
    found["back"] = apart(many.from_columns(), of(spectral, many.own_coefficients())[:, fields])
    many.points[:] = np.nan
    found["inverse"] = apart(many.to_grid(), grid[:, own])
    for product in ("plain", "weighted"):
        many.points[:] = grid[:, own]
        wanted = one.to_grid_adjoint(grid, product)
        scale = np.abs(spectral).max() / np.abs(wanted).max()
        adjoint = many.to_grid_adjoint(product)
        found[f"inverse, {product} adjoint"] = apart(
            adjoint * scale, of(wanted, many.own_coefficients())[:, fields] * scale
        )
        many.spectral[:] = of(spectral, many.own_coefficients())[:, fields]
        wanted = one.to_spectral_adjoint(spectral, product)
        scale = np.abs(spectral).max() / np.abs(wanted).max()
        found[f"direct, {product} adjoint"] = apart(many.to_spectral_adjoint(product) * scale, wanted[:, own] * scale)
    return {name: max(comm.allgather(value)) for name, value in found.items()}
