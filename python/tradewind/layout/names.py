"""Redistributions by name: a path through layouts, like ``xy-zy-zx-zy-xy``.

A layout is named by the directions that are divided. Two letters: the first is divided by the ranks' first coordinate,
the second by the other one (``xy``: blocks; ``zy``: whole lines along x). One letter: by all ranks together (``z``:
whole levels). From ``xy`` to ``zy`` a rank exchanges within its row of ranks, to ``z`` with every rank. ``bands``:
equal numbers of points, row by row, by all ranks. ``whole``: levels dealt one by one to all ranks, ``whole:4`` to the
last 4.
``points``, ``rows``, ``wavenumbers``, ``columns``: those of a spherical-harmonics transform, one after another.
"""

from __future__ import annotations

import math
from itertools import pairwise

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.layout.closed import Bands, Whole, on_one_grid

Leg = tuple[str, str, str]
"""A step of a path: its name, the layout before and the one after."""
LAYOUTS = ("xy", "yx", "xz", "zx", "yz", "zy", "x", "y", "z")
"""Blocks."""
BANDS, WHOLE = "bands", "whole"
SPECTRAL = ("points", "rows", "wavenumbers", "columns")
"""The layouts of a spherical-harmonics transform in their order, see `tradewind.spectral.distribution`."""

LISTED = ("tripolar", "tripolar-f", "cubed-sphere", "icosahedral")
MESHES = ("lonlat", "octahedral", *LISTED)
"""The meshes whose halo a fetch can be, see `tradewind.layout.mesh`; of those listed each rank finds its own halo."""
_SPECTRAL_PAIRS = {*pairwise(SPECTRAL), *pairwise(SPECTRAL[::-1])}


def is_path(text: str) -> bool:
    """Whether a text is meant as a path through layouts."""
    return "-" in text


def servers_of(layout: str) -> int | None:
    """The ranks that own something in a layout of whole fields; None for all. Raises ValueError for what is none."""
    name, colon, servers = layout.partition(":")
    if name != WHOLE or (colon and not servers.isdecimal()):
        raise ValueError(layout)
    return int(servers) if colon else None


def _is_layout(name: str) -> bool:
    try:
        return name in (*LAYOUTS, BANDS, *SPECTRAL) or servers_of(name) != 0
    except ValueError:
        return False


def path_problems(text: str, *, blocks_alone: bool = True) -> list[str]:
    """Return the problems of a path, through blocks alone or through any layouts."""
    layouts = text.split("-")
    known = (
        ", ".join(LAYOUTS)
        if blocks_alone
        else f"{', '.join((*LAYOUTS, BANDS, WHOLE))}, {WHOLE}:SERVERS, {', '.join(SPECTRAL)}"
    )
    problems = [
        f"path {text!r}: unknown layout {name!r} (known: {known})"
        for name in dict.fromkeys(layouts)
        if name not in LAYOUTS and (blocks_alone or not _is_layout(name))
    ]
    twice = dict.fromkeys(before for before, after in pairwise(layouts) if before == after)
    problems += [f"path {text!r}: from {name} to {name} nothing moves" for name in twice]
    return problems + [
        f"path {text!r}: from {before} to {after}: of {', '.join(SPECTRAL)} two that follow each other are allowed"
        for before, after in dict.fromkeys(pairwise(layouts))
        if {before, after} & {*SPECTRAL} and (before, after) not in _SPECTRAL_PAIRS and before != after
    ]


def legs(text: str, *, blocks_alone: bool = True) -> list[Leg]:
    """The steps of a path. Raises InputError."""
    if problems := path_problems(text, blocks_alone=blocks_alone):
        raise InputError(*problems)
    return [(f"{before}-{after}", before, after) for before, after in pairwise(text.split("-"))]


def divided(layout: str, split: tuple[int, int]) -> list[tuple[str, int]]:
    """The directions that a layout divides, and into how many parts."""
    return list(zip(layout, split, strict=True)) if len(layout) == 2 else [(layout, math.prod(split))]


def shares(layout: str, grid: tuple[int, int, int], split: tuple[int, int]) -> list[tuple[int, int]]:
    """The points that a layout divides, and into how many parts: of each divided direction."""
    ranks = math.prod(split)
    if layout == BANDS:
        return [(grid[0] * grid[1], ranks)]
    if layout in SPECTRAL:
        return _spectral_shares(layout, grid[1], grid[2], split)
    if layout in LAYOUTS:
        return [(grid["xyz".index(axis)], parts) for axis, parts in divided(layout, split)]
    return [(grid[2], servers_of(layout) or ranks)]


def _spectral_shares(layout: str, rows: int, levels: int, split: tuple[int, int]) -> list[tuple[int, int]]:
    """The same of a transform on an octahedral grid: level sets are the first number of a split."""
    wavenumbers = max(1, rows // 2)
    if layout == "points":
        return [(rows * (rows + 18), math.prod(split))]
    along = {"rows": (rows, levels), "wavenumbers": (wavenumbers, levels), "columns": (wavenumbers, wavenumbers)}
    return list(zip(along[layout], reversed(split), strict=True))


def transposition(
    grid: _core.Grid, split: tuple[int, int], before: str, after: str
) -> _core.Transpose | _core.Redistribution:
    """The pattern between two layouts by their names. Raises InputError where a part would be empty."""
    first, second = (_layout(grid, split, name) for name in (before, after))
    if isinstance(first, _core.Blocks) and isinstance(second, _core.Blocks):
        return _core.Transpose(first, second)
    return _core.Redistribution(*on_one_grid(first, second))


def _layout(grid: _core.Grid, split: tuple[int, int], name: str) -> _core.Blocks | _core.Product:
    if name in LAYOUTS:
        return blocks(grid, split, name)
    ranks = math.prod(split)
    return Bands(grid, ranks) if name == BANDS else Whole(grid, ranks, servers_of(name))


def blocks(grid: _core.Grid, split: tuple[int, int], layout: str) -> _core.Blocks:
    """A layout by its name. Raises InputError where a part would be empty."""
    if len(layout) == 2:
        return _core.Blocks(grid, split, layout)
    other = "y" if layout != "y" else "x"  # which the second coordinate, of one rank, leaves whole
    return _core.Blocks(grid, (math.prod(split), 1), layout + other)
