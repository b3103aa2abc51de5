"""Processes that share a simulation: the same bits as one alone, less memory each, and none left waiting."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import psutil
import pytest
import shared_cases
from slow_tests import slow
from small import core

pytest.importorskip("mpi4py.MPI")

from tradewind import launch
from tradewind.base.errors import InputError, PeerError, PlanError

TRADEWIND = Path(sys.executable).with_name("tradewind")
TAKEN = ("wall_s", "packet_hops_per_s", "peak_rss_bytes", "processes", "threads")
"""Keys of a result that describe the simulation itself."""
NAMES = [name for name, _ in shared_cases.cases()]
MORE = [(1, 2), (2, 1), (3, 2), (4, 1)]
SHARED = {(2, 2): NAMES[::2], (3, 1): NAMES[1::2]}
"""Processes, threads of each, and the simulations that they share in `make test`; in others all of them."""
CASES = [
    *((*by, name) for by, names in SHARED.items() for name in names),
    *(
        pytest.param(*by, name, marks=pytest.mark.slow)
        for by in (*SHARED, *MORE)
        for name in NAMES
        if name not in SHARED.get(by, ())
    ),
]


@cache
def alone() -> dict[str, shared_cases.Result]:
    return {name: shared_cases.everything(core(simulation)) for name, simulation in shared_cases.cases()}


@cache
def shared(processes: int, threads: int, few: bool) -> dict[str, shared_cases.Result]:
    names = [name for name in NAMES if (name in SHARED.get((processes, threads), ())) == few]
    return launch.run(processes, "shared_cases:results", [threads, names], timeout_s=400)


@pytest.mark.parametrize(("processes", "threads", "name"), CASES)
def test_same_bits_for_any_number_of_processes_and_threads(processes, threads, name):
    few = name in SHARED.get((processes, threads), ())
    assert shared(processes, threads, few)[name] == alone()[name]


@pytest.mark.slow
def test_same_bits_where_threads_of_processes_have_several_runs_of_switches():
    found = launch.run(2, "shared_cases:results_of_runs", 2, timeout_s=240)
    assert found == shared_cases.everything(core(shared_cases.runs()))


def figures(result):
    return {key: value for key, value in result.items() if key not in TAKEN}


def test_results_are_the_same_as_one_process_gives():
    one = json.loads(json.dumps(shared_cases.asked(None)))
    several = launch.run(3, "shared_cases:simulated", None, timeout_s=240)
    assert [figures(result) for result in several] == [figures(result) for result in one]
    assert {result["processes"] for result in several} == {3}


@pytest.mark.slow
def test_each_process_holds_its_part():
    (whole,) = launch.run(1, "shared_cases:memory", None, timeout_s=240)
    parts = launch.run(4, "shared_cases:memory", None, timeout_s=240)
    assert whole > 60_000
    assert max(parts) < 0.45 * whole


# -------------------------------------------------------------------------------- from the command line

COMMAND = ["simulate", "transpose", "--grid", "400x50x40", "--split", "20x10", "--ranks", "200", "--slab", "xy"]
COMMAND += ["--machine", "torus-M", "--algorithm", "ring-4", "--json"]


def tradewind(*arguments, launcher=()):
    run = subprocess.run(
        [*launcher, TRADEWIND, *COMMAND, *arguments], capture_output=True, text=True, timeout=240, check=False
    )
    lines = run.stdout.strip().splitlines()
    assert len(lines) == 1, (run.stdout, run.stderr)
    return run.returncode, json.loads(lines[0])


def mpiexec(processes):
    return launch.find_launcher().arguments(processes)


@pytest.mark.parametrize("started", [True, *slow(False)])
def test_command_line(tmp_path, started):
    _, one = tradewind("--links", str(tmp_path / "one.csv"))
    assert (one["processes"], one["threads"]) == (1, len(os.sched_getaffinity(0)))
    more, launcher = (("--processes", "2", "--threads", "1"), ()) if started else ((), mpiexec(2))
    code, result = tradewind(*more, "--links", str(tmp_path / "shared.csv"), launcher=launcher)
    assert code == 0
    assert (result["processes"], result["threads"]) == (2, 1)
    assert figures(result) == figures(one)
    assert (tmp_path / "shared.csv").read_text() == (tmp_path / "one.csv").read_text()


@pytest.mark.slow
def test_lists_are_shared_one_after_another():
    code, results = tradewind(
        "--routing", "all", "--set", "topology.shape=[4, 4, 4]", "--processes", "2", "--threads", "1"
    )
    assert code == 0
    assert [result["routing"] for result in results] == ["dimension-order", "valiant", "ugal"]
    assert {result["processes"] for result in results} == {2}


@pytest.mark.parametrize("launcher", [None, *slow(2)])
def test_bad_input_is_refused_once(launcher):
    if launcher is None:
        code, result = tradewind("--routing", "nonsense", "--processes", "2")
    else:
        code, result = tradewind("--routing", "nonsense", launcher=mpiexec(launcher))
    assert code == 2
    assert "nonsense" in result["error"]
    if launcher is None:
        code, result = tradewind("--processes", "0")
        assert (code, result["error"]) == (2, "--processes 0: 1 or more are allowed")
    else:
        code, result = tradewind("--processes", "3", launcher=mpiexec(launcher))
        assert code == 2
        assert result["error"] == "--processes 3, but 2 processes run: leave it out under mpiexec or srun"


# -------------------------------------------------------------------------------- none is left waiting


def test_what_one_process_refuses_all_refuse():
    with pytest.raises(InputError, match="no such routing"):
        launch.run(3, "shared_cases:one_is_refused", None, timeout_s=240)


def test_different_simulations_are_refused():
    with pytest.raises(InputError, match=r"the processes simulate different things: process 0 .*process 1 .*"):
        launch.run(3, "shared_cases:unlike", None, timeout_s=240)


def test_loggp_is_not_shared():
    with pytest.raises(InputError, match="model 'loggp': only simulations of packets are shared"):
        launch.run(2, "shared_cases:loggp", None, timeout_s=240)


@pytest.mark.parametrize("process", [0, 1])
def test_an_exception_on_the_way_ends_all(process):
    with pytest.raises(InputError, match=f"process {process} does not like it"):
        launch.run(2, "shared_cases:one_raises_on_the_way", process, timeout_s=240)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_question_that_fails_ends_all(threads):
    with pytest.raises(InputError, match="an error of a callback"):
        launch.run(2, "shared_cases:question_fails", threads, timeout_s=240)


@pytest.mark.parametrize("process", [1, *slow(0)])
def test_memory_of_one_runs_out(process):
    with pytest.raises((PeerError, PlanError), match=r"MemoryError|bad_alloc"):
        launch.run(2, "shared_cases:memory_runs_out", process, timeout_s=240)


def test_a_process_that_is_killed_takes_the_others_with_it():
    begin = time.monotonic()
    with pytest.raises(PlanError, match="ended with exit code"):
        launch.run(2, "shared_cases:one_is_killed", 1, timeout_s=240)
    assert time.monotonic() - begin < 120


def both_compute(process):
    """Wait until two processes below one have computed for half a second since the forecast: they simulate."""
    deadline = time.monotonic() + 240
    first = {}
    while True:
        taken = []
        for below in psutil.Process(process.pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                used = below.cpu_times().user
                taken.append(used - first.setdefault(below.pid, used))
        if len(taken) > 1 and sorted(taken)[-2] > 0.5:
            return
        assert process.poll() is None, "it should take minutes"
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize("started", [True, *slow(False)])
def test_ctrl_c_ends_all(started):
    command = ["simulate", "transpose", "--ranks", "100000", "--split", "100x1000", "--slab", "xy"]
    command += ["--algorithm", "ring-1", "--grid", "28800x14400x256", "--machine", "torus-M", "--threads", "1"]
    command = [str(TRADEWIND), *command, "--processes", "2"] if started else [*mpiexec(2), str(TRADEWIND), *command]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Processes that a shell starts in the background ignore the signal, and so would this child.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        assert process.stderr is not None
        assert "messages" in process.stderr.readline()  # the forecast
        both_compute(process)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=240)
        assert process.returncode != 0
    finally:
        process.kill()
