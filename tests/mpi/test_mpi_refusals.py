"""Wrong input and wrong use: every rank gets an error, none is left waiting."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache

import pytest

pytest.importorskip("mpi4py.MPI")

import mpi_refusals as refusals

from tradewind import launch

DIFFERENT = "PlanError: the ranks make different plans: rank 0 {"

# The error that a rank that meets it must get; where two texts stand, those of rank 0 and rank 1.
EXPECTED = {
    "shape_on_one_rank": [
        "PlanError: rank 1 cannot make this plan: source field 0 has the shape",
        "InputError: source field 0 has the shape (nz, ny, nx) = (4, 13, 10), but rank 1 of halo of width 2, periodic "
        "in xy needs (nz, ny, nx) = (4, 14, 10)",
    ],
    "dimensions": ["InputError: a field of shape (5,): three dimensions, (nz, ny, nx), are allowed"],
    "fortran_shape": ["has the shape (nz, ny, nx) = (10, 14, 4), but rank"],
    "mixed_types": [
        "InputError: source field 1 has the type float32, field 0 float64: all fields of a plan have one type"
    ],
    "unknown_type": ["InputError: source field 0 has the type uint16: f4, f8, i4, i8, c8, c16 in native"],
    "byte_order": ["InputError: source field 0 has the type >f8"],
    "no_array": [
        "InputError: source field 0 is a list: an array is allowed, NumPy's or one with DLPack or the buffer protocol"
    ],
    "no_field": ["InputError: no source field"],
    "read_only": ["InputError: source field 0 is read-only"],
    "same_array_twice": ["InputError: field 0 and field 1 overlap in memory"],
    "target_in_place": ["InputError: a halo works in place: give no target"],
    "target_missing": ["InputError: a transpose needs target arrays"],
    "target_overlaps": ["InputError: target field 0 and source field 0 overlap in memory"],
    "fewer_targets": ["InputError: 2 source fields and 1 target fields: as many of both are allowed"],
    "other_ranks": ["InputError: the communicator has 2 ranks, but the halo of width 2, periodic in xy is made for 3"],
    "dims": ["InputError: dims 'zxx'"],
    "transport": ["InputError: unknown transport 'isend-irevc'; did you mean 'isend-irecv'?"],
    "packing": [
        "InputError: transport 'shared' does not go with packing 'datatype': it goes with buffer, direct, and "
        "'datatype' with sendrecv, isend-recv"
    ],
    "several_stages": [
        "InputError: transport 'neighbor' carries a schedule of one stage, and sweep has 2 (one stage have burst of a "
        "transpose, direct of a halo or a fetch, pairwise of a gather-scatter); any number of stages carry sendrecv"
    ],
    "direct_in_small_runs": [
        'InputError: packing "direct": one message is more than 65536 contiguous runs, the first of 8 bytes'
    ],
    "different_transports": ["PlanError: the ranks make different plans: rank 0 {halo of width 2"],
    "watchdog": ["InputError: watchdog of -1.000000 s: 0 (none) to 1e9 seconds are allowed"],
    "record": ['InputError: record "everything": totals, events and nothing are allowed'],
    "record_on_one_rank": [
        'PlanError: rank 1 cannot make this plan: record "everything"',
        'InputError: record "everything": totals, events and nothing are allowed',
    ],
    "algorithm": ["InputError: unknown"],
    "operation_of_a_halo": [
        "InputError: operation max: a reduction has one, the halo of width 2, periodic in xy has none"
    ],
    "native_halo": ["InputError: algorithm 'native': MPI has one for transpose and allreduce, none for halo"],
    "complex_minimum": ["InputError: the min of complex numbers is not defined: sum and prod are allowed"],
    "operation": ['InputError: operation "mean": sum, min, max and prod are allowed'],
    "operation_on_one_rank": [
        'InputError: operation "mean": sum, min, max and prod are allowed',
        'PlanError: rank 0 cannot make this plan: operation "mean"',
    ],
    "null_communicator": ["InputError: comm is the null communicator"],
    "different_plans": ["PlanError: the ranks make different plans: rank 0 {halo of width 2"],
    "different_lists": [f"{DIFFERENT}fetch of 4 points, lists "],
    "different_lists_of_the_same_runs": [f"{DIFFERENT}fetch of 4 points, lists "],
    "different_lists_to_gather": [f"{DIFFERENT}the lists of a fetch of 2 points"],
    "fetches_of_their_own": [f"{DIFFERENT}fetch of 2 points, lists "],
    "different_levels": [f"{DIFFERENT}fetch of 2 points, 6 levels"],
    "different_levels_by_field": ["3 x f8 from fields of the levels 1 x 2, 1 x 1, isend"],
    "different_layers_by_field": ["3 x f8 from fields of the levels 1 x 2, 1 x 1, isend"],
    "different_algorithms": [
        "PlanError: the ranks make different plans: rank 0 {halo of width 2, periodic in xy, 12 x 10 x 4 points, split "
        "2 x 1 along xy, sweep"
    ],
    "communicator_gone": ["PlanError: a plan used after its communicator is gone: rank"],
    "start_twice": ["PlanError: start of a plan that is under way: wait for it first"],
    "wait_first": ["PlanError: wait for a plan that was not started: start it first"],
    "call_while_started": ["PlanError: start of a plan that is under way: wait for it first"],
    "destroyed_in_flight": [
        "RuntimeWarning: a plan destroyed while it is under way, before its wait, is abandoned; other ranks may wait "
        "for this one: halo of width 2"
    ],
    "overlaps_itself": ["InputError: field 0 overlaps itself: its strides bring two of its elements to one place"],
    "target_overlaps_itself": ["InputError: target field 0 overlaps itself"],
    "repeated": ["InputError: source field 0 repeats elements (strides (0, "],
    "ids_too_large": ["InputError: ids: entry 1 is 9223372036854775808: up to 2^63 - 1 are allowed"],
    "wanted_too_large": ["InputError: wanted: entry 0 is 18446744073709551616: up to 2^63 - 1 are allowed"],
}


@cache
def outcomes() -> dict[str, list[str]]:
    return launch.run(2, "mpi_refusals:run", list(EXPECTED), timeout_s=240)


def test_every_refusal_is_expected():
    assert set(EXPECTED) == set(refusals.ALL) - {"run", "interleaved"}


@pytest.mark.parametrize("name", EXPECTED)
def test_refused_on_every_rank(name):
    wanted = EXPECTED[name]
    for rank, met in enumerate(outcomes()[name]):
        assert wanted[rank % len(wanted)] in met


def test_plans_under_way_together_do_not_mix():
    outcome = launch.run(2, "mpi_refusals:interleaved", None, timeout_s=240)
    for rank, halos in enumerate(outcome):
        for number, (west, east, north) in enumerate(halos):
            assert (west, east) == (100 * number + 1 - rank,) * 2
            assert north == 100 * number + rank


def _python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=240,
        env=os.environ | environment,
        check=False,
    )


def test_plan_after_finalize():
    done = _python(
        "import numpy as np\n"
        "from tradewind import _core, mpi\n"
        "plan = mpi.plan(_core.AllReduce(1, 3), mpi.MPI.COMM_WORLD, np.zeros(3))\n"
        "mpi.MPI.Finalize()\n"
        "plan()\n"
    )
    assert "PlanError: a plan used after MPI was finalized" in done.stderr


def test_without_mpi4py_the_rest_works():
    done = _python(
        "import sys\n"
        "sys.modules['mpi4py'] = None\n"
        "import tradewind\n"
        "from tradewind import _core\n"
        "from tradewind.base import errors\n"
        "print(_core.make_schedule(_core.AllReduce(5, 3), 'ring').stages)\n"
        "try:\n"
        "    import tradewind.mpi\n"
        "except errors.MissingMPIError as error:\n"
        "    print(error)\n"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("8\n")
    assert "pip install 'tradewind[mpich]'" in done.stdout


@pytest.mark.parametrize("module", ["mpi", "points", "launch.measure", "launch.probe", "launch.trials"])
def test_a_compiled_module_that_cannot_be_loaded_says_what_to_do(module):
    """Whatever is imported first: the error is that of `tradewind.mpi.library`, not Python's own."""
    done = _python(f"import sys\nsys.modules['tradewind._mpi'] = None\nimport tradewind.{module}\n")
    assert "MissingMPIError: Tradewind's module for MPI does not load (" in done.stderr
    assert "build it again, in Tradewind's folder, with  pip install '.[mpich]'" in done.stderr


def test_another_mpi_in_mpi4py_is_refused():
    done = _python("from mpi4py import MPI\nMPI.Get_library_version = lambda: 'Other MPI 1.0'\nimport tradewind.mpi\n")
    assert "MissingMPIError: mpi4py uses Other MPI 1.0, Tradewind was built with" in done.stderr
