"""An error between start and wait is what the user sees; nothing that MPI still uses is touched, and no rank hangs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mpi4py.MPI")

import abandoned

from tradewind import launch
from tradewind.base.errors import PlanError
from tradewind.launch.job import find_launcher

SCRIPT = Path(abandoned.__file__)


def test_no_message_of_a_dropped_plan_comes_to_another():
    found = launch.run(2, "abandoned:dropped_then_another", list(abandoned.METHODS), timeout_s=240)
    assert found == {name: [] for name in abandoned.METHODS}


def test_arrays_of_a_dropped_plan_live_as_long_as_mpi():
    assert launch.run(2, "abandoned:arrays_stay", None, timeout_s=240) == [[False, True]] * 2


def test_generators():
    wanted = ["ZeroDivisionError", "RuntimeWarning", "RuntimeWarning"]
    assert launch.run(2, "abandoned:in_a_generator", None, timeout_s=240) == [wanted] * 2


def test_the_first_error_ends_a_job():
    with pytest.raises(PlanError, match=r"rank 0 failed:\n(.|\n)*KeyError: 'of the overlap region'"):
        launch.run(2, "abandoned:raises_between", "shared", timeout_s=240)


def _run(folder: Path, error: str, *names: str) -> tuple[int, str, str]:
    """Return the exit code, and what was printed to either stream."""
    command = [*find_launcher().arguments(2), sys.executable, str(SCRIPT), str(folder), error, *names]
    done = subprocess.run(command, env=dict(os.environ), capture_output=True, text=True, timeout=240, check=False)
    out, err = ("".join(file.read_text() for file in folder.glob(f"{name}-*")) for name in ("out", "err"))
    return done.returncode, done.stdout + out, done.stderr + err


# A rank whose start waits for the others goes with no other one.
TOGETHER = [name for name in abandoned.METHODS if not name.endswith("-fence")]
KEY_ERROR = "KeyError: 'of the overlap region'"


@pytest.mark.parametrize(
    ("error", "code", "words", "names"),
    [
        ("error", 1, KEY_ERROR, TOGETHER),
        pytest.param("error", 1, KEY_ERROR, ["put-fence"], marks=pytest.mark.slow),
        pytest.param("error", 1, KEY_ERROR, ["get-fence"], marks=pytest.mark.slow),
        pytest.param("interrupt", None, "KeyboardInterrupt", TOGETHER, marks=pytest.mark.slow),
        ("exit", 3, "RuntimeWarning: a plan destroyed while it is under way", TOGETHER),
    ],
)
def test_a_program_ends_with_its_own_error(error, code, words, names, tmp_path):
    """With plans of several transports under way at once."""
    returned, out, err = _run(tmp_path, error, *names)
    assert words in err
    for name in ("terminate called", "MPICH:", "Fatal Python error", "nanobind"):
        assert name not in err + out
    assert err.count("RuntimeWarning: a plan destroyed while it is under way, before its wait") >= 1
    assert f"the watchdog barked {len(names)} times" in out
    assert returned == code or (code is None and returned != 0)


def test_two_threads_make_plans_at_once():
    assert launch.run(2, "abandoned:two_threads_make_plans", None, timeout_s=240) == [[True, True]] * 2


def test_windows_made_in_unlike_orders_are_freed_at_the_end():
    assert launch.run(2, "abandoned:two_threads_keep_plans", None, timeout_s=240) == 48


def test_watchdog_of_the_making_of_a_plan():
    first, other = launch.run(2, "abandoned:nobody_comes", None, timeout_s=240)
    lines = first.splitlines()
    assert lines[0] == "PlanError: rank 0, making a plan: after 0.3 s still waiting for all other ranks to make it, too"
    assert lines[1].startswith("InputError: unknown packing 'nonsense'")
    assert other == ""


AFTER_FINALIZE = """
import numpy as np, tradewind as tw
from tradewind import mpi, points
comm = mpi.MPI.COMM_WORLD
halo = tw.Halo(tw.Blocks(tw.Grid(4, 4, 1), (1, 1)), 1)
array = np.zeros(halo.source_shape(0))
mesh = tw.Points(comm, 3)
mpi.MPI.Finalize()
for call in (
    lambda: halo.plan(comm, array),
    lambda: halo.plan(comm, array, nonsense=1),
    lambda: tw.Points(comm, 3),
    lambda: mesh.fetch([0]),
    lambda: mesh.fetch(nonsense=[0]),
    lambda: mesh.locate([0]),
    lambda: tw.empty(halo, comm),
    lambda: tw.tune(halo, comm, array),
    lambda: points.renumbered(comm, [0], []),
):
    try:
        call()
    except (tw.PlanError, TypeError) as error:
        print(type(error).__name__, error)
print("the end")
"""


def test_nothing_is_made_after_finalize():
    done = subprocess.run(
        [sys.executable, "-c", AFTER_FINALIZE],
        env=dict(os.environ),
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    lines = done.stdout.splitlines()
    assert lines[-1] == "the end"
    assert [line.split()[0] for line in lines[:-1]] == [
        *("PlanError", "TypeError", "PlanError", "PlanError", "TypeError"),
        *("PlanError", "PlanError", "PlanError", "PlanError"),
    ]
    assert sum("MPI is finalized: nothing can be exchanged any more" in line for line in lines) == 7
