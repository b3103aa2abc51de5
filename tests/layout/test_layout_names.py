"""Paths through layouts: HIRLAM's redistributions, counted as its slides count them, and what no path is."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tradewind.base.errors import InputError
from tradewind.layout.names import LAYOUTS
from tradewind.verification import verify
from tradewind.workload.exchange import Exchange

GRID = (602, 568, 60)
ROWS, ALL = "xy-zy-zx-zy-xy", "xy-z-x-z-xy"


def pairs(slab: str, split: tuple[int, int], grid: tuple[int, int, int] = GRID) -> list[int]:
    """Sender and receiver, a rank with itself included, of each step: every rank keeps something."""
    ranks = split[0] * split[1]
    proof = verify(Exchange("transpose", ranks, grid, split, slab=slab, algorithm="burst"))
    return [step["messages"] + ranks for step in proof["steps"]]


@pytest.mark.parametrize(("nx", "ny"), [(10, 6), (4, 3), (1, 5), (6, 1)])
def test_pairs_are_those_of_the_slides(nx: int, ny: int) -> None:
    """Parallelization of HIRLAM (2004): (nx ny)^2 pairs before, ny sets of nx^2 after; FFT to TRI nx sets of ny^2."""
    assert pairs(ALL, (nx, ny)) == [(nx * ny) ** 2] * 4
    assert pairs(ROWS, (nx, ny)) == [nx**2 * ny, ny**2 * nx, ny**2 * nx, nx**2 * ny]


def test_lines_divided_by_all_ranks_need_all_pairs_in_the_middle() -> None:
    """196 ranks cannot divide 40 levels; latitudes and longitudes they can. Of 378 latitudes each row of 14 ranks has
    27, which 14 others have after: no more meet, but for those where parts do not end alike."""
    found = pairs("xy-y-x-y-xy", (14, 14), (468, 378, 40))
    assert found[1:3] == [196**2] * 2
    assert found[0] == found[3]
    assert 14 * 196 <= found[0] <= 15 * 196


def test_the_way_there_and_back_moves_the_same_bytes() -> None:
    steps = verify(Exchange("transpose", 12, GRID, (4, 3), slab=ROWS))["steps"]
    moved = [step["bytes"] for step in steps]
    assert moved == moved[::-1]
    assert moved[0] + steps[0]["copied_bytes"] == 602 * 568 * 60 * 8


@pytest.mark.parametrize("before", LAYOUTS)
def test_any_layout_follows_any_other(before: str) -> None:
    path = "-".join(name for after in LAYOUTS if after != before for name in (before, after))
    proof = verify(Exchange("transpose", 6, (13, 11, 7), (3, 2), slab=path))
    assert proof["ok"]
    assert len(proof["steps"]) == 2 * (len(LAYOUTS) - 1) - 1


@pytest.mark.parametrize("path", ["y-bands-whole-zy", "z-bands-y", "xy-whole:1-xy", "bands-whole:2-bands-zy-whole:5"])
def test_bands_and_whole_fields_are_layouts_of_a_path(path: str) -> None:
    grid = (13, 11, 7)
    proof = verify(exchange := Exchange("transpose", 6, grid, (3, 2) if "xy" in path else (2, 3), slab=path))
    assert proof["ok"]
    assert all(step["bytes"] + step["copied_bytes"] == 13 * 11 * 7 * 8 for step in proof["steps"])
    assert [step["name"] for step in proof["steps"]] == [f"{a}-{b}" for a, b in pairwise(path.split("-"))]
    assert exchange.imbalance() >= 1


def test_whole_fields_come_to_the_last_ranks_alone() -> None:
    exchange = Exchange("transpose", 6, (13, 11, 7), (1, 6), slab="y-whole:2", algorithm="burst")
    (step,) = verify(exchange)["steps"]
    assert step["messages"] == 4 * 2 + 2  # each of the last two keeps what it has for itself
    assert exchange.imbalance() == pytest.approx(4 / 3.5)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("xy-bands", "slab xy-bands: xy blocks: x is divided among 14 parts: rows that are whole can be put one after"),
        ("xy-whole:0", "path 'xy-whole:0': unknown layout 'whole:0' (known: xy, "),
        (
            "xy-whole:x",
            "unknown layout 'whole:x' (known: xy, yx, xz, zx, yz, zy, x, y, z, bands, whole, whole:SERVERS, points, "
            "rows, wavenumbers, columns)",
        ),
        ("y-whole:500", "whole fields on 500 servers: 1..196 are allowed among 196 ranks"),
        ("xy-", "path 'xy-': unknown layout '' (known: xy, "),
        ("xy-zq-zz", "path 'xy-zq-zz': unknown layout 'zz'"),
        ("xy-zy-zy", "path 'xy-zy-zy': from zy to zy nothing moves"),
        ("xy-z", "split 14x14: 196 ranks do not divide 60 levels among them (1..60 are allowed)"),
        ("zyx", "unknown slab 'zyx'"),
    ],
)
def test_what_is_no_path_is_refused(path: str, expected: str) -> None:
    with pytest.raises(InputError) as refused:
        Exchange("transpose", 196, GRID, (14, 14), slab=path)
    assert expected in str(refused.value)


def test_layouts_of_a_transform_follow_each_other() -> None:
    path = "points-rows-wavenumbers-columns-wavenumbers-rows-points"
    proof = verify(Exchange("transpose", 6, (1, 24, 4), (2, 3), slab=path))
    assert proof["ok"]
    moved = [step["bytes"] + step["copied_bytes"] for step in proof["steps"]]
    assert moved == moved[::-1]
    assert moved[0] == 12 * 21 * 4 * 4 * 8  # all points of O12
    assert moved[2] == 12 * 13 // 2 * 4 * 8  # all coefficients of T11


@pytest.mark.parametrize(
    ("path", "grid", "expected"),
    [
        (
            "points-wavenumbers",
            (1, 24, 4),
            "from points to wavenumbers: of points, rows, wavenumbers, columns two that",
        ),
        ("xy-rows", (1, 24, 4), "from xy to rows: of points"),
        ("points-rows", (1, 25, 4), "octahedral grid of 25 rows: an even number"),
        ("points-rows", (1, 4, 4), "up to 2 sets are allowed"),
    ],
)
def test_other_paths_of_a_transform_are_refused(path: str, grid: tuple[int, int, int], expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        verify(Exchange("transpose", 6, grid, (2, 3), slab=path))


def test_exchanges_of_a_transform_have_arrays_one_by_one() -> None:
    Exchange("transpose", 6, (1, 24, 4), (2, 3), slab="rows-wavenumbers").require_arrays()
    with pytest.raises(InputError, match="data are transformed between the exchanges"):
        Exchange("transpose", 6, (1, 24, 4), (2, 3), slab="points-rows-wavenumbers").require_arrays()
