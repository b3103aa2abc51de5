"""Modules that commands load: no package that takes long and that they do not need."""

import json
import subprocess
import sys

import pytest

NEVER = {"altair", "h5py", "jinja2", "mpi4py", "pandas", "rich", "scipy", "typer", "vl_convert", "xarray"}
LIGHT = NEVER | {"numpy", "psutil", "pydantic"}
HALO = ["--ranks", "4", "--grid", "64x64x4", "--split", "2x2"]
COMMANDS = {
    "version": (["--version"], LIGHT | {"tradewind._core"}),
    "help": (["--help"], LIGHT | {"tradewind._core"}),
    "help of a command": (["simulate", "--help"], LIGHT),
    "help of a pattern": (["bench", "halo", "--help"], LIGHT),
    "help of study": (["study", "--help"], LIGHT | {"tradewind._core"}),
    "help of run": (["run", "--help"], LIGHT),
    "verify": (["verify", "halo", *HALO, "--width", "2"], LIGHT),
    "show": (["show", "halo", *HALO], LIGHT),
    "list": (["list", "algorithms"], LIGHT),
    "simulate": (["simulate", "transpose", *HALO, "--machine", "torus-M"], NEVER | {"numpy"}),
}
RUN = """
import json, sys
from tradewind.cli import make_app, output
code = output.run(make_app(), json.loads(sys.argv[1]))
print(json.dumps([code, *sys.modules]))
"""


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_loads_only_what_it_needs(name):
    arguments, unwanted = COMMANDS[name]
    done = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps(arguments)], capture_output=True, text=True, check=True
    )
    code, *loaded = json.loads(done.stdout.splitlines()[-1])
    assert code == 0, done.stderr
    assert unwanted.isdisjoint(loaded)


def test_the_package_alone_loads_none_of_its_parts():
    command = [sys.executable, "-c", "import sys, tradewind; print(*(m for m in sys.modules if 'tradewind.' in m))"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == ""


def test_reports_of_times_load_neither_altair_nor_xarray_nor_scipy():
    """Loading them takes as long as all the rest of such a report."""
    parts = ("report.build", "dataset.netcdf", "figure.figure", "plot.export")
    program = f"import sys, {', '.join(f'tradewind.{part}' for part in parts)}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert {"altair", "pandas", "xarray", "h5netcdf", "scipy"}.isdisjoint(done.stdout.split())
