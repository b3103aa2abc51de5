"""Grids of the sphere as models name them: TCo1279, O1280, F320, R2B10, C768, eORCA025."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tradewind.base.errors import InputError, quoted
from tradewind.base.names import nearest

MAX_HALF = 16384
"""Latitudes of a hemisphere that a name may ask for: half a kilometer."""
_MAX_BISECTIONS = 14
"""Bisections of an icosahedral grid that a name may ask for: R2B14 has 0.2 km."""
ORCA = {
    "ORCA2": ("tripolar", 180, 148),
    "ORCA1": ("tripolar-f", 360, 291),
    "ORCA05": ("tripolar-f", 720, 510),
    "ORCA025": ("tripolar", 1440, 1020),
    "ORCA12": ("tripolar", 4320, 3058),
    "eORCA1": ("tripolar-f", 360, 331),
    "eORCA025": ("tripolar", 1440, 1206),
    "eORCA12": ("tripolar", 4320, 3605),
}
"""Kind, and points along x and y without copies. Files of NEMO up to 4.0 have two columns and a row more: 182 x 149,
362 x 292, 722 x 511, 1442 x 1021, 4322 x 3059 (NEMO reference manual, doi:10.5281/zenodo.1464816); with the ice shelves
of Antarctica (Mathiot et al. 2017, doi:10.5194/gmd-10-2849-2017) 362 x 332, 1442 x 1207 and 4322 x 3606."""
_POPULAR = (
    *(f"TCo{truncation}" for truncation in (79, 159, 199, 319, 399, 639, 1279, 1999, 2559, 3999, 7999)),
    *(f"{kind}{half}" for kind in "OF" for half in (80, 160, 200, 320, 400, 640, 1280, 2000, 2560, 4000, 8000)),
    *(f"R2B{bisections}" for bisections in range(4, 13)),
    *(f"C{side}" for side in (48, 96, 192, 384, 768, 1152, 1536, 3072)),
    *ORCA,
)
"""Grids that models have, for the nearest name of one that does not exist."""


@dataclass(frozen=True)
class NamedGrid:
    """A grid of the sphere with a name."""

    name: str
    kind: str
    """"octahedral" or "full", reduced and full Gaussian grids; "icosahedral", triangles; "cubed-sphere"; "tripolar" or
    "tripolar-f", folded at T or F points."""
    columns: int
    """Points, or triangles, of a level."""
    rows: int | None = None
    """Latitudes of a Gaussian grid."""
    longest_row: int | None = None
    """Points of its row next to the equator."""
    truncation: int | None = None
    """Largest degree of spherical harmonics, where the name has it."""
    points: tuple[int, int] | None = None
    """Points along x and y of a grid that is divided so; the six tiles of a cubed sphere follow each other along y."""

    @property
    def gaussian_name(self) -> str | None:
        """Name of a Gaussian grid, such as O1280 for TCo1279; None of others."""
        return None if self.rows is None else f"{'O' if self.kind == 'octahedral' else 'F'}{self.rows // 2}"


def _octahedral(name: str, half: int, truncation: int | None = None) -> NamedGrid:
    """Return the grid whose row i from a pole has 20 + 4 i points: Malardel et al. 2016, ECMWF Newsletter 146."""
    return NamedGrid(name, "octahedral", 4 * half * (half + 9), 2 * half, 16 + 4 * half, truncation)


def _full(name: str, half: int) -> NamedGrid:
    return NamedGrid(name, "full", 8 * half * half, 2 * half, 4 * half)


def _cubic(name: str, truncation: int) -> NamedGrid:
    return _octahedral(name, truncation + 1, truncation)


def _icosahedral(name: str, root: int, bisections: int) -> NamedGrid:
    """Return the triangles of RnBk: Zaengl et al. 2015, doi:10.1002/qj.2378, section 2."""
    return NamedGrid(name, "icosahedral", 20 * root**2 * 4**bisections)


def _cubed_sphere(name: str, side: int) -> NamedGrid:
    return NamedGrid(name, "cubed-sphere", 6 * side**2, points=(side, 6 * side))


def _tripolar(name: str) -> NamedGrid:
    kind, nx, ny = ORCA[name]
    return NamedGrid(name, kind, nx * ny, points=(nx, ny))


_FORMS: Mapping[str, tuple[str, Callable[..., NamedGrid], Mapping[str, int]]] = {
    "TCo<T>": (r"TCo([1-9][0-9]*)", _cubic, {"T": MAX_HALF - 1}),
    "O<N>": (r"O([1-9][0-9]*)", _octahedral, {"N": MAX_HALF}),
    "F<N>": (r"F([1-9][0-9]*)", _full, {"N": MAX_HALF}),
    "R<n>B<k>": (r"R([1-9][0-9]*)B([0-9]+)", _icosahedral, {"n": 99, "k": _MAX_BISECTIONS}),
    "C<N>": (r"C([1-9][0-9]*)", _cubed_sphere, {"N": MAX_HALF}),
    **{name: (name, _tripolar, {}) for name in ORCA},
}
"""Forms of names, each with its pattern, its grid and the largest numbers."""
_DIGITS = 9


def named_grid(name: str) -> NamedGrid:
    """Return the grid of a name. Raises InputError for one that does not exist, with the nearest one that does."""
    for form, (pattern, make, largest) in _FORMS.items():
        if not (match := re.fullmatch(pattern, name)):
            continue
        numbers = [int(text[:_DIGITS]) for text in match.groups()]
        if all(number <= most for number, most in zip(numbers, largest.values(), strict=True)):
            return make(name, *numbers)
        allowed = ", ".join(f"{letter} up to {most}" for letter, most in largest.items())
        raise InputError(f"grid {quoted(name)}: {form} with {allowed} is allowed")
    raise InputError(f"unknown grid {quoted(name)}{nearest(name, _similar(name))} (known: {', '.join(_FORMS)})")


def _similar(name: str) -> list[str]:
    """Return names of grids, those first that have the number of a wrong one."""
    number = re.search(r"[1-9][0-9]{0,3}$", name)
    same = [f"{kind}{number[0]}" for kind in ("TCo", "O", "F")] if number else []
    return [*same, *_POPULAR]
