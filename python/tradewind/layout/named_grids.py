"""Grids by the names that models give them, with their levels: ORCA025x75, C768x127, R2B9x90, O1280x137."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tradewind.base.errors import InputError, quoted
from tradewind.base.extents import MAX_EXTENT

ORCA = {
    "ORCA2": (180, 148, "T"),
    "ORCA1": (360, 291, "F"),
    "ORCA05": (720, 510, "F"),
    "ORCA025": (1440, 1020, "T"),
    "ORCA12": (4320, 3058, "T"),
    "eORCA1": (360, 331, "F"),
    "eORCA025": (1440, 1206, "T"),
    "eORCA12": (4320, 3605, "T"),
}
"""Points along x and y without copies, and the pivot of the fold. Files of NEMO up to 4.0 have two columns and a row
more: 182 x 149, 362 x 292, 722 x 511, 1442 x 1021, 4322 x 3059 (NEMO reference manual, doi:10.5281/zenodo.1464816);
with the ice shelves of Antarctica (Mathiot et al. 2017, doi:10.5194/gmd-10-2849-2017) 362 x 332, 1442 x 1207 and
4322 x 3606."""
EXAMPLES = "ORCA025x75, C768x127, R2B9x90 or O1280x137"
_CELLS_OF_ICOSAHEDRON = 20
_TILES = 6
_HIGHEST = 30
"""Bisections of a name RnBk: more make more cells than can be counted."""


@dataclass(frozen=True)
class NamedGrid:
    """A grid of a model: its mesh, and the points along x, y and z by which requests know it."""

    mesh: str
    points: tuple[int, int, int]


def is_name(text: object) -> bool:
    """Whether a text is meant as the name of a grid, and not as points along x, y and z."""
    return isinstance(text, str) and re.match(r"\s*[A-Za-z]", text) is not None


def named_grid(text: str) -> NamedGrid:
    """Return the grid of a name with its levels, like R2B9x90; without levels it has one.

    Raises InputError for an unknown name, and for a number of levels or points that is out of range.
    """
    name, _, levels = text.strip().partition("x")
    if levels and not (levels.isascii() and levels.isdecimal() and 1 <= int(levels[:18]) <= MAX_EXTENT):
        raise InputError(f"grid {quoted(text)}: 1..{MAX_EXTENT} levels are allowed, like {EXAMPLES}")
    mesh, nx, ny = _mesh_of(name, text)
    if max(nx, ny) > MAX_EXTENT or min(nx, ny) < 1:
        raise InputError(f"grid {quoted(text)}: {nx} x {ny} points; 1..{MAX_EXTENT} along each direction are allowed")
    return NamedGrid(mesh, (nx, ny, int(levels or 1)))


def _mesh_of(name: str, text: str) -> tuple[str, int, int]:
    """Return the mesh of a name without levels, and its points along x and y."""
    if name in ORCA:
        nx, ny, pivot = ORCA[name]
        return ("tripolar" if pivot == "T" else "tripolar-f"), nx, ny
    if found := re.fullmatch(r"C(\d{1,9})", name):
        return "cubed-sphere", int(found[1]), _TILES * int(found[1])
    if (found := re.fullmatch(r"R(\d{1,3})B(\d{1,2})", name)) and int(found[2]) <= _HIGHEST:
        return "icosahedral", _CELLS_OF_ICOSAHEDRON * (int(found[1]) << int(found[2])) ** 2, 1
    if found := re.fullmatch(r"O(\d{1,9})", name):
        return "octahedral", 1, 2 * int(found[1])
    raise InputError(f"unknown grid {quoted(text)}: {EXAMPLES} are allowed (known of ORCA: {', '.join(ORCA)})")
