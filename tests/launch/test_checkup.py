"""Output of `tradewind doctor` for an installation where something is missing."""

import os
import re
import subprocess
import sys

import pytest

HIDE = {
    "mpi4py": "sys.modules['mpi4py'] = None",
    "libtradewind": "installation.package_folder = lambda: Path('/none')",
    "zarr": "sys.modules['zarr'] = None",
}


def doctor(*hidden, folder=""):
    """(exit code, lines), as a user sees them who lacks something. `folder`: modules that stand before others."""
    lines = [
        "import sys",
        "from pathlib import Path",
        "from tradewind import cli",
        "from tradewind.base import installation",
        *(HIDE[name] for name in hidden),
        "sys.argv = ['tradewind', 'doctor']",
        "cli.main()",
    ]
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "PYTHONPATH": str(folder)}
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


def test_forms_of_output_files_are_written_or_not_installed_or_broken(tmp_path):
    """A package that was left out is no fault; one that is there and cannot be loaded is."""
    (tmp_path / "eccodes.py").write_text('raise RuntimeError("Cannot find the ecCodes library")\n')
    code, lines = doctor("mpi4py", "zarr", folder=tmp_path)
    text = " ".join(" ".join(lines).split())
    assert "ok netcdf h5netcdf " in text
    assert re.search(r"HDF5 [\d.]+; wrote \d{4,5} bytes", text)
    assert "- zarr not installed -> for zarr files of a field server: pip install 'tradewind[output]'" in text
    assert "no grib2 eccodes cannot be loaded, or cannot write: Cannot find the ecCodes library" in text
    assert "does not work: output of models as GRIB" in text
    assert "does not work: output of models as Zarr" in text
    assert "works: output of models as NetCDF" in text
    assert code == 1
