"""`tw.Transpose` between any two layouts: what is made of them, verified, simulated, and what does not go together."""

import itertools

import numpy as np
import pytest

import tradewind as tw
from tradewind.base.errors import InputError
from tradewind.layout.closed import snake

GRID = tw.Grid(9, 8, 4)
RANKS = 4
LAYOUTS = {
    "blocks": tw.Blocks(GRID, (2, 2)),
    "rows": tw.Blocks(GRID, (1, 4)),
    "levels": tw.Pencils(GRID, "x", (4, 1)),
    "bands": tw.Bands(GRID, RANKS),
    "whole rows": tw.Bands(GRID, RANKS, shared=False, level_sets=2),
    "wavenumbers": tw.Wavenumbers(GRID, snake(9, 2), level_sets=2),
    "whole": tw.Whole(GRID, RANKS, 1),
    "placed": tw.Placed(tw.Blocks(GRID, (3, 1), "zy"), 0, RANKS),
    "lists": tw.Lists([np.arange(rank, 9 * 8 * 4, RANKS) for rank in range(RANKS)]),
}
DIVIDE_X = ("blocks", "wavenumbers")


@pytest.mark.parametrize(("before", "after"), [*itertools.permutations(LAYOUTS, 2)])
def test_any_two_layouts_of_a_grid_make_a_transposition(before, after):
    first, second = LAYOUTS[before], LAYOUTS[after]
    if {before, after} in ({"bands", name} for name in DIVIDE_X):
        with pytest.raises(InputError, match=r"x is divided among 2 parts: .* name the points \(tw\.Lists\)"):
            tw.Transpose(first, second)
        return
    pattern = tw.Transpose(first, second)
    blocks = isinstance(first, tw.Blocks) and isinstance(second, tw.Blocks)
    kind = tw.Transpose if blocks else tw.Fetch if "lists" in (before, after) else tw.Redistribution
    assert type(pattern) is kind
    proof = pattern.schedule().verify()
    assert proof["ok"]
    assert proof["bytes"] + proof["copied_bytes"] == 9 * 8 * 4 * 8
    back = pattern.adjoint().schedule().verify()
    assert (back["messages"], back["bytes"]) == (proof["messages"], proof["bytes"])


def test_a_transposition_is_simulated_with_all_its_messages():
    pattern = tw.Transpose(LAYOUTS["rows"], LAYOUTS["whole"])
    simulated = pattern.schedule("burst").simulate("barbora")
    assert simulated["messages"] == 3
    assert simulated["bytes"] == 3 * 9 * 2 * 4 * 8
    assert simulated["time_s"] > 0


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (LAYOUTS["rows"], tw.Whole(GRID, 5), "4 ranks before and 5 after; the two layouts must have the same number"),
        (LAYOUTS["rows"], tw.Whole(tw.Grid(9, 8, 5), 4), "the two layouts divide different grids"),
        (LAYOUTS["lists"], tw.Whole(GRID, 5), "4 ranks before and 5 after; the two layouts must have the same number"),
        (LAYOUTS["lists"], tw.Whole(tw.Grid(9, 8, 5), 4), "288 points before and 360 after"),
    ],
)
def test_layouts_that_do_not_go_together_are_refused(before, after, expected):
    with pytest.raises(InputError) as refused:
        tw.Transpose(before, after)
    assert expected in str(refused.value)


def test_memory_of_lists_is_said_before_it_is_taken(monkeypatch):
    monkeypatch.setattr("tradewind.layout.closed.BYTES_PER_FETCHED_POINT", 1e15)
    with pytest.raises(InputError, match=r"a transposition of 288 points by lists needs about .* of memory"):
        tw.Transpose(LAYOUTS["rows"], LAYOUTS["lists"])
