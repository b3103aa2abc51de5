"""Redistributions by name: a path through layouts, like ``xy-zy-zx-zy-xy``.

A layout is named by the directions that are divided. Two letters: the first is divided by the ranks' first coordinate,
the second by the other one (``xy``: blocks; ``zy``: whole lines along x). One letter: by all ranks together (``z``:
whole levels). From ``xy`` to ``zy`` a rank exchanges within its row of ranks, to ``z`` with every rank.
"""

from __future__ import annotations

import math
from itertools import pairwise

from tradewind import _core
from tradewind.base.errors import InputError

Leg = tuple[str, str, str]
"""A step of a path: its name, the layout before and the one after."""
LAYOUTS = ("xy", "yx", "xz", "zx", "yz", "zy", "x", "y", "z")


MESHES = ("lonlat", "octahedral")
"""The meshes whose halo a fetch can be, see `tradewind.layout.mesh`."""


def is_path(text: str) -> bool:
    """Whether a text is meant as a path through layouts."""
    return "-" in text


def path_problems(text: str) -> list[str]:
    """What is wrong with a path."""
    layouts = text.split("-")
    problems = [
        f"path {text!r}: unknown layout {name!r} (known: {', '.join(LAYOUTS)})"
        for name in dict.fromkeys(layouts)
        if name not in LAYOUTS
    ]
    twice = dict.fromkeys(before for before, after in pairwise(layouts) if before == after)
    return problems + [f"path {text!r}: from {name} to {name} nothing moves" for name in twice]


def legs(text: str) -> list[Leg]:
    """The steps of a path. Raises InputError."""
    if problems := path_problems(text):
        raise InputError(*problems)
    return [(f"{before}-{after}", before, after) for before, after in pairwise(text.split("-"))]


def divided(layout: str, split: tuple[int, int]) -> list[tuple[str, int]]:
    """The directions that a layout divides, and into how many parts."""
    return list(zip(layout, split, strict=True)) if len(layout) == 2 else [(layout, math.prod(split))]


def blocks(grid: _core.Grid, split: tuple[int, int], layout: str) -> _core.Blocks:
    """A layout by its name. Raises InputError where a part would be empty."""
    if len(layout) == 2:
        return _core.Blocks(grid, split, layout)
    other = "y" if layout != "y" else "x"  # which the second coordinate, of one rank, leaves whole
    return _core.Blocks(grid, (math.prod(split), 1), layout + other)
