"""Errors of the system: of the output, and of anything else."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
from collections.abc import Callable, Sequence

import pytest

from tradewind.cli.output import run


def failing(error: OSError) -> Callable[[Sequence[str]], int]:
    def app(arguments: Sequence[str]) -> int:
        raise error

    return app


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (OSError(errno.ENOSYS, "Function not implemented"), "Function not implemented"),
        (OSError("AF_UNIX path too long"), "AF_UNIX path too long"),
        (FileNotFoundError(errno.ENOENT, "No such file", "here"), "here: No such file"),
    ],
)
def test_what_has_nothing_to_do_with_the_output_is_said(
    error: OSError, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(failing(error), []) == 1
    assert capsys.readouterr().err == f"error: {expected}\n"
    assert run(failing(error), ["--json"]) == 1
    assert json.loads(capsys.readouterr().out) == {"error": expected}


def test_an_output_that_is_full_is_named() -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "tradewind", "list", "topologies"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=240, check=False)
    assert done.returncode == 1
    assert done.stderr == "error: cannot write the result: No space left on device\n"


def test_a_reader_that_has_heard_enough_is_no_error() -> None:
    command = f"{sys.executable} -m tradewind list topologies | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], stderr=subprocess.PIPE, text=True, timeout=240, check=False)
    assert (done.returncode, done.stderr) in ((1, ""), (0, ""))
