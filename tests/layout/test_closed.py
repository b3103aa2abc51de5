"""Bands, wavenumbers, whole fields and lists: who owns what, against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tradewind as tw
from tradewind.base.errors import InputError
from tradewind.layout.closed import cuts, indices, own_ids, snake


def owners_of(layout):
    """The owner of each point by a layout's boxes, [x][y][z]; a point that two boxes hold is an error."""
    owner = np.full(layout.grid.points, -1)
    for rank in range(layout.ranks):
        for begin, end in layout.boxes(rank):
            box = tuple(slice(a, b) for a, b in zip(begin, end, strict=True))
            assert (owner[box] == -1).all()
            owner[box] = rank
    return owner


ROWS = st.lists(st.integers(1, 12), min_size=1, max_size=12)


@given(ROWS, st.integers(1, 6), st.integers(1, 3))
def test_shared_bands_have_equal_numbers_of_points_in_the_order_of_the_rows(rows, bands, level_sets):
    layout = tw.Bands(tw.ReducedGrid(rows, nz=3), bands * level_sets, level_sets=level_sets)
    counts = [layout.shape(rank)[2] for rank in range(bands)]
    assert sum(counts) == sum(rows)
    assert max(counts) - min(counts) <= 1
    assert (np.diff(owners_of(layout)[:, 0, 0]) >= 0).all()


@given(ROWS, st.integers(1, 6))
def test_bands_of_whole_rows_cut_no_row_and_are_as_equal_as_a_row_allows(rows, bands):
    layout = tw.Bands(tw.ReducedGrid(rows), bands, shared=False)
    owner = np.split(owners_of(layout)[:, 0, 0], np.cumsum(rows)[:-1])
    assert all(len(set(row)) == 1 for row in owner)
    for rank in range(bands):
        assert abs(layout.shape(rank)[2] - sum(rows) / bands) <= max(rows)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=15), st.integers(1, 6))
def test_each_cut_is_the_one_nearest_to_its_share(weights, parts):
    found, ends = cuts(weights, parts), np.concatenate([[0], np.cumsum(weights)])
    assert found[0] == 0
    assert found[-1] == len(weights)
    assert (np.diff(found) >= 0).all()
    for k in range(1, parts):
        wanted = ends[-1] * k / parts
        assert abs(ends[found[k]] - wanted) <= np.abs(ends - wanted).min() + 1e-9


def test_a_grid_of_equal_rows_has_bands_too():
    grid = tw.Grid(6, 5, 2)
    assert [tw.Bands(grid, 4).shape(rank) for rank in range(4)] == [(2, 1, 8), (2, 1, 8), (2, 1, 7), (2, 1, 7)]
    rows = tw.Bands(grid, 3, shared=False, weights=[4, 1, 1, 1, 5])
    assert [rows.shape(rank) for rank in range(3)] == [(2, 1, 6), (2, 3, 6), (2, 1, 6)]


def test_an_octahedral_grid_has_four_more_points_in_each_row_from_the_poles():
    grid = tw.ReducedGrid.octahedral(1280, nz=137)
    assert tuple(grid.points) == (6_599_680, 1, 137)  # of O1280 (Malardel et al. 2016)
    assert grid.rows[:3].tolist() == grid.rows[:-4:-1].tolist() == [20, 24, 28]


def test_wavenumbers_are_dealt_to_and_fro_in_runs_and_by_levels():
    lists = snake(9, 3)
    assert [each.tolist() for each in lists] == [[0, 5, 6], [1, 4, 7], [2, 3, 8]]
    layout = tw.Wavenumbers(tw.Grid(9, 4, 5), lists, level_sets=2)
    assert layout.boxes(0) == [([m, 0, 0], [n, 4, 3]) for m, n in ((0, 1), (5, 7))]
    assert layout.shape(4) == (2, 4, 3)
    assert indices(layout, 4)[0].tolist() == [1, 4, 7]
    assert layout.owner((7, 0, 4)) == 4


def test_whole_fields_are_dealt_one_by_one_to_the_last_ranks():
    layout = tw.Whole(tw.Grid(3, 2, 7), ranks=6, servers=2)
    assert [layout.shape(rank) for rank in range(6)] == [(0, 0, 0)] * 4 + [(4, 2, 3), (3, 2, 3)]
    assert owners_of(layout)[0, 0].tolist() == [4, 5, 4, 5, 4, 5, 4]
    assert own_ids(layout, 0).tolist() == []


@given(st.permutations(range(24)), st.lists(st.integers(0, 24), min_size=3, max_size=3))
def test_lists_have_the_points_in_the_order_of_the_arrays(order, ends):
    lists = np.split(np.array(order), sorted(ends))
    layout = tw.Lists(lists)
    owner = owners_of(layout)[:, 0, 0]
    for rank, ids in enumerate(lists):
        assert own_ids(layout, rank).tolist() == ids.tolist()
        assert [begin[0] + i for begin, end in layout.boxes(rank) for i in range(end[0] - begin[0])] == ids.tolist()
        assert (owner[ids] == rank).all()
    assert [layout.owner((i, 0, 0)) for i in range(24)] == owner.tolist()


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: tw.ReducedGrid([4, 0]), "a list of the points of each row, 1 or more, is allowed"),
        (lambda: tw.ReducedGrid.octahedral(0), "octahedral grid O0: O1 and more are allowed"),
        (lambda: tw.Bands(tw.Grid(4, 4, 1), 5, level_sets=2), "2 sets of levels do not divide the ranks evenly"),
        (lambda: tw.Bands(tw.Grid(4, 4, 1), 2, shared=False, weights=[1]), "one number for each of 4 rows"),
        (lambda: tw.Wavenumbers(tw.Grid(3, 1), [[0, 1], [1, 2]]), "wavenumber 1 is in list 0 and in list 1"),
        (lambda: tw.Wavenumbers(tw.Grid(3, 1), [[0], [1]]), "wavenumber 2 is in none of the 2 lists"),
        (lambda: tw.Wavenumbers(tw.Grid(3, 1), [[0, 3]]), "list 0 has wavenumber 3: 0..2 are allowed"),
        (lambda: tw.Whole(tw.Grid(3, 1), 2, 3), "whole fields on 3 servers: 1..2 are allowed among 2 ranks"),
        (lambda: tw.Placed(tw.Blocks(tw.Grid(4, 1), (4, 1)), 1, 4), "4 x 1 ranks from rank 1 on are more than the 4"),
        (lambda: tw.Lists([[0, 1], [3]]), "rank 1 owns point 3 of 3: each of 0..2 has one owner"),
        (lambda: tw.Lists([[0, 1], [1]]), "point 1 is owned twice"),
        (lambda: tw.Lists([[], []]), "lists of 2 ranks hold no points"),
        (lambda: tw.Lists([[0.5]]), "ids, rank 0: an array of shape (1,) and type float64"),
    ],
)
def test_what_is_no_layout_is_refused(make, expected):
    with pytest.raises(InputError) as refused:
        make()
    assert expected in str(refused.value)
