"""`tradewind config`."""

import json
import shlex
from pathlib import Path

import pytest

from tradewind.base import installation
from tradewind.base.errors import MissingMPIError
from tradewind.cli import make_app, output


@pytest.fixture
def tradewind(capsys):
    def run(*arguments):
        code = output.run(make_app(), list(arguments))
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def here():
    try:
        return installation.flags()
    except MissingMPIError as error:
        pytest.skip(f"libtradewind was not built: {error}")


def test_one_line_of_what_is_asked_for(tradewind, here):
    assert tradewind("config", "--cmake") == (0, f"{here.cmake}\n", "")
    assert tradewind("config", "--pkgconfig") == (0, f"{here.pkgconfig}\n", "")
    code, out, _ = tradewind("config", "--libs", "--cflags")
    assert code == 0
    assert out.count("\n") == 1
    assert shlex.split(out) == [*here.cflags, *here.libs]
    sources = [Path(path) for path in tradewind("config", "--fortran")[1].split()]
    assert all(path.exists() for path in sources)
    module = Path(__file__).parents[2] / "bindings" / "fortran"
    assert {path.name for path in sources} >= {path.name for path in module.iterdir() if path.suffix in (".c", ".f90")}


def test_all_of_it(tradewind, here):
    code, out, _ = tradewind("config")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == [
        *("--cflags", "--libs", "--cmake", "--pkgconfig", "--fortran"),
    ]
    printed = json.loads(tradewind("config", "--json")[1])
    assert printed["cmake"] == str(here.cmake)
    assert json.loads(tradewind("config", "--cflags", "--json")[1]) == {"cflags": printed["cflags"]}


def test_without_mpi_there_is_one_error(tradewind, monkeypatch, tmp_path):
    monkeypatch.setattr(installation, "package_folder", lambda: tmp_path)
    code, out, err = tradewind("config", "--cflags")
    assert (code, out) == (1, "")
    assert err.startswith("error: Tradewind was built without MPI, so it has no libtradewind: build it again")
    assert err.count("\n") == 1
