"""Wrong input and wrong use in C and Fortran: a status and a text on every rank; no rank is left waiting."""

from __future__ import annotations

import pytest

OK, INPUT, PLAN, HANDLE, WRITE = 0, 1, 2, 3, 6

# The error that a rank must get; where two stand, those of rank 0 and rank 1.
Expected = dict[str, list[tuple[int, str]]]
C: Expected = {
    "before_init": [(PLAN, "MPI is not initialized: call MPI_Init before")],
    "layout_null_pointer": [(INPUT, "layout is a null pointer")],
    "points_null_pointer": [(INPUT, "points is a null pointer")],
    "split": [(INPUT, "split 20x1: 20 ranks do not divide the 12 points along x among them (1..12 are allowed)")],
    "points": [(INPUT, "grid: ny = 0 is not a number of points (1..2147483647 are allowed)")],
    "axes": [(INPUT, 'axes "xx": two different letters of x, y, z are allowed')],
    "along": [(INPUT, "pencils along 'w': x, y or z are allowed")],
    "rows": [(INPUT, "bands of 0 rows: 1 or more are allowed")],
    "level_sets": [(INPUT, "bands on 2 ranks: 3 sets of levels do not divide the ranks evenly")],
    "servers": [(INPUT, "whole fields on 3 servers: 1..2 are allowed among 2 ranks")],
    "owner": [(INPUT, "point 2 belongs to part 2: 0..1 are allowed")],
    "lines_cut": [(INPUT, "places of lines are cut from 0 to 1: cuts from 0 to 2, the number of places, are allowed")],
    "lines_divided": [(INPUT, "lines whose fields, places and numbers are all divided: two are allowed")],
    "lines_too_long": [(INPUT, "lines: a line ends at 12, and y has 2 points")],
    "placed": [(INPUT, "xy blocks: 2 x 1 ranks from rank 1 on are more than the 2 that there are")],
    "bands": [(OK, "")],
    "halo_of_bands": [(INPUT, "a halo of bands (x 23 in 2, y 1 in 1, z 4 in 1) on ranks 0..1 of 2: blocks or pencils")],
    "transpose_of_other_grids": [(INPUT, "transpose: the two layouts divide different grids")],
    "layout_null": [(HANDLE, "the layout is TW_NULL: it was never made, or making it failed")],
    "rank": [(INPUT, "rank 2: 0..1 are allowed")],
    "side": [(INPUT, "side 7: TW_SOURCE and TW_TARGET are allowed")],
    "width": [(INPUT, "width -1: a halo is 0 or more points wide")],
    "ranks": [(INPUT, "allreduce among 0 ranks: 1 or more are allowed")],
    "blocks": [(OK, "")],
    "free": [(OK, "")],
    "free_twice": [(HANDLE, "no layout has the handle")],
    "layout_freed": [(HANDLE, "no layout has the handle")],
    "no_memory": [(INPUT, "source field 0 has no memory: its data is a null pointer")],
    "zero_extent": [
        (INPUT, "source field 0 has the shape (nx, ny, nz) = (10, 0, 3): an extent below 1 holds no point")
    ],
    "four_dimensions": [(INPUT, "source field 0 has 4 dimensions: 1, 2 and 3 are allowed")],
    "vector": [
        (INPUT, "source field 0 has 1 dimension: a halo takes arrays over x, y and z, or over x and y of one level")
    ],
    "element": [(INPUT, "element type 9: TW_F4, TW_F8, TW_I4, TW_I8, TW_C8 and TW_C16 are allowed")],
    "stride_zero": [
        (INPUT, "source field 0 has a stride of 0 bytes along z: whole elements of 8 bytes, and not 0, are allowed")
    ],
    "stride_odd": [
        (INPUT, "source field 0 has a stride of 12 bytes along x: whole elements of 8 bytes, and not 0, are allowed")
    ],
    "unaligned": [(INPUT, "source field 0 is not aligned: its address is no multiple of 8 bytes")],
    "shape": [
        (INPUT, "source field 0 has the shape (nz, ny, nx) = (3, 11, 10), but rank 0"),
        (INPUT, "source field 0 has the shape (nz, ny, nx) = (3, 11, 10), but rank 1"),
    ],
    "shape_on_one_rank": [
        (PLAN, "rank 1 cannot make this plan: source field 0 has the shape (nz, ny, nx) = (3, 11, 10), but rank 1"),
        (INPUT, "source field 0 has the shape (nz, ny, nx) = (3, 11, 10), but rank 1"),
    ],
    "same_array_twice": [
        (INPUT, "source field 0 and source field 1 overlap in memory: the plan writes into the first")
    ],
    "types": [(INPUT, "source field 1 has the type i8, source field 0 f8: all fields of a plan have one type")],
    "overlap": [(INPUT, "source field 0 and source field 1 overlap in memory: the plan writes into the first")],
    "no_field": [(INPUT, "0 source fields: one or more are allowed")],
    "fields_null_pointer": [(INPUT, "source is a null pointer")],
    "target_in_place": [(INPUT, "1 target fields of 1 source fields: 0 are allowed, as a halo works in place")],
    "target_missing": [
        (INPUT, "0 target fields of 1 source fields: 1 are allowed, as a transpose has as many of both")
    ],
    "fewer_targets": [(INPUT, "1 target fields of 2 source fields: 2 are allowed, as a transpose has as many of both")],
    "target_overlaps": [(INPUT, "target field 0 and source field 0 overlap in memory: the plan writes into the first")],
    "plan_null_pointer": [(INPUT, "plan is a null pointer")],
    "null_communicator": [
        (INPUT, "the communicator is the null communicator: it was freed, or this rank is not part of it")
    ],
    "other_ranks": [(INPUT, "the communicator has 1 ranks, but the halo of width 2, periodic in xy is made for 2")],
    "transport": [(INPUT, "unknown transport 'isend-irevc'")],
    "algorithm": [(INPUT, "unknown halo algorithm 'swep'; did you mean 'sweep'?")],
    "native": [(INPUT, "algorithm 'native': MPI has one for transpose and allreduce, none for halo")],
    "different_plans": [
        (PLAN, "the ranks make different plans: rank 0 {halo of width 2, periodic in xy, 12 x 8 x 3 points, ")
    ],
    "algorithm_on_one_rank": [
        (PLAN, "rank 1 cannot make this plan: unknown halo algorithm 'sweeep'; did you mean 'sweep'?"),
        (INPUT, "unknown halo algorithm 'sweeep'; did you mean 'sweep'?"),
    ],
    "packing": [
        (INPUT, "transport 'shared' does not go with packing 'datatype': it goes with buffer, direct, and 'datatype'")
    ],
    "watchdog": [(INPUT, "watchdog of -1.000000 s: 0 (none) to 1e9 seconds are allowed")],
    "record": [(INPUT, "record 5: TW_RECORD_NOTHING and TW_RECORD_TOTALS are allowed")],
    "environment": [
        (
            INPUT,
            "TRADEWIND_HALO='sweep,neighbor': transport 'neighbor' carries a schedule of one stage, and sweep has 2",
        )
    ],
    "environment_parts": [
        (INPUT, "TRADEWIND_HALO='a,b,c,d': 4 parts, but ALGORITHM,TRANSPORT,PACKING are allowed, like sweep,,buffer")
    ],
    "plan_null": [(HANDLE, "the plan is TW_NULL: it was never made, or making it failed")],
    "wait_first": [(PLAN, "wait for a plan that was not started: start it first")],
    "poke_first": [(PLAN, "poke of a plan that was not started: start it first")],
    "pokes_null_pointer": [(INPUT, "pokes is a null pointer")],
    "start": [(OK, "")],
    "start_twice": [(PLAN, "start of a plan that is under way: wait for it first")],
    "call_while_started": [(PLAN, "start of a plan that is under way: wait for it first")],
    "free_while_started": [
        (PLAN, "a plan freed while it is under way: wait for it first: halo of width 2, periodic in xy, sweep")
    ],
    "poke": [(OK, "")],
    "wait": [(OK, "")],
    "text_null_pointer": [(INPUT, "text is a null pointer")],
    "free_plan": [(OK, "")],
    "plan_freed": [(HANDLE, "no plan has the handle")],
    "text_freed": [(HANDLE, "no plan has the handle")],
    "origin_freed": [(HANDLE, "no plan has the handle")],
    "traffic_freed": [(HANDLE, "no plan has the handle")],
    "the_next_plan": [(OK, "")],
    "free_plan_twice": [(HANDLE, "no plan has the handle")],
    "free_other": [(OK, "")],
    "no_handle_at_all": [(HANDLE, "no plan has the handle")],
    "on_own_communicator": [(OK, "")],
    "communicator_gone": [
        (
            PLAN,
            "a plan used after its communicator is gone: rank 0 has freed the communicator that the plan was made on",
        ),
        (
            PLAN,
            "a plan used after its communicator is gone: rank 1 has freed the communicator that the plan was made on",
        ),
    ],
    "free_after_communicator": [(OK, "")],
    "empty_side": [(INPUT, "side 3: TW_SOURCE and TW_TARGET are allowed")],
    "empty_rank": [(INPUT, "rank 5: 0..1 are allowed")],
    "empty_element": [(INPUT, "element type -1: TW_F4, TW_F8, TW_I4, TW_I8, TW_C8 and TW_C16 are allowed")],
    "empty": [(OK, "")],
    "shared": [(OK, "")],
    "release": [(OK, "")],
    "release_twice": [
        (HANDLE, "no memory of tw_empty begins at this address: it was never given, or has been released")
    ],
    "call_after_release": [(OK, "")],
    "free_shared": [(OK, "")],
    "release_foreign": [
        (HANDLE, "no memory of tw_empty begins at this address: it was never given, or has been released")
    ],
    "guarded": [(OK, "")],
    "alone": [(PLAN, "rank 0, stage 0 of halo of width 2, periodic in xy, sweep: after 0.5 s still waiting for")],
    "call_after_failure": [(PLAN, "a plan that has failed cannot be used again: make a new one")],
    "free_after_failure": [(OK, "")],
    "another": [(OK, "")],
    "made_alone": [(PLAN, "rank 0, making a plan: after 0.3 s still waiting for all other ranks to make it, too")],
    "record_end_first": [(PLAN, "no recording is under way: begin one first")],
    "record_null_communicator": [
        (INPUT, "the communicator is the null communicator: it was freed, or this rank is not part of it")
    ],
    "record_begin": [(OK, "")],
    "record_begin_twice": [(PLAN, "a recording is under way: end it before the next one begins")],
    "record_open": [(INPUT, "an exchange that was started in the recording, and not awaited: halo of width 2")],
    "record_no_path": [
        (PLAN, "rank 1 cannot end this recording: path is empty: the name of a file is allowed"),
        (INPUT, "path is empty: the name of a file is allowed"),
    ],
    "record_no_folder": [
        (WRITE, "a recorded program could not be written: /nowhere/at/all/step.toml: No such file or directory")
    ],
    "halo": [(OK, "")],
    "pattern_freed_on_one_rank": [
        (PLAN, "rank 1 cannot make this plan: no pattern has the handle"),
        (HANDLE, "no pattern has the handle"),
    ],
    "pattern_freed": [(HANDLE, "no pattern has the handle")],
    "free_pattern": [(OK, "")],
    "plan_outlives_pattern": [(OK, "")],
    "start_last": [(OK, "")],
    "after_finalize": [(PLAN, "a plan used after MPI was finalized")],
}
FORTRAN: Expected = {
    "zero_extent": [
        (INPUT, "source field 0 has the shape (nx, ny, nz) = (10, 12, 0): an extent below 1 holds no point")
    ],
    "zero_extent_on_one_rank": [
        (PLAN, "rank 1 cannot make this plan: source field 0 has the shape (nx, ny, nz) = (10, 12, 0)"),
        (INPUT, "source field 0 has the shape (nx, ny, nz) = (10, 12, 0): an extent below 1 holds no point"),
    ],
    "rank_1": [
        (INPUT, "source field 0 has 1 dimension: a halo takes arrays over x, y and z, or over x and y of one level")
    ],
    "rank_2": [
        (INPUT, "source field 0 has the shape (nz, ny, nx) = (1, 12, 10), but rank 0"),
        (INPUT, "source field 0 has the shape (nz, ny, nx) = (1, 12, 10), but rank 1"),
    ],
    "rank_3": [(INPUT, "source field 0 has 3 dimensions: a reduction takes vectors, of one")],
    "rank_4": [(INPUT, "source field 0 has 4 dimensions: 1, 2 and 3 are allowed")],
    "scalar": [(INPUT, "source field 0 has 0 dimensions: 1, 2 and 3 are allowed")],
    "other_type": [(INPUT, "are allowed, in Fortran real(4), real(8), integer(4), integer(8), complex(4) and")],
    "other_type_on_one_rank": [
        (
            PLAN,
            "rank 1 cannot make this plan: element type -1: TW_F4, TW_F8, TW_I4, TW_I8, TW_C8",
        ),
        (
            INPUT,
            "element type -1: TW_F4, TW_F8, TW_I4, TW_I8, TW_C8 and TW_C16 are allowed, in Fortran real",
        ),
    ],
    "not_allocated": [(INPUT, "source field 0 has ")],
    "extents": [
        (INPUT, "source field 0 has the shape (nz, ny, nx) = (3, 12, 9), but rank 0"),
        (INPUT, "source field 0 has the shape (nz, ny, nx) = (3, 12, 9), but rank 1"),
    ],
    "kinds": [(INPUT, "source field 1 has the type f4, source field 0 f8: all fields of a plan have one type")],
    "no_targets": [(INPUT, "0 target fields of 1 source fields: 1 are allowed, as a transpose has as many of both")],
    "more_targets": [(INPUT, "2 target fields of 1 source fields: 1 are allowed, as a transpose has as many of both")],
    "no_fields": [(INPUT, "0 source fields: one or more are allowed")],
    "never_made": [(HANDLE, "the plan is TW_NULL: it was never made, or making it failed")],
    "layout_never_made": [(HANDLE, "the layout is TW_NULL: it was never made, or making it failed")],
    "pattern_after_failure": [(HANDLE, "the pattern is TW_NULL: it was never made, or making it failed")],
    "empty_rank": [(INPUT, "rank 2: 0..1 are allowed")],
    "algorithm": [(INPUT, "ring-2 is an algorithm of transpose, not of halo (which has sweep, direct,")],
    "operation": [(INPUT, 'operation "mean": sum, min, max and prod are allowed')],
    "made": [(OK, "")],
    "wait_first": [(PLAN, "wait for a plan that was not started: start it first")],
    "poke_first": [(PLAN, "poke of a plan that was not started: start it first")],
    "pokes": [(OK, "")],
    "text": [(OK, "")],
    "free": [(OK, "")],
    "call_after_free": [(HANDLE, "no plan has the handle")],
    "text_after_free": [(HANDLE, "no plan has the handle")],
    "way_after_free": [(HANDLE, "no plan has the handle")],
    "origin_after_free": [(HANDLE, "no plan has the handle")],
    "start_after_free": [(HANDLE, "no plan has the handle")],
    "wait_after_free": [(HANDLE, "no plan has the handle")],
    "traffic_after_free": [(HANDLE, "no plan has the handle")],
    "seconds_after_free": [(HANDLE, "no plan has the handle")],
    "free_twice": [(HANDLE, "no plan has the handle")],
    "free_layout": [(OK, "")],
    "free_layout_twice": [(HANDLE, "no layout has the handle")],
    "box_of_freed_layout": [(HANDLE, "no layout has the handle")],
    "halo_of_freed_layout": [(HANDLE, "no layout has the handle")],
    "transpose_of_freed_layout": [(HANDLE, "no layout has the handle")],
    "plan_of_pattern_that_outlives": [(OK, "")],
    "free_pattern": [(OK, "")],
    "free_pattern_twice": [(HANDLE, "no pattern has the handle")],
    "box_of_freed_pattern": [(HANDLE, "no pattern has the handle")],
    "plan_of_freed_pattern": [(HANDLE, "no pattern has the handle")],
    "call_of_plan_that_outlives": [(OK, "")],
    "free_last": [(OK, "")],
}


@pytest.mark.parametrize(("program", "expected"), [("refusals_c", C), ("refusals_fortran", FORTRAN)])
def test_refused_on_every_rank(met, program, expected):
    for rank, cases in enumerate(met(program)):
        only_first = () if rank == 0 else ("alone", "call_after_failure", "free_after_failure", "made_alone")
        assert list(cases) == [name for name in expected if name not in only_first]
        for name, wanted in ((name, expected[name]) for name in cases):
            status, words = wanted[rank % len(wanted)]
            assert (cases[name][0], words in cases[name][1]) == (status, True), f"{name}: {cases[name]}"
