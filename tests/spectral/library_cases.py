"""Transforms of libtradewind on MPI ranks, each compared with the one of Python in one process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from library_transform import LibraryError, LibraryTransform

from tradewind.spectral import Distribution, SpectralTransform

LEVELS = 5
FORTH = {"to_grid": 1, "wind": 2, "gradient": 1}
"""Transforms to the grid, with the number of their spectral fields."""
BACK = {"to_spectral": (1, 1), "vorticity_divergence": (2, 2)}
"""Transforms from the grid, with the number of fields there and in spectral space."""


def differences(comm: Any, grid: str, options: dict[str, Any]) -> dict[str, float]:
    """The largest relative difference on this rank of each transform and each adjoint."""
    one = SpectralTransform(grid, options.get("degree"))
    many = LibraryTransform(comm, grid, **options)
    t, random = one.truncation, np.random.default_rng(5)
    assert many.degree == t.degree
    sets, dealt = options.get("level_sets"), options.get("dealt", "packed")
    d = Distribution(t, comm.Get_size(), levels=LEVELS, level_sets=sets, dealt=dealt)
    assert (np.unique(many.m) == d.wavenumbers_of(comm.Get_rank())).all()
    levels = d.levels_of(comm.Get_rank())
    assert many.levels(LEVELS) == slice(levels.start, levels.stop)
    spectral = random.normal(size=(2, t.coefficients, LEVELS)) + 1j * random.normal(size=(2, t.coefficients, LEVELS))
    spectral[:, : t.degree + 1].imag = 0
    points = random.normal(size=(2, LEVELS, t.grid.points))
    found = {}

    def apart(name: str, to_grid: bool, given: int, taken: int, product: str | None = None) -> None:
        sources = (spectral if to_grid else points)[:given]
        wanted = getattr(one, name)(*sources, *([] if product is None else [product]))
        wanted = list(wanted) if isinstance(wanted, tuple) else [wanted]
        own = (lambda whole: many.spectral(whole, t.start), many.on_grid)
        truth = [own[to_grid](each) for each in wanted]
        out = [np.full_like(each, np.nan) for each in truth]
        assert len(out) == taken
        many.run(name, [own[not to_grid](each) for each in sources], out, product)
        scale = max(np.abs(each).max() for each in wanted)
        found[f"{name} {product or ''}".strip()] = float(
            max(np.abs(a - b).max(initial=0) for a, b in zip(out, truth, strict=True)) / scale
        )

    for name, fields in FORTH.items():
        taken = 1 if name == "to_grid" else 2
        apart(name, True, fields, taken)
        for product in ("weighted", "plain"):
            apart(f"{name}_adjoint", False, taken, fields, product)
    for name, (fields, taken) in BACK.items():
        apart(name, False, fields, taken)
        for product in ("weighted", "plain"):
            apart(f"{name}_adjoint", True, taken, fields, product)
    many.free()
    return found


def refusals(comm: Any, _: Any) -> list[list[str]]:
    """The errors of all ranks where fields or options of one do not fit, and where ranks make different calls.

    The last entry: whether the transform still is right after them.
    """
    many, first = LibraryTransform(comm, "O8"), comm.Get_rank() == 0
    spectral, grid = many.fields(LEVELS)
    calls: list[Callable[[], Any]] = [
        lambda: many.run("to_grid", [spectral[: 3 if first else None]], [grid]),
        lambda: many.run("to_grid", [spectral], [grid]) if first else many.run("to_spectral", [grid], [spectral]),
        lambda: many.run("to_grid_adjoint", [grid], [spectral], "plain" if first else "weighted"),
        lambda: LibraryTransform(comm, "O8", radius=1.0 if first else 2.0),
        lambda: LibraryTransform(comm, "O9999999" if first else "O8"),
    ]
    errors = []
    for call in calls:
        try:
            call()
            errors.append("")
        except LibraryError as error:
            errors.append(str(error))
    spectral[(many.m == 0) & (many.n == 0)] = 1
    (found,) = many.run("to_grid", [spectral], [grid])
    many.free()
    right = comm.allreduce(np.abs(found - 1).max()) < 1e-13
    return [*map(comm.allgather, errors), [str(right)]]


def run(comm: Any, payload: tuple[str, dict[str, Any]]) -> dict[str, float]:
    """The same, the largest of all ranks."""
    own = differences(comm, *payload)
    return {name: max(each[name] for each in comm.allgather(own)) for name in own}
