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
    "split": {"sums": {"transport": "sendrecv"}},
    "winds": {"wavenumbers": {"algorithm": "burst"}},
    "single": {"wavenumbers": {"algorithm": "burst"}},
    "split by levels": {"sums": {"algorithm": "pairwise", "packing": "datatype"}},
}
SPLIT: dict[str, tuple[int, int]] = {"split": (3, 1), "split by levels": (1, 2)}
"""Truncation, of so few wavenumbers that some are split, and level sets."""
LEVELS, VARIABLES = 3, 2


def values(places: int) -> np.ndarray:
    random = np.random.default_rng(7)
    return random.normal(size=(places, LEVELS * VARIABLES)) + 1j * random.normal(size=(places, LEVELS * VARIABLES))


def run(comm: Any, payload: str) -> dict[str, float]:
    """The largest relative differences on any rank, by what is compared."""
    degree, level_sets = SPLIT.get(payload, (15, None))
    one = SpectralTransform("F8" if payload in SPLIT else "O16", degree)
    t = one.truncation
    spectral = values(t.coefficients)
    spectral[: t.degree + 1].imag = 0
    grid = one.to_grid(spectral)
    dealt, precision = "split" if payload in SPLIT else "packed", "f4" if payload == "single" else "f8"
    d = Distribution(t, comm.Get_size(), levels=LEVELS, variables=VARIABLES, level_sets=level_sets, dealt=dealt)
    assert d.pieces.is_split == (payload in SPLIT)
    many = DistributedTransform(d, comm, methods=METHODS[payload], precision=precision)
    check_types(many, precision)
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
    if payload in ("winds", "split", "single"):
        found |= winds(one, d, comm, precision)
    return {name: max(comm.allgather(value)) for name, value in found.items()}


def check_types(transform: DistributedTransform, precision: str) -> None:
    """All arrays have the element types and the bytes of the precision."""
    real, number = {"f4": (np.float32, np.complex64), "f8": (np.float64, np.complex128)}[precision]
    fields = [transform.points, transform.rows]
    coefficients = [transform.fourier, transform.wavenumbers, transform.spectral, transform.columns]
    assert {array.dtype for array in fields} == {np.dtype(real)}
    assert {array.dtype for array in coefficients} == {np.dtype(number)}


def winds(one: SpectralTransform, d: Distribution, comm: Any, precision: str) -> dict[str, float]:
    """The largest relative differences of winds, gradients, and their adjoints."""
    many = DistributedTransform(d, comm, winds=True, precision=precision)
    spectral = values(one.truncation.coefficients)
    levels = d.levels_of(comm.Get_rank())
    fields = slice(levels.start * VARIABLES, levels.stop * VARIABLES)
    places = [one.truncation.index(m, n) for m, n in zip(*(e.tolist() for e in many.own_coefficients()), strict=True)]

    def together(first: np.ndarray, second: np.ndarray, axis: int) -> np.ndarray:
        return np.stack([first, second], axis + 1).reshape(
            *first.shape[:axis], first.shape[axis] * 2, *first.shape[axis + 1 :]
        )

    def to_grid(how: Any, back: Any, *options: Any) -> float:
        wanted = together(*how(spectral[:, ::2], spectral[:, 1::2], *options), 0)
        many.spectral[:] = spectral[places][:, fields]
        return float(np.abs(back(*options) - wanted[:, many.own_points()]).max(initial=0) / np.abs(wanted).max())

    def to_spectral(how: Any, back: Any, *options: Any) -> float:
        wanted = together(*how(grid[::2], grid[1::2], *options), 1)
        many.points[:] = grid[:, many.own_points()]
        return float(np.abs(back(*options) - wanted[places][:, fields]).max(initial=0) / np.abs(wanted).max())

    def first_alone(*given: Any) -> tuple[np.ndarray, np.ndarray]:
        first = one.gradient_adjoint(*given)
        return first, np.zeros_like(first)

    grid = together(*one.wind(spectral[:, ::2], spectral[:, 1::2]), 0)
    found = {
        "winds": to_grid(one.wind, many.to_grid),
        "vorticity": to_spectral(one.vorticity_divergence, many.to_spectral),
        "gradient": to_grid(lambda first, _: one.gradient(first), many.gradient),
    }
    for product in ("plain", "weighted"):
        found[f"winds, {product} adjoint"] = to_spectral(one.wind_adjoint, many.to_grid_adjoint, product)
        adjoint = one.vorticity_divergence_adjoint
        found[f"vorticity, {product} adjoint"] = to_grid(adjoint, many.to_spectral_adjoint, product)
        found[f"gradient, {product} adjoint"] = to_spectral(first_alone, many.gradient_adjoint, product)
    return found
