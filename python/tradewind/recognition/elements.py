"""Gather-scatters among messages: bricks of spectral elements, whose ranks share faces, edges and corners.

What two ranks share is what a halo of width 1 moves; only the numbers of points distinguish them: sides of elements of
degree p have multiples of p points, and one more.
"""

from __future__ import annotations

import math
from itertools import chain

from tradewind import _core
from tradewind.base.extents import extents_text
from tradewind.recognition.exchange import DTYPE_BYTES, Exchange, expected_of, largest_prime
from tradewind.workload.box_halo import BoxHalo
from tradewind.workload.patterns.gather_scatter import cubic

MAX_DEGREE = 15
SAME_AS_HALO = "a halo of width 1 on {} points per rank has the same messages; and so have elements of another degree"


def gather_scatter(box: BoxHalo, levels: int, element: int, halo: Exchange) -> Exchange | None:
    """Return the gather-scatter that has the messages of a halo with all neighbors; None where points are no sides of
    elements."""
    if box.width != 1 or any(len(set(parts)) > 1 for parts in box.parts):
        return None
    points = [parts[0] for parts in box.parts]
    if box.split[2] == 1:
        points[2] = levels
    elif levels > 1:
        return None
    if min(points) < 2 or max(largest_prime(n - 1) for n in points) >= max(map(largest_prime, points)):
        return None
    common = math.gcd(*(n - 1 for n in points))
    degree = max(each for each in range(1, MAX_DEGREE + 1) if common % each == 0)
    sides = [(n - 1) // degree for n in points]
    pattern = _core.BrickGatherScatter((sides[0], sides[1], sides[2]), degree + 1, box.split, list(box.periodic), "add")
    expected = expected_of(_core.make_schedule(pattern, "pairwise"), element)
    if [sorted(chain(*stages)) for stages in expected] != [sorted(chain(*stages)) for stages in halo.expected]:
        return None
    table: dict[str, object] = {"gather_scatter": extents_text(sides), "element_points": degree + 1}
    if box.split != cubic(box.ranks):  # else it is that of other ranks, too
        table["brick"] = extents_text(box.split)
    if any(box.periodic):
        table["periodic"] = "".join(a for a, around in zip("xyz", box.periodic, strict=True) if around)
    table |= {"algorithm": "pairwise", "dtype": DTYPE_BYTES[element]}
    about = (
        f"gather-scatter of {extents_text(sides)} elements of degree {degree} per rank; {extents_text(box.split)} ranks"
    )
    return Exchange("gather-scatter", table, about, expected, (SAME_AS_HALO.format(extents_text(points)),))
