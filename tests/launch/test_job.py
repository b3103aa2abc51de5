"""Starting ranks: a result comes back whole, and every other end is an error with its reason."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tradewind.base.errors import InputError, MissingMPIError, PlanError
from tradewind.base.job_folder import _remove
from tradewind.launch import find_launcher, is_rank, run

pytest.importorskip("mpi4py.MPI")


def test_result_of_all_ranks():
    assert run(3, "job_ends:well", [1, "a"], timeout_s=240) == {"payload": [1, "a"], "ranks": [0, 1, 2]}


def test_killed_rank():
    with pytest.raises(PlanError, match=r"the 2 MPI ranks ended with exit code \d+, without a result") as error:
        run(2, "job_ends:killed", None, timeout_s=240)
    assert "about to be killed" in str(error.value)
    assert str(error.value).endswith(f"they were started by {find_launcher()}")  # which may be another MPI's


def test_ranks_that_leave_with_exit_code_0():
    with pytest.raises(PlanError, match="without a result") as error:
        run(2, "job_ends:left", None, timeout_s=240)
    assert "leaving" in str(error.value)


def test_exception_on_one_rank_ends_all():
    with pytest.raises(PlanError, match="rank 1 failed") as error:
        run(2, "job_ends:failed", None, timeout_s=240)
    assert "ZeroDivisionError: rank 1 divided by zero" in str(error.value)


def test_own_errors_come_back_as_they_are():
    with pytest.raises(InputError) as error:
        run(2, "job_ends:refused", None, timeout_s=240)
    assert error.value.problems == ("width -1", "ranks 0")


def test_a_rank_that_outlives_the_launcher_may_still_write(tmp_path):
    """It writes into the folder of the job while that is removed."""
    room = tmp_path / "room"
    room.mkdir()
    late = "import pathlib, sys, time\nend = time.monotonic() + 0.3\nprint('goes on', flush=True)\n"
    late += "while time.monotonic() < end:\n    pathlib.Path(sys.argv[1]).mkdir(exist_ok=True)\n"
    late += "    for i in range(100):\n        (pathlib.Path(sys.argv[1]) / str(i)).touch()\n"
    with subprocess.Popen(
        [sys.executable, "-c", late, room], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as rank:
        rank.stdout.read(7)
        while rank.poll() is None:
            _remove(room, patience_s=10)
        _remove(room, patience_s=10)
    assert not room.exists()


def test_a_folder_that_cannot_be_removed_is_an_error(tmp_path, monkeypatch):
    def refuse(folder):
        raise PermissionError(folder)

    monkeypatch.setattr("shutil.rmtree", refuse)
    with pytest.raises(PermissionError):
        _remove(tmp_path, patience_s=0.1)


def test_time_runs_out(tmp_path):
    pid_file = tmp_path / "pid"
    for timeout_s in (5, 20, 80, 320):  # on a busy machine it may take long until all ranks have begun
        begin = time.monotonic()
        with pytest.raises(PlanError, match="their time ran out") as error:
            run(2, "job_ends:hung", str(pid_file), timeout_s=timeout_s)
        assert time.monotonic() - begin < timeout_s + 240
        if pid_file.exists() and pid_file.read_text():
            break
    assert "waiting for nothing" in str(error.value)
    assert _ends(int(pid_file.read_text()))


def test_ranks_end_when_whoever_waits_for_them_is_killed(tmp_path):
    pid_file = tmp_path / "pid"
    code = f"from tradewind.launch import run; run(2, 'job_ends:hung', {str(pid_file)!r})"
    # The environment as Python saw it at first: Open MPI, started in this process, adds what confuses a launcher.
    parent = subprocess.Popen([sys.executable, "-c", code], env=dict(os.environ))
    try:
        for _ in range(1200):
            if pid_file.exists() and pid_file.read_text():
                break
            time.sleep(0.1)
        pid = int(pid_file.read_text())
        assert _lives(pid)
    finally:
        parent.kill()
        parent.wait()
    assert _ends(pid)


def _ends(pid: int) -> bool:
    for _ in range(600):
        if not _lives(pid):
            return True
        time.sleep(0.1)
    return False


def _lives(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


def test_number_of_ranks():
    with pytest.raises(InputError, match="ranks 0: 1 or more are allowed"):
        run(0, "job_ends:well", None)


def test_launcher_of_the_environment_is_named_by_a_variable(monkeypatch):
    monkeypatch.setenv("TRADEWIND_MPIEXEC", "no-such-mpiexec -x")
    with pytest.raises(MissingMPIError, match="TRADEWIND_MPIEXEC='no-such-mpiexec -x' is no program"):
        find_launcher()


def test_a_launcher_that_does_not_answer(tmp_path, monkeypatch):
    launcher = tmp_path / "mpiexec"
    launcher.write_text("#!/bin/sh\nexec sleep 600\n")
    launcher.chmod(0o755)
    monkeypatch.setenv("TRADEWIND_MPIEXEC", str(launcher))
    monkeypatch.setattr("tradewind.launch.job._VERSION_S", 1)
    with pytest.raises(MissingMPIError, match=rf"{launcher} --version did not end within 1 s: name another launcher"):
        find_launcher()


def test_a_launcher_of_another_mpi(tmp_path, monkeypatch):
    """It starts the ranks, but they do not find each other."""
    launcher = tmp_path / "mpiexec"
    launcher.write_text("#!/bin/sh\n[ $1 = --version ] && exec echo Another MPI 1.0\nshift 2\n$@ & $@; wait\n")
    launcher.chmod(0o755)
    monkeypatch.setenv("TRADEWIND_MPIEXEC", str(launcher))
    expected = rf"2 ranks were started, but each sees 1: the launcher, {launcher} \(Another MPI 1.0\), is not one of"
    with pytest.raises(MissingMPIError, match=expected):
        run(2, "job_ends:well", None, timeout_s=240)


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, False),
        ({"PMI_RANK": "0"}, True),
        ({"OMPI_COMM_WORLD_RANK": "3"}, True),
        ({"SLURM_PROCID": "0"}, False),  # a batch script
        ({"SLURM_PROCID": "0", "SLURM_STEP_ID": "0"}, True),
    ],
)
def test_being_a_rank(monkeypatch, variables, expected):
    for name in [n for n in os.environ if n.startswith(("PMI", "OMPI_", "SLURM_"))]:
        monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert is_rank() is expected


def test_ranks_start_without_the_simulator():
    """Every rank of every job imports the worker; models of machine files take ten times as long."""
    program = "import sys, tradewind.launch.worker; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=240)
    assert "tradewind.launch.job" in done.stdout.split()
    assert {"pydantic", "numpy", "tradewind.simulation"} & set(done.stdout.split()) == set()
