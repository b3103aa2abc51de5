"""Random layouts, patterns and schedules, for property tests."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
from hypothesis import strategies as st

from tradewind import _core

AXES = ("xy", "yx", "xz", "zx", "yz", "zy")
TRANSPORTS = [entry.name for entry in _core.transports()]


def splits(points: tuple[int, int, int], ranks: int, axes: str) -> list[tuple[int, int]]:
    """All splits of `ranks` that leave no part of a grid of `points` empty."""
    maximum = [points["xyz".index(axis)] for axis in axes]
    pairs = [(a, ranks // a) for a in range(1, ranks + 1) if ranks % a == 0]
    return [pair for pair in pairs if pair[0] <= maximum[0] and pair[1] <= maximum[1]]


@st.composite
def grids(draw, maximum=14):
    return tuple(draw(st.integers(1, maximum)) for _ in range(3))


@st.composite
def layouts(draw, points=None, ranks=None, among=AXES, max_ranks=40):
    """Blocks of any two directions of a grid; where the number of ranks is given, it must have a split."""
    points = draw(grids()) if points is None else points
    axes = draw(st.sampled_from(among))
    if ranks is None:
        fitting = [n for n in range(1, max_ranks + 1) if splits(points, n, axes)]
        ranks = draw(st.sampled_from(fitting))
    return _core.Blocks(_core.Grid(*points), draw(st.sampled_from(splits(points, ranks, axes))), axes)


@st.composite
def transposes(draw, max_ranks=40):
    """Any two layouts of one grid."""
    points = draw(grids())
    before = draw(layouts(points=points, max_ranks=max_ranks))
    fitting = [axes for axes in AXES if splits(points, before.ranks, axes)]
    after = draw(layouts(points=points, ranks=before.ranks, among=fitting))
    return _core.Transpose(before, after)


@st.composite
def slab_transposes(draw, max_ranks=40):
    """The transpositions within rows or columns of ranks that spectral models make."""
    before, after = draw(st.sampled_from([("xy", "zy"), ("zy", "zx"), ("zx", "yx"), ("xy", "xz"), ("xz", "yz")]))
    cx, cy = draw(st.sampled_from([(a, b) for a in range(1, max_ranks + 1) for b in range(1, max_ranks // a + 1)]))
    points = tuple(draw(st.integers(max(cx, cy), max(cx, cy) + 30)) for _ in range(3))
    grid = _core.Grid(*points)
    return _core.Transpose(_core.Blocks(grid, (cx, cy), before), _core.Blocks(grid, (cx, cy), after))


@st.composite
def divisions(draw, points, parts):
    """One direction divided in any way; parts may hold nothing."""
    kind = draw(st.sampled_from(["even", "cut", "dealt"]))
    if kind == "even":
        return _core.Parts.even(points, parts)
    if kind == "cut":
        cuts = sorted(draw(st.lists(st.integers(0, points), min_size=parts - 1, max_size=parts - 1)))
        return _core.Parts.cut(np.array([0, *cuts, points], dtype=np.int64))
    owners = draw(st.lists(st.integers(0, parts - 1), min_size=points, max_size=points))
    return _core.Parts.dealt(np.array(owners, dtype=np.int32), parts)


@st.composite
def products(draw, points=None, max_ranks=12, ranks=None):
    """Layouts that have a closed form, on some of the ranks: uneven, of several runs, with empty parts."""
    points = draw(grids(maximum=9)) if points is None else points
    ranks = draw(st.integers(1, max_ranks)) if ranks is None else ranks
    columns = draw(st.integers(1, ranks))
    split = (columns, draw(st.integers(1, ranks // columns)))
    first = draw(st.integers(0, ranks - split[0] * split[1]))
    parts, coordinates = [_core.Parts.even(n, 1) for n in points], [-1, -1, -1]
    for coordinate, axis in enumerate(draw(st.permutations(range(3)))[:2]):
        coordinates[axis] = coordinate
        parts[axis] = draw(divisions(points[axis], split[coordinate]))
    return _core.Product(_core.Grid(*points), parts, coordinates, first, ranks, "a layout")


@st.composite
def lines(draw, points):
    """Lines of different lengths along z with places along y, as arguments of `in_lines`; not all are empty."""
    pairs = [tuple(sorted(draw(st.tuples(*[st.integers(0, points[1])] * 2)))) for _ in range(points[2])]
    if all(begin == end for begin, end in pairs):
        pairs[draw(st.integers(0, points[2] - 1))] = (0, points[1])
    return [np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True)]


@st.composite
def redistributions(draw, max_ranks=12):
    """Any two layouts that have a closed form, of a grid or of lines of different lengths."""
    points, ranks = draw(grids(maximum=9)), draw(st.integers(1, max_ranks))
    before, after = (draw(products(points=points, ranks=ranks)) for _ in range(2))
    if draw(st.booleans()):
        places = draw(lines(points))
        before, after = (layout.in_lines(*places) for layout in (before, after))
    return _core.Redistribution(before, after)


@st.composite
def closed_redistributions(draw, most_ranks=30):
    """Between layouts whose groups are rows or columns of ranks: any lists, of a grid or of lines."""
    cx, cy = draw(st.sampled_from([(a, b) for a in range(1, most_ranks + 1) for b in range(1, most_ranks // a + 1)]))
    points = tuple(draw(st.integers(max(cx, cy), max(cx, cy) + 8)) for _ in range(3))
    before, after, across = draw(st.permutations(range(3)))
    moving, staying = draw(st.permutations(range(2)))
    split = [(cx, cy)[c] for c in range(2)]

    def dealt(axis, coordinate):
        owners = draw(st.permutations([i % split[coordinate] for i in range(points[axis])]))
        if draw(st.booleans()):
            owners = sorted(owners)
        return _core.Parts.dealt(np.array(owners, dtype=np.int32), split[coordinate])

    whole = [_core.Parts.even(n, 1) for n in points]
    stays = dealt(across, staying)
    layouts = []
    for axis in (before, after):
        parts, coordinates = list(whole), [-1, -1, -1]
        parts[axis], coordinates[axis] = dealt(axis, moving), moving
        parts[across], coordinates[across] = stays, staying
        layouts.append(_core.Product(_core.Grid(*points), parts, coordinates, 0, cx * cy, "a layout"))
    if draw(st.booleans()):
        places = draw(lines(points))
        layouts = [layout.in_lines(*places) for layout in layouts]
    return _core.Redistribution(*layouts)


def owners_of(layout):
    """The owner of each point by a layout's boxes, [x][y][z]; a point that two boxes hold is an error."""
    owner = np.full(layout.grid.points, -1)
    for rank in range(layout.ranks):
        for begin, end in layout.boxes(rank):
            box = tuple(slice(a, b) for a, b in zip(begin, end, strict=True))
            assert (owner[box] == -1).all()
            owner[box] = rank
    return owner


@st.composite
def halos(draw, max_ranks=40):
    """Widths within the neighbour, beyond it and beyond the grid."""
    layout = draw(layouts(among=["xy", "xy", "yx", "xz", "zy"], max_ranks=max_ranks))
    width = draw(st.one_of(st.integers(0, 4), st.integers(5, 40)))
    return _core.Halo(layout, width, (draw(st.booleans()), draw(st.booleans())))


@st.composite
def fetches(draw, max_ranks=12):
    """Any points of any ranks, some of them several times; between two arrays, or a halo within one."""
    ranks = draw(st.integers(1, max_ranks))
    counts = [draw(st.integers(0, 6)) for _ in range(ranks)]
    every = [(rank, index) for rank in range(ranks) for index in range(counts[rank])]
    lists = [draw(st.lists(st.sampled_from(every), max_size=12)) if every else [] for _ in range(ranks)]
    one_array = draw(st.booleans())
    described = []
    for count, wanted in zip(counts, lists, strict=True):
        begin, room = (count if one_array else 0), draw(st.integers(0, 3))
        places = draw(st.permutations(range(begin, begin + len(wanted) + room)))[: len(wanted)]
        table = np.array([(*point, place) for point, place in zip(wanted, places, strict=True)]).reshape(-1, 3)
        columns = (np.ascontiguousarray(table[:, i], dtype=np.int64) for i in range(3))
        described.append((*columns, begin + len(wanted) + room))
    sources = [lists[3] if one_array else count for count, lists in zip(counts, described, strict=True)]
    fetch = _core.Fetch(sources, described, one_array)
    fetch = fetch.with_levels(draw(st.tuples(st.integers(1, 2), st.integers(1, 3))))
    return _core.FetchAdjoint(fetch) if draw(st.booleans()) else fetch


@st.composite
def gather_scatters(draw, max_ranks=9):
    """Any ids, near 2^63 too, of one rank or of all; or a brick of elements."""
    levels = draw(st.tuples(st.integers(1, 2), st.integers(1, 2)))
    if draw(st.booleans()):
        split = draw(st.tuples(*[st.integers(1, 3)] * 3))
        elements = draw(st.tuples(*[st.integers(1, 2)] * 3))
        periodic = draw(st.tuples(*[st.booleans()] * 3))
        brick = _core.BrickGatherScatter(elements, draw(st.integers(2, 3)), split, periodic, "add")
        return brick.for_levels(levels)
    pool = draw(st.lists(st.integers(1, 2**63 - 1), min_size=1, max_size=12, unique=True))
    pool += [2**63 - 1, 2**63 - 2, 0, -5]
    lists = st.lists(st.sampled_from(pool), max_size=20)
    ids = [np.array(draw(lists), dtype=np.int64) for _ in range(draw(st.integers(1, max_ranks)))]
    return _core.gather_scatter_of_ids(ids, draw(st.sampled_from(["add", "min"]))).for_levels(levels)


PASSING_ON = ("bruck", "two-level-k")
"""All-to-all algorithms that need groups whose ranks all have something for each other."""


def algorithm_names(pattern: _core.Pattern) -> list[str]:
    """Every algorithm of a pattern that it allows, with every radix."""
    names = []
    for entry in _core.algorithms():
        refusing = ("bruck",) if isinstance(pattern, _core.Redistribution) else PASSING_ON
        refused = pattern.name == "transpose" and entry.name in refusing and not pattern.complete
        refused |= entry.name == "cartesian" and not isinstance(pattern, _core.BrickGatherScatter)
        if entry.pattern == pattern.name and not refused:
            minimum, maximum = entry.radices(pattern)
            maximum = min(maximum, 64)
            names += (
                [entry.name[:-1] + str(k) for k in range(minimum, maximum + 1)] if entry.has_radix else [entry.name]
            )
    return names


def ceil_log(base: int, n: int) -> int:
    """The smallest p with base ** p >= n."""
    p = 0
    while base**p < n:
        p += 1
    return p


def cells(boxes) -> dict[tuple[int, int, int], int]:
    """Return the number of the boxes ((x0, y0, z0), (x1, y1, z1)) each point lies in."""
    count: dict[tuple[int, int, int], int] = defaultdict(int)
    for (x0, y0, z0), (x1, y1, z1) in boxes:
        for x in range(x0, x1):
            for y in range(y0, y1):
                for z in range(z0, z1):
                    count[x, y, z] += 1
    return dict(count)


def volume(box) -> int:
    return math.prod(end - begin for begin, end in zip(*box, strict=True))
