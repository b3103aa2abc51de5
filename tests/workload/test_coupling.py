"""Couplings: which source points each rank wants, by search over all pairs of points; and programs that have them."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest

import tradewind as tw
from tradewind import _core
from tradewind.workload.coupling import Side, coupling
from tradewind.workload.interpolation import METHODS, Direction

SMALL = [1, 2, 3, 5, 8]


def cells(points: int, extent: tuple[float, float]) -> list[tuple[Fraction, Fraction]]:
    begin, end = (Fraction(str(each)) for each in extent)
    return [(begin + (end - begin) * i / points, begin + (end - begin) * (i + 1) / points) for i in range(points)]


def middle(cell: tuple[Fraction, Fraction]) -> Fraction:
    return (cell[0] + cell[1]) / 2


def searched(along: Direction, method: str) -> list[set[int]]:
    """By search over all pairs of cells, and their images a period to both sides."""
    length = Fraction(str(along.source[1])) - Fraction(str(along.source[0]))
    images = [
        (i, (low + turn * length, high + turn * length))
        for turn in (range(-2, 3) if along.periodic else [0])
        for i, (low, high) in enumerate(cells(along.sources, along.source))
    ]
    found = []
    for low, high in cells(along.targets, along.target):
        point = middle((low, high))
        if method == "conservative":
            found.append({i for i, (a, b) in images if a < high and low < b})
        elif method == "nearest":
            nearest = min(abs(middle(cell) - point) for _, cell in images)
            found.append({[i for i, cell in images if abs(middle(cell) - point) == nearest][-1]})
        else:
            before = [(middle(cell), i) for i, cell in images if middle(cell) <= point]
            behind = [(middle(cell), i) for i, cell in images if middle(cell) > point]
            found.append({each[1] for each in [max(before, default=None), min(behind, default=None)] if each})
    return found


@pytest.mark.parametrize("method", METHODS)
def test_source_points_are_those_of_a_search(method):
    areas = [((0, 1), (0, 1)), ((-10.5, 30), (-3.2, 21.7)), ((0, 360), (0, 360))]
    for sources, targets, (source, target), periodic in product(SMALL, SMALL, areas, (False, True)):
        along = Direction(sources, targets, source, target, periodic)
        wanted = [set(along.wanted(method, i, i + 1).tolist()) for i in range(targets)]
        assert wanted == searched(along, method), along


def test_along_a_periodic_direction_the_target_may_lie_anywhere():
    along = Direction(4, 4, (0, 360), (-180, 180), periodic=True)
    assert [along.wanted("nearest", i, i + 1).tolist() for i in range(4)] == [[2], [3], [0], [1]]
    assert along.wanted("bilinear", 0, 1).tolist() == [2, 3]


def owners(layout: _core.Blocks) -> dict[tuple[int, int], tuple[int, int]]:
    """The owner of each column, and its place in the owner's array."""
    found = {}
    for rank in range(layout.ranks):
        (x0, y0, _), (x1, y1, _) = layout.box(rank)
        for x, y in product(range(x0, x1), range(y0, y1)):
            found[x, y] = (rank, (y - y0) * (x1 - x0) + x - x0)
    return found


@pytest.mark.parametrize(
    ("splits", "first", "ranks"),
    [(((3, 2), (2, 2)), (0, 6), 10), (((2, 2), (1, 3)), (3, 0), 7), (((2, 2), (4, 1)), (0, 0), 4)],
)
def test_each_rank_fetches_what_its_points_need_once(splits, first, ranks):
    grids = (8, 6), (5, 9)
    source, target = (
        _core.Blocks(_core.Grid(*grid, 2), split, axes)
        for grid, split, axes in zip(grids, splits, ("xy", "yx"), strict=True)
    )
    along = [Direction(*each, periodic=i == 0) for i, each in enumerate(zip(*grids, strict=True))]
    for method in METHODS:
        fetch = coupling(Side(source, first[0]), Side(target, first[1]), ranks, method, "x")
        x, y = (searched(each, method) for each in along)
        owned = owners(source)
        wanted: dict[int, set[tuple[int, int]]] = {rank: set() for rank in range(ranks)}
        for (i, j), (rank, _) in owners(target).items():
            for column in product(x[i], y[j]):
                owner, place = owned[column]
                wanted[first[1] + rank].add((first[0] + owner, place))
        for rank in range(ranks):
            owner, index, places, size = fetch.list_of(rank)
            found = list(zip(owner.tolist(), index.tolist(), strict=True))
            assert len(found) == len(set(found)) == size
            assert set(found) == wanted[rank]
            assert sorted(places.tolist()) == list(range(size))
        assert fetch.levels == [1, 2]
        tw.Fetch.of(fetch).schedule().verify()


def test_the_target_array_holds_source_points_row_by_row():
    source = _core.Blocks(_core.Grid(4, 3, 1), (2, 3))
    fetch = coupling(Side(source), Side(_core.Blocks(_core.Grid(2, 1, 1), (1, 1)), 6), 7, "bilinear")
    owner, _, places, _ = fetch.list_of(6)
    assert owner[np.argsort(places)].tolist() == [2, 2, 3, 3, 4, 4, 5, 5]


EXAMPLE = (Path(__file__).parents[2] / "examples" / "coupled.toml").read_text()


def read(text: str) -> tw.Program:
    return tw.load_program("p.toml", text)


def test_a_coupled_program_is_proved_and_components_wait_for_each_other():
    program = read(EXAMPLE)
    proved, simulated = tw.verify(program), tw.simulate(program, "dragonfly-MM")
    assert proved["bytes"] == simulated["bytes"]
    times = {each["name"]: each["times"] for each in proved["exchanges"]}
    assert times == {
        "winds": 4,
        "to radiation": 1,
        "from radiation": 1,
        "fluxes": 2,
        "surface": 2,
        "currents": 2,
    }
    # The ocean has computed 1.5 ms when the atmosphere sends, after 2 x 1 ms: each waits for the slower one.
    ends = simulated["step_end_s"]
    assert ends["ocean: currents and tracers"] > 2e-3 + 1.5e-3
    slower = tw.simulate(read(EXAMPLE.replace("1.5ms", "5ms")), "dragonfly-MM")
    assert 10e-3 < slower["time_s"] < 10.5e-3
    assert slower["step_end_s"]["atmosphere: interpolation 2"] < 5.5e-3


def test_deadlock_between_components_is_found():
    ocean = EXAMPLE.index('name = "ocean"\nranks')
    turned = EXAMPLE[ocean:].replace('"fluxes"', '"?"').replace('"surface"', '"fluxes"').replace('"?"', '"surface"')
    with pytest.raises(tw.VerificationError, match=r"group 'ocean' waits in stage \d of exchange 'surface'"):
        tw.verify(read(EXAMPLE[:ocean] + turned))


def test_bytes_are_those_of_the_points_that_are_wanted():
    """All ranks of a 4 x 4 grid on one rank each: what an ocean on one rank wants is the whole grid, once."""
    text = """
[[exchange]]
name = "x"
from = "a"
to = "o"
interpolation = "conservative"
levels = 3
[[group]]
name = "a"
ranks = 16
split = "4x4"
grid = "4x4x9"
[[group.step]]
exchange = "x"
[[group]]
name = "between"
ranks = 2
[[group]]
name = "o"
ranks = 1
grid = "7x3x5"
[[group.step]]
exchange = "x"
"""
    proved = tw.verify(read(text))
    assert (proved["messages"], proved["bytes"]) == (16, 16 * 3 * 8)


HEAD = """
[[exchange]]
name = "x"
from = "a"
to = "o"
interpolation = "bilinear"
{more}
[[group]]
name = "a"
ranks = 4
split = "2x2"
grid = "8x8x4"
{a}
[[group.step]]
exchange = "x"
{every}
[[group]]
name = "o"
ranks = 2
grid = "6x6x4"
{o}
[[group.step]]
exchange = "x"
"""


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"o": "area = [0, 10, 0, 10]"}, r"p.toml:2: exchange 'x': the area of one grid alone"),
        (
            {"a": "area = [0, 10, 0, 10]", "o": "area = [2, 8, 5, 12.5]"},
            r"p.toml:2: exchange 'x': along y the source grid has 0..10 and does not cover .*, which has 5..12.5",
        ),
        ({"a": "area = [0, 10, 10, 0]"}, r"p.toml:13: area .*south before north"),
        ({"a": "area = [0, 10, 10]"}, r"p.toml:13: area .*four numbers"),
        ({"more": 'target_grid = "6x6x3"'}, r"p.toml:2: exchange 'x': .*as many levels are allowed, .* 4 and 3"),
        ({"more": 'source_layout = "z"'}, r"p.toml:2: layout zy: a coupling is between layouts of whole columns"),
        ({"every": "every = 0"}, r"p.toml:16: every = 0: input should be greater"),
        ({"every": "every = 2"}, r"p.toml:8: repeat 1: a multiple of 2 is allowed"),
        ({"a": "repeat = 3", "every": "every = 2"}, r"p.toml:8: repeat 3: a multiple of 2 is allowed"),
        ({"a": "repeat = 4", "every": "every = 2"}, r"takes place 1 times in group 'o' and 2 times in group 'a'"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(keys, problem):
    with pytest.raises(tw.InputError, match=problem):
        read(HEAD.format(**{"more": "", "a": "", "o": "", "every": ""} | keys))


@pytest.mark.parametrize(
    ("was", "becomes", "problem"),
    [
        ('to = "o"', 'to = "b"', r"unknown group 'b'"),
        ('to = "o"', 'to = "a"', r"group 'o', .*: the ranks of the group take no part in exchange 'x'"),
        ('"bilinear"', '"cubic"', r"p.toml:6: interpolation: unknown interpolation 'cubic'"),
        ('interpolation = "bilinear"', "levels = 2", r"exchange 'x': levels is that of a coupling"),
        ('to = "o"\ninterpolation = "bilinear"', 'to = "a"', r"p.toml:2: exchange 'x': from a group to itself"),
        ('from = "a"\nto = "o"', "halo = 1", r"exchange 'x': interpolation is that of a coupling"),
        ("ranks = 4", "ranks = [[0, 2], [4, 4]]", r"all groups have a number of ranks, or all list them"),
    ],
)
def test_what_does_not_go_together_is_refused(was, becomes, problem):
    text = HEAD.format(more="", a="", o="", every="")
    assert text.count(was) == 1
    with pytest.raises(tw.InputError, match=problem):
        read(text.replace(was, becomes))


def test_ranks_of_components():
    def listed(atmosphere: str, ocean: str) -> tw.Program:
        text = HEAD.format(more="", a="", o="", every="").replace("ranks = 4", f"ranks = {atmosphere}")
        return read(text.replace("ranks = 2", f"ranks = {ocean}"))

    assert tw.verify(listed("[[2, 5]]", "[[0, 1]]"))["messages"] == tw.verify(listed("4", "2"))["messages"]
    for atmosphere, ocean, problem in (
        ("[[0, 2], [4, 4]]", "[[3, 3], [5, 5]]", r"p.toml:2: exchange 'x': the ranks of groups 'a' and 'o' are mixed"),
        ("[[0, 3]]", "[[3, 4]]", "rank 3 is in group 'a' and in group 'o'|are mixed"),
        ("[[0, 3]]", "[[5, 6]]", "rank 6; 0..5 are allowed"),
    ):
        with pytest.raises(tw.InputError, match=problem):
            listed(atmosphere, ocean)


def test_steps_of_a_period_are_written_out():
    text = 'ranks = 2\nrepeat = 12\n[[step]]\ncompute = "rank"\nlabel = "a"\n[[step]]\nallreduce = 1\nevery = 2\n'
    program = read(text + '[[step]]\ncompute = "rank"\nlabel = "b"\nevery = 3\n')
    (group,) = program.groups
    assert group.repeat == 2
    names = [step.name for step in program.steps()]
    assert [name for name in names if name[0] in "ab"] == [f"a {i}" for i in range(1, 4)] + [
        "b 3",
        "a 4",
        "a 5",
        "a 6",
        "b 6",
    ]
    assert tw.verify(program)["exchanges"][0]["times"] == 6


@pytest.mark.slow
def test_a_hundred_thousand_ranks():
    source = Side(_core.Blocks(_core.Grid(4320, 3604, 1), (128, 128)))
    target = Side(_core.Blocks(_core.Grid(5120, 2560, 1), (288, 288)), 128 * 128)
    fetch = coupling(source, target, 128 * 128 + 288 * 288, "bilinear", "x")
    rows = [len(Direction(3604, 2560).wanted("bilinear", *each)) for each in bounds(2560, 288)]
    columns = [len(Direction(4320, 5120, periodic=True).wanted("bilinear", *each)) for each in bounds(5120, 288)]
    assert fetch.points == sum(rows) * sum(columns)


def bounds(points: int, parts: int) -> list[tuple[int, int]]:
    ends = np.cumsum([0, *(points // parts + (i < points % parts) for i in range(parts))]).tolist()
    assert ends[-1] == points
    return list(pairwise(ends))
