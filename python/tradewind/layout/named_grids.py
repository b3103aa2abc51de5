"""Grids by name with their levels, as halos of meshes know them: eORCA025x75, C768x127, R2B9x90, O1280x137."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tradewind.base.errors import InputError, quoted
from tradewind.base.extents import MAX_EXTENT
from tradewind.layout.grid_names import named_grid
from tradewind.layout.names import MESHES

_MAX_DIGITS = 18


@dataclass(frozen=True)
class MeshGrid:
    """A mesh, and the points along x, y and z by which requests know a grid of it."""

    mesh: str
    points: tuple[int, int, int]


def is_name(text: object) -> bool:
    """Whether a text is meant as the name of a grid, and not as points along x, y and z."""
    return isinstance(text, str) and re.match(r"\s*[A-Za-z]", text) is not None


def mesh_grid(text: str) -> MeshGrid:
    """Return the mesh of a grid by name with its levels, like R2B9x90; without levels it has one.

    Raises InputError for an unknown name, a grid without a halo, and numbers of levels or points out of range.
    """
    name, _, levels = text.strip().partition("x")
    if levels and not (levels.isascii() and levels.isdecimal() and 1 <= int(levels[:_MAX_DIGITS]) <= MAX_EXTENT):
        raise InputError(f"grid {quoted(text)}: 1..{MAX_EXTENT} levels are allowed, like R2B9x90")
    grid = named_grid(name)
    if grid.kind not in MESHES:
        raise InputError(f"grid {name}: no halo is known of {grid.kind} grids; of {', '.join(MESHES[1:])} one is")
    nx, ny = grid.points or ((1, grid.rows) if grid.rows is not None else (grid.columns, 1))
    if max(nx, ny) > MAX_EXTENT:
        raise InputError(f"grid {name}: {nx} x {ny} points; 1..{MAX_EXTENT} along each direction are allowed")
    return MeshGrid(grid.kind, (nx, ny, int(levels or 1)))
