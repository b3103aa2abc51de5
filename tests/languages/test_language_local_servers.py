"""Local servers, which the library of a model in C or Fortran starts where no rank of its job is a server."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from local_python import local_environment
from written_fields import LOST, are_right, lie_where_they_were_defined
from wrong_calls import INPUT, PLAN

from tradewind.fieldserver.files.manifest import Manifest, check

pytestmark = pytest.mark.one_level


def have_ended(wait_s: float = 20) -> bool:
    """Whether all local servers that were started here end within a time."""
    end = time.monotonic() + wait_s
    processes = [Path("/proc") / number for number in Path("processes").read_text().split()]
    while any(process.exists() for process in processes):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


@pytest.mark.parametrize(
    ("ranks", "more", "how"),
    [
        (3, 'local_servers = "rank"', "write"),
        pytest.param(2, 'queue = "12KiB"\nblock = 4', "write", marks=pytest.mark.slow),
        pytest.param(2, "synchronous = true", "start", marks=pytest.mark.slow),
    ],
)
def test_fields_of_every_layout_are_written_and_read(beside, plan, ranks, more, how):
    """A short queue is freed for fields of other forms. The servers have nothing of MPI, and have ended at the end."""
    plan(more=more)
    printed = beside(ranks, "field_servers_c", 0, 2, "output", how, local=True).stdout
    assert "all right" in printed
    assert "wrong" not in printed
    are_right(0, 2)
    lie_where_they_were_defined()
    of_mpi = [line for line in Path("environment").read_text().splitlines() if line.startswith(("PMI", "OMPI_", "HYD"))]
    assert of_mpi == []
    assert Path("files").read_text().split() == ["0", "1", "2", "3", "4"]  # 3: the socket; 4: of ls
    assert have_ended(0)


def test_a_plan_that_is_not_there(met_beside, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for found in met_beside("open", 0, local=True):
        assert found["open"] == (INPUT, "cannot read plan.toml: No such file or directory")
    assert have_ended(0)


@pytest.mark.slow
def test_a_program_that_is_not_there(met_beside, plan, monkeypatch):
    plan()
    monkeypatch.setattr("local_python._SCRIPT", "#!/nowhere/sh\n")
    for found in met_beside("open", 0, local=True):
        text = f"a local server: cannot start {Path('python.sh').absolute()}: No such file or directory"
        assert found["open"] == (INPUT, text)


@pytest.mark.slow
def test_files_are_those_of_servers_in_the_job(beside, plan):
    """Byte by byte, with their manifests."""
    plan("all", "messages")
    beside(2, "field_server_c", 1, 4)
    shutil.move("output", "expected")
    beside(2, "field_server_fortran", 0, 4, local=True)
    names = sorted(path.relative_to("expected") for path in Path("expected").rglob("*") if path.is_file())
    assert len(names) == 9
    assert names == sorted(path.relative_to("output") for path in Path("output").rglob("*") if path.is_file())
    for name in names:
        assert (Path("output") / name).read_bytes() == (Path("expected") / name).read_bytes(), name


@pytest.mark.slow
@pytest.mark.parametrize("fails", ["kill:1:block:5", "stop:1:block:3", "raise:0:end:2", "kill:1:send:1"])
def test_another_local_server_takes_over(beside, plan, fails):
    """Beside the other rank. One that stops does not come back: it is ended."""
    patience = 10 if fails.startswith("stop") else 30
    plan(more=f'patience = "{patience}s"\nblock = 4\nlocal_servers = "rank"')
    printed = beside(2, "field_servers_c", 0, 4, "output", fails=fails, ends=True, local=True).stdout
    assert "all right" in printed
    are_right(0, 2, 4)
    assert have_ended(0)


@pytest.mark.slow
def test_the_last_local_server_that_is_killed_ends_the_output(met_beside, plan):
    plan()
    for found in met_beside("write", 0, fails="kill:0:end:1", ends=True, local=True):
        first = next(case for case in ("end_step", "finish") if found[case][0] != 0)
        assert found[first] == (PLAN, "server 0 is lost: its process was ended by signal 9 (Killed)" + LOST)
        assert found["close"] == found[first]
    assert have_ended(0)


@pytest.mark.slow
def test_a_killed_model_leaves_whole_steps_and_no_process(built, plan):
    """Signals that a job gets, and the model survives, leave its server."""
    plan("all")
    environment = {**os.environ, **local_environment("-m", "tradewind")}
    with subprocess.Popen([built("field_server_c"), "1000000"], env=environment) as model:
        manifest = Manifest(Path("output"))
        for more in (3, 3):
            steps = len(manifest.steps()) + more
            while model.poll() is None and len(manifest.steps()) < steps:
                time.sleep(0.05)
            for each in (signal.SIGHUP, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2):
                os.kill(int(Path("processes").read_text()), each)
        model.send_signal(signal.SIGKILL)
    assert have_ended()
    assert len(manifest.steps()) >= 6
    assert check(Path("output")) == []
    assert [path for path in Path("output").rglob(".*")] == []
