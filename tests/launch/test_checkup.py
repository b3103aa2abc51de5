"""Output of `tradewind doctor` for an installation where something is missing."""

import os
import subprocess
import sys

import pytest

HIDE = {"mpi4py": "sys.modules['mpi4py'] = None", "libtradewind": "installation.package_folder = lambda: Path('/none')"}


def doctor(*hidden):
    """(exit code, lines), as a user sees them who lacks something."""
    lines = [
        "import sys",
        "from pathlib import Path",
        "from tradewind import cli",
        "from tradewind.base import installation",
        *(HIDE[name] for name in hidden),
        "sys.argv = ['tradewind', 'doctor']",
        "cli.main()",
    ]
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], env=environment, capture_output=True, text=True, check=False
    )
    assert not done.stderr
    return done.returncode, done.stdout.splitlines()


@pytest.mark.parametrize("hidden", [("mpi4py",), ("mpi4py", "libtradewind")])
def test_without_mpi_it_says_what_works(hidden):
    code, lines = doctor(*hidden)
    text = " ".join(" ".join(lines).split())
    assert code == 1
    assert "no mpi MPI is not available" in text
    assert "pip install 'tradewind[mpich]'" in text
    assert text.count("not tried, as MPI does not work") == 2
    assert "works: verify, show, simulate, advise" in text
    assert "does not work: bench, tune, calibrate, run" in text
    assert ("does not work: programs in C" in text) == ("libtradewind" in hidden)
    too_long = [line for line in lines if len(line) > 80]
    column = 18  # where values begin
    assert all(max(map(len, line.split())) > 80 - column for line in too_long), "only paths that no line can hold"
