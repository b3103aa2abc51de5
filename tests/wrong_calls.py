"""Wrong calls of a field server, and how each is answered in any language: the kind of error, and a part of its text.

Models of two ranks, in C, Fortran and Python, make all of them, in this order, beside a server, and go on after each.
Their programs have the same names: languages/programs/server_refusals.c and .f90, fieldserver/wrong_calls_model.py.
"""

OK, INPUT, PLAN, HANDLE, WRITE = 0, 1, 2, 3, 6
"""Statuses of tradewind.h; in Python InputError, PlanError and WriteError are raised."""

CALLS = {
    "define_twice": (INPUT, "field t is defined twice"),
    "define_other_grid": (INPUT, "field u: the layout has 48 points per level, its grid 24"),
    "define_outside": (INPUT, "latitudes -90..90"),
    "define_no_geometry": (INPUT, "geometry "),
    "define_name": (INPUT, "field 'a/b': a name without '/'"),
    "define_levels": (INPUT, "field u: 5 levels are named, and the layout has 2"),
    "define_element": (INPUT, "unknown element type 'c8'"),
    "define_level_type": (INPUT, "unknown level type 'presure'; did you mean 'pressure'?"),
    "define_points_twice": (INPUT, "field p: the ranks name 48 points, 0 of them outside 0..47: each of the 48 points"),
    "define_points_outside": (INPUT, "field p: the ranks name 48 points, 1 of them outside 0..47"),
    "define_points_missing": (INPUT, "field p: the ranks name 47 points"),
    "define_units": (INPUT, r"units of u: '\udcb0C': a text of one line, in UTF-8, is allowed"),
    "write_unknown": (INPUT, "unknown field 'v' (known: t)"),
    "write_shape": (INPUT, " is this rank's part"),
    "write_type": (INPUT, "f8 is"),
    "write_level": (INPUT, "field t: level 1 of 2, and its layout has all of them: none is to be named"),
    "write_step": (INPUT, "step -3: "),
    "write_far_step": (INPUT, "step 9223372036854775807: "),
    "write_low_level": (INPUT, "level -5"),
    "end_far_step": (INPUT, "step 9223372036854775807: "),
    "write": (OK, ""),
    "write_twice": (INPUT, "field t, step 2, level 0: it is written twice"),
    "end_step": (OK, ""),
    "define_late": (INPUT, "field 'manifest' would be in 'manifest', the folder of manifests"),
    "write_ended": (INPUT, "field t: step 2 has ended: step 3 or later is allowed"),
    "end_again": (INPUT, "step 1 has ended: steps end once, in ascending order"),
    "read_not_named": (INPUT, "read of none.grib: unknown input file 'none.grib'; there is none"),
    "prefetch_nothing": (INPUT, "prefetch "),
    "prefetch": (OK, ""),
    "read_missing": (INPUT, "none.grib"),
    "read_latin": (INPUT, "No such file"),
    "wants": (OK, ""),
    "close": (OK, ""),
}

COMPILED = {
    "open_null_communicator": (INPUT, ""),
    "define_kind": (INPUT, "grid of kind 9: 0..7 of tw_grid_kind is allowed"),
    "define_layout": (HANDLE, "the layout is TW_NULL"),
    "define_ids": (INPUT, "-1 entries in ids: 0 or more are allowed"),
    "define_no_rows": (INPUT, "rows is a null pointer"),
    "write_null": (INPUT, "values is a null pointer"),
    "write_dimensions": (INPUT, "values have 4 dimensions: 0 to 3 are allowed"),
    "wants_null": (INPUT, "wants is a null pointer"),
    "closed": (HANDLE, "no field server has the handle"),
}
"""Those that Python has no words for."""

NOT_IN_FORTRAN = {
    "open_null_communicator",
    "define_no_geometry",
    "define_kind",
    "define_ids",
    "define_no_rows",
    "write_far_step",
    "write_null",
    "end_far_step",
    "wants_null",
}
"""Fortran has no null pointers here, no other kinds of grids, and steps of 32 bits; this module of MPI knows no null
communicator."""
