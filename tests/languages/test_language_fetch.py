"""Fetches in C and Fortran: every list, type and shape, and what is refused.

No rank is left waiting. The exception, an invalid handle of points on one rank alone, is not tried: here it is
none on all ranks.
"""

from __future__ import annotations

import pytest

OK, INPUT, PLAN, HANDLE = 0, 1, 2, 3

Expected = dict[str, list[tuple[int, str]]]


RIGHT = [(OK, "")]


def at_0(status: int, text: str) -> list[tuple[int, str]]:
    """Errors on rank 0, which finds the mistake, and on rank 1."""
    return [(status, text), (PLAN, "rank 0 cannot make this plan: " + text)]


def at_1(status: int, text: str) -> list[tuple[int, str]]:
    """Errors on rank 1, which makes or finds the mistake, after those on rank 0."""
    return [(PLAN, "rank 1 cannot make this plan: " + text), (status, text)]


# Expected error of a rank; where there are two, of rank 0 and rank 1.
C: Expected = {
    "before_init": [(PLAN, "MPI is not initialized: call MPI_Init before")],
    "all_that_is_right": RIGHT,
    "null_communicator": [
        (INPUT, "the communicator is the null communicator: it was freed, or this rank is not part of it")
    ],
    "points_null_pointer": [(INPUT, "points is a null pointer")],
    "ids_null_pointer": at_1(INPUT, "ids is a null pointer"),
    "ids_negative": [(INPUT, "-1 entries in ids: 0 or more are allowed")],
    "id_negative": at_1(INPUT, "rank 1 owns point -3: 0 and more are allowed"),
    "owned_twice": at_1(INPUT, "point 7 is owned twice: by rank 0 (its point 0) and by rank 1 (its point 0)"),
    "owned_twice_by_one": at_1(INPUT, "point 9 is owned twice: by rank 1 (its point 0) and by rank 1 (its point 2)"),
    "count_negative": at_1(INPUT, "-4 points: 0 and more are allowed"),
    "layout_null": [(HANDLE, "the layout is TW_NULL: it was never made, or making it failed")],
    "layout_null_on_one_rank": at_1(HANDLE, "the layout is TW_NULL: it was never made, or making it failed"),
    "layout_divides_z": [(INPUT, "a layout that divides z: its columns lie on several ranks, and points are columns")],
    "layout_of_one_rank": [(INPUT, "the communicator has 2 ranks, the layout is made for 1")],
    "no_points": RIGHT,
    "free_points": RIGHT,
    "free_points_twice": [(HANDLE, "no point set has the handle")],
    "unowned": at_1(INPUT, "rank 1 wants point 5 (entry 0 of its list), which no rank owns"),
    "wanted_negative": at_1(INPUT, "rank 1 wants point -1 (entry 0 of its list), which no rank owns"),
    "no_such_column": at_1(INPUT, "rank 1 wants point 96 (entry 0 of its list), which no rank owns"),
    "no_ids": [(INPUT, "these points have no ids: name owners and indices")],
    "wanted_null_pointer": at_1(INPUT, "ids is a null pointer"),
    "wanted_count": at_1(INPUT, "-2 entries in ids: 0 or more are allowed"),
    "pattern_null_pointer": [(INPUT, "pattern is a null pointer")],
    "locate_unowned": at_1(INPUT, "rank 1 wants point 5 (entry 0 of its list), which no rank owns"),
    "locate_null_pointer": [(INPUT, "owner is a null pointer")],
    "count_null_pointer": [(INPUT, "count is a null pointer")],
    "points_null": [(HANDLE, "the point set is TW_NULL: it was never made, or making it failed")],
    "fetch_of_points_null": [(HANDLE, "the point set is TW_NULL: it was never made, or making it failed")],
    "fewer_indices": at_1(INPUT, "rank 1: lists of 2 owners, 1 indices: as many of each are allowed"),
    "fewer_places": at_1(INPUT, "rank 1: lists of 2 owners, 2 indices, 1 places: as many of each are allowed"),
    "owner": at_1(INPUT, "rank 1, entry 0 of its list: owner 2; ranks 0..1 are allowed"),
    "index_negative": at_1(INPUT, "rank 1, entry 0 of its list: index -5; 0 and more are allowed"),
    "index": at_0(INPUT, "rank 1 wants point 5 of rank 0, which has 5: no rank owns it"),
    "place_twice": at_1(INPUT, "rank 1, entry 1 of its list: place 1 of the target array is taken twice"),
    "place": at_1(INPUT, "rank 1, entry 0 of its list: place 9 of the target array, which has 5"),
    "place_negative": at_1(INPUT, "rank 1, entry 0 of its list: place -5 of the target array, which has 0"),
    "place_of_another": RIGHT,
    "ghost_point": at_0(
        INPUT, "rank 0 wants point 1 of rank 0, which that rank takes from elsewhere itself: no rank owns it"
    ),
    "peers_negative": [(INPUT, "-7 peers: 0 or more are allowed, or TW_ANY_PEERS")],
    "peers_on_one_rank": [
        (PLAN, "the ranks make different plans: rank 0 {a fetch}, rank 1 {a fetch among known peers}")
    ],
    "peer": at_1(INPUT, "rank 1 names peer 2; other ranks of 0..1 are allowed"),
    "peer_null_pointer": at_1(INPUT, "peer is a null pointer"),
    "not_each_other": [
        (INPUT, "the ranks do not name each other as peers: each must be among the peers of all of its own")
    ],
    "no_peer": at_1(INPUT, "rank 1 wants points of rank 0, which is not among its peers"),
    "renumbered_null_communicator": [
        (INPUT, "the communicator is the null communicator: it was freed, or this rank is not part of it")
    ],
    "renumbered_own_null": at_1(INPUT, "own is a null pointer"),
    "renumbered_halo_null": at_1(INPUT, "halo is a null pointer"),
    "renumbered_new_own_null": at_1(INPUT, "new_own is a null pointer"),
    "renumbered_new_halo_null": at_1(INPUT, "new_halo is a null pointer"),
    "renumbered_interior_null": at_1(INPUT, "interior is a null pointer"),
    "renumbered_halos_null": [(INPUT, "new_halos is a null pointer")],
    "renumbered_count": at_1(INPUT, "-2 entries in own: 0 or more are allowed"),
    "renumbered_unowned": at_1(INPUT, "rank 1 wants point 7 (entry 0 of its list), which no rank owns"),
    "renumbered_twice": at_1(INPUT, "point 4 is owned twice: by rank 0 (its point 0) and by rank 1 (its point 0)"),
    "renumbered_twice_by_one": at_1(
        INPUT, "point 3 is owned twice: by rank 1 (its point 0) and by rank 1 (its point 1)"
    ),
    "renumbered_negative": at_1(INPUT, "rank 1 owns point -2: 0 and more are allowed"),
    "renumbered": RIGHT,
    "adjoint_of_halo": [(INPUT, "an adjoint of the halo of width 2, periodic in xy: a fetch is allowed")],
    "adjoint_of_adjoint": [(INPUT, "an adjoint of the adjoint of a fetch of 10 points: a fetch is allowed")],
    "adjoint_of_null": [(HANDLE, "the pattern is TW_NULL: it was never made, or making it failed")],
    "adjoint_null_pointer": [(INPUT, "pattern is a null pointer")],
    "levels_of_halo": [(INPUT, "levels of a halo: a fetch and its adjoint have them")],
    "levels_negative": [(INPUT, "a fetch of -1 levels")],
    "levels_null_pointer": [(INPUT, "levels is a null pointer")],
    "box_of_another": [
        (INPUT, "this fetch describes rank 0 alone, not rank 1"),
        (INPUT, "this fetch describes rank 1 alone, not rank 0"),
    ],
    "interior_of_fetch": [(INPUT, "a fetch has no interior and no rim: a halo has")],
    "interior_reach": [(INPUT, "reach 3: 0..2 are allowed, the halo's width")],
    "interior_rank": [(INPUT, "rank 2: 0..1 are allowed")],
    "rim_null_pointer": [(INPUT, "boxes is a null pointer")],
    "rim_reach": [(INPUT, "reach -1: 0..2 are allowed, the halo's width")],
    "widened_by": [(INPUT, "by 3: 0..2 are allowed, the halo's width")],
    "known_to_all_adjoint": [(INPUT, "the lists of the adjoint of a fetch of 10 points: a fetch is allowed")],
    "known_to_all_null_on_one_rank": at_1(HANDLE, "the pattern is TW_NULL: it was never made, or making it failed"),
    "no_target": [(INPUT, "0 target fields of 1 source fields: 1 are allowed, as a fetch has as many of both")],
    "fewer_points": at_1(
        INPUT, "target field 0 has 4 points, but rank 1 of the fetch of 10 points has 5 in its target array"
    ),
    "halo_points": [
        (
            INPUT,
            "source field 0 has 5 points, but rank 0 of the unstructured halo of 10 points has 10 in its source array",
        ),
        (
            INPUT,
            "source field 0 has 5 points, but rank 1 of the unstructured halo of 10 points has 10 in its source array",
        ),
    ],
    "levels": [(INPUT, "target field 0 has the levels (3, 1), source field 0 (1, 1): both have the same")],
    "zero_levels": [(INPUT, "source field 0 has the shape (nx, ny, nz) = (5, 0, 1): an extent below 1 holds no point")],
    "levels_of_ranks": [(PLAN, "the ranks make different plans: rank 0 {fetch of 10 points, 2 levels, lists ")],
    "levels_by_field": [(PLAN, "3 x f8 from fields of the levels 2 x 1, 1 x 1, isend")],
    "types": [(INPUT, "target field 0 has the type i8, source field 0 f8: all fields of a plan have one type")],
    "overlap": [(INPUT, "target field 0 and source field 0 overlap in memory: the plan writes into the first")],
    "no_memory": [(INPUT, "target field 0 has no memory: its data is a null pointer")],
    "axis": [(INPUT, "axis 3 over points: 0, 1 and 2 (x, y, z) are allowed")],
    "axis_of_vector": [(INPUT, "axis y over points: source field 0 has 1 dimension")],
    "radix": [(INPUT, "two-level-9: radix 9 is out of range, 1..2 are allowed for 2 ranks")],
    "passed_on_by_rank_0": [(PLAN, "the ranks make different plans: rank 0 {fetch of 10 points, lists ")],
    "passed_on_by_rank_1": at_1(INPUT, "two-level and leaders pass points on from rank to rank"),
    "algorithm": [(INPUT, "sweep is an algorithm of halo, not of fetch")],
    "native": [(INPUT, "algorithm 'native': MPI has one for transpose and allreduce, none for fetch")],
    "environment": [
        (INPUT, "TRADEWIND_FETCH='direct,shared,datatype': transport 'shared' does not go with packing 'datatype'")
    ],
    "other_ranks": [(INPUT, "the communicator has 1 ranks, but the fetch of 10 points is made for 2")],
    "of_ids": RIGHT,
    "fetch": RIGHT,
    "free": RIGHT,
    "count_freed": [(HANDLE, "no point set has the handle")],
    "locate_freed": [(HANDLE, "no point set has the handle")],
    "fetch_freed": [(HANDLE, "no point set has the handle")],
    "free_freed": [(HANDLE, "no point set has the handle")],
    "halo_freed": [(HANDLE, "no point set has the handle")],
    "pattern_after_failure": [(HANDLE, "the pattern is TW_NULL: it was never made, or making it failed")],
    "of_ids_again": RIGHT,
    "fetch_again": RIGHT,
    "free_again": RIGHT,
    "plan_of_fetch_that_outlives": RIGHT,
    "free_pattern": RIGHT,
    "adjoint_of_freed": [(HANDLE, "no pattern has the handle")],
    "start": RIGHT,
    "free_while_started": [(PLAN, "a plan freed while it is under way: wait for it first: fetch of 10 points, direct")],
    "wait": RIGHT,
    "free_plan": RIGHT,
    "call_freed": [(HANDLE, "no plan has the handle")],
    "after_finalize": [(PLAN, "MPI is finalized: nothing can be exchanged any more")],
    "free_after_finalize": RIGHT,
}
FORTRAN: Expected = {
    "of_ids": RIGHT,
    "of_count": RIGHT,
    "of_layout": RIGHT,
    "fetch": RIGHT,
    "halo": RIGHT,
    "index_0": at_1(INPUT, "rank 1, entry 0 of its list: index -1; 0 and more are allowed"),
    "index_6": at_0(INPUT, "rank 1 wants point 5 of rank 0, which has 5: no rank owns it"),
    "index_5": RIGHT,
    "place_0": at_1(INPUT, "rank 1, entry 0 of its list: place -1 of the target array, which has 5"),
    "place_6": at_1(INPUT, "rank 1, entry 0 of its list: place 5 of the target array, which has 5"),
    "column_0": at_1(INPUT, "rank 1 wants point -1 (entry 0 of its list), which no rank owns"),
    "column_97": at_1(INPUT, "rank 1 wants point 96 (entry 0 of its list), which no rank owns"),
    "column_96": RIGHT,
    "id_0": at_1(INPUT, "rank 1 wants point 0 (entry 0 of its list), which no rank owns"),
    "negative_id": at_1(INPUT, "rank 1 owns point -1: 0 and more are allowed"),
    "owned_twice": at_1(INPUT, "point 7 is owned twice: by rank 0 (its point 0) and by rank 1 (its point 0)"),
    "owned_twice_by_one": at_1(INPUT, "point 7 is owned twice: by rank 1 (its point 0) and by rank 1 (its point 2)"),
    "indices": at_1(INPUT, "rank 1: lists of 2 owners, 1 indices: as many of each are allowed"),
    "no_places": at_1(INPUT, "rank 1: lists of 2 owners, 2 indices, 0 places: as many of each are allowed"),
    "more_places": at_1(INPUT, "rank 1: lists of 1 owners, 1 indices, 2 places: as many of each are allowed"),
    "owner": at_1(INPUT, "rank 1, entry 0 of its list: owner 2; ranks 0..1 are allowed"),
    "peers": [(INPUT, "the ranks do not name each other as peers: each must be among the peers of all of its own")],
    "no_peers": at_1(INPUT, "rank 1 wants points of rank 0, which is not among its peers"),
    "never_made": [(HANDLE, "the point set is TW_NULL: it was never made, or making it failed")],
    "count_never_made": [(HANDLE, "the point set is TW_NULL: it was never made, or making it failed")],
    "locate_unowned": at_1(INPUT, "rank 1 wants point 6 (entry 0 of its list), which no rank owns"),
    "renumbered_unowned": at_1(INPUT, "rank 1 wants point 7 (entry 0 of its list), which no rank owns"),
    "renumbered_twice": at_1(INPUT, "point 4 is owned twice: by rank 0 (its point 0) and by rank 1 (its point 0)"),
    "renumbered_twice_by_one": at_1(
        INPUT, "point 4 is owned twice: by rank 1 (its point 0) and by rank 1 (its point 1)"
    ),
    "renumbered_negative": at_1(INPUT, "rank 1 owns point -4: 0 and more are allowed"),
    "adjoint_never_made": [(HANDLE, "the pattern is TW_NULL: it was never made, or making it failed")],
    "interior_of_fetch": [(INPUT, "a fetch has no interior and no rim: a halo has")],
    "box_of_another": [
        (INPUT, "this fetch describes rank 0 alone, not rank 1"),
        (INPUT, "this fetch describes rank 1 alone, not rank 0"),
    ],
    "zero_points": [
        (INPUT, "target field 0 has 0 points, but rank 0 of the fetch of 10 points has 5 in its target array"),
        (INPUT, "target field 0 has 0 points, but rank 1 of the fetch of 10 points has 5 in its target array"),
    ],
    "zero_points_on_one_rank": at_1(
        INPUT, "source field 0 has 0 points, but rank 1 of the fetch of 10 points has 5 in its source array"
    ),
    "zero_levels": [(INPUT, "source field 0 has the shape (nx, ny, nz) = (5, 0, 1): an extent below 1 holds no point")],
    "zero_points_of_levels": [
        (
            INPUT,
            "source field 0 has 0 points, but rank 0 of the unstructured halo of 2 points has 6 in its source array",
        ),
        (
            INPUT,
            "source field 0 has 0 points, but rank 1 of the unstructured halo of 2 points has 6 in its source array",
        ),
    ],
    "axis": [
        (INPUT, "source field 0 has 3 points, but rank 0 of the fetch of 10 points has 5 in its source array"),
        (INPUT, "source field 0 has 3 points, but rank 1 of the fetch of 10 points has 5 in its source array"),
    ],
    "axis_0": [(INPUT, "axis -1 over points: 0, 1 and 2 (x, y, z) are allowed")],
    "rank_1": [(INPUT, "axis y over points: source field 0 has 1 dimension")],
    "rank_2": [(INPUT, "axis z over points: source field 0 has 2 dimensions")],
    "levels": [(INPUT, "target field 0 has the levels (1, 1), source field 0 (3, 2): both have the same")],
    "kinds": [(INPUT, "target field 0 has the type f4, source field 0 f8: all fields of a plan have one type")],
    "no_targets": [(INPUT, "0 target fields of 1 source fields: 1 are allowed, as a fetch has as many of both")],
    "made": RIGHT,
    "call": RIGHT,
    "free_plan": RIGHT,
    "free": RIGHT,
    "free_twice": [(HANDLE, "no point set has the handle")],
    "halo_of_freed": [(HANDLE, "no point set has the handle")],
    "fetch_of_freed": [(HANDLE, "no point set has the handle")],
    "locate_freed": [(HANDLE, "no point set has the handle")],
    "count_freed": [(HANDLE, "no point set has the handle")],
    "known_to_all_of_freed": [(HANDLE, "no point set has the handle")],
    "free_pattern": RIGHT,
    "adjoint_of_freed": [(HANDLE, "no pattern has the handle")],
    "levels_of_freed": [(HANDLE, "no pattern has the handle")],
    "plan_of_freed": [(HANDLE, "no pattern has the handle")],
}


@pytest.mark.one_level
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_points_arrive_and_are_added_back(on_ranks, ranks):
    assert on_ranks(ranks, "fetches_c").stdout == "all right\n"


def test_fortran_kinds_of_fetches(on_ranks):
    assert on_ranks(2, "fetch_kinds_fortran").stdout == "all right\n"


@pytest.mark.parametrize(("program", "expected"), [("fetch_refusals_c", C), ("fetch_refusals_fortran", FORTRAN)])
def test_fetches_are_refused_on_every_rank(met, program, expected):
    for rank, cases in enumerate(met(program)):
        assert list(cases) == list(expected)
        for name, wanted in expected.items():
            status, words = wanted[rank % len(wanted)]
            assert (cases[name][0], words in cases[name][1]) == (status, True), f"{name}: {cases[name]}"


@pytest.mark.one_level
def test_messages_do_not_grow_with_the_ranks(on_ranks):
    """No rank sends to all, or receives from all; that the program counts at all is seen in what an exchange sends."""
    few, many = (on_ranks(ranks, "sparse_messages_c").stdout.splitlines() for ranks in (3, 8))
    assert few == many
    assert [line.split()[-2] for line in few] == ["0"] * 10
    assert (few[-1], len(few)) == ("exchange: 1 0 0", 10)
