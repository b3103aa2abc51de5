"""Models that end by an error, by `sys.exit` or on a full disk: what had ended is whole, the job ends, and says why."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray
from ending_model import NX, NY, values
from slow_tests import slow

pytest.importorskip("mpi4py.MPI")
pytest.importorskip("eccodes")

from tradewind import launch
from tradewind.fieldserver.files.manifest import Manifest, check

WORDS = {
    "raised": "ArithmeticError: the model is not stable",
    "uncaught": "ArithmeticError: the model is not stable",
    "exit": "",
    "write error": "",
    "full disk": "File too large",
}
"""Text of the error that the job prints, by the reason of its end."""


TROUBLE, STEPS = 3, 6


def ended(folder, servers, reason, form, ranks, who, trouble=TROUBLE):
    """Returns the exit code of a job, and what it has printed."""
    models = ranks + (servers if isinstance(servers, int) else 0)
    program = Path(__file__).parents[1] / "ending_model.py"
    command = [*launch.find_launcher().arguments(models), sys.executable, program, folder, servers, reason, form, who]
    command.append(trouble)
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stderr


def read(folder, form, step):
    """The field of a step, by readers of others."""
    if form == "zarr":
        with xarray.open_zarr(folder / "run.zarr", chunks=None) as data:
            return data.t.values[step]
    engine, name = {"netcdf": ("netcdf4", f"{step}.nc"), "grib2": ("cfgrib", f"{step}.grib2")}[form]
    options = {"backend_kwargs": {"indexpath": ""}} if form == "grib2" else {}
    with xarray.open_dataset(folder / name, engine=engine, **options) as data:
        return data.t.values


@pytest.mark.parametrize(
    ("servers", "reason", "form", "ranks", "who"),
    [
        ("threads", "uncaught", "zarr", 1, 0),
        ("threads", "full disk", "netcdf", 1, 0),
        (0, "raised", "netcdf", 3, 1),
        *slow(
            ("threads", "raised", "grib2", 3, 1),
            ("threads", "exit", "netcdf", 2, 0),
            ("threads", "write error", "grib2", 2, 0),
            ("threads", "full disk", "zarr", 3, 0),
            (0, "uncaught", "grib2", 2, 1),
            (0, "exit", "zarr", 3, 2),
            (0, "write error", "netcdf", 3, 0),
            (0, "full disk", "grib2", 1, 0),
            (1, "raised", "zarr", 2, 0),
            (1, "uncaught", "netcdf", 3, 1),
            (1, "exit", "grib2", 1, 0),
            (1, "write error", "netcdf", 1, 0),
            (1, "full disk", "grib2", 3, 0),
        ),
    ],
)
def test_what_had_ended_is_whole_and_the_job_ends(tmp_path, servers, reason, form, ranks, who):
    folder = tmp_path / "out"
    code, printed = ended(folder, servers, reason, form, ranks, who)
    steps = [step for step in range(STEPS) if step < TROUBLE or (reason == "write error" and step > TROUBLE)]
    assert Manifest(folder).steps() == steps, printed
    assert check(folder) == []
    for step in steps:
        found = read(folder, form, step).reshape(NY, NX)
        np.testing.assert_allclose(found, values(step), atol=1e-2 if form == "grib2" else 0)
    assert WORDS[reason] in printed
    assert code == {"exit": 3, "write error": 0}.get(reason, 1), printed


@pytest.mark.slow
def test_a_server_that_has_much_to_report_ends_when_the_model_has_left(tmp_path):
    """Nobody receives its figures, which do not go without a receiver."""
    code, printed = ended(tmp_path, 1, "raised", "grib2", 1, 0, trouble=400)
    assert (code, Manifest(tmp_path).steps()) == (1, list(range(400))), printed


@pytest.mark.slow
def test_all_field_servers_of_a_model_end(tmp_path):
    """Also where a rank ends with two, and the others are within a call of the first."""
    code, printed = ended(tmp_path / "out", "threads", "two", "netcdf", 2, 0)
    assert code == 1, printed
    assert Manifest(tmp_path / "out").steps() == list(range(TROUBLE))
    assert Manifest(tmp_path / "out-2").steps() == list(range(STEPS))


@pytest.mark.slow
def test_a_process_that_was_forked_from_a_rank_ends_nothing(tmp_path):
    code, printed = ended(tmp_path, "threads", "fork", "netcdf", 2, 0)
    assert (code, Manifest(tmp_path).steps()) == (0, list(range(STEPS))), printed
