"""One table of transports and packings, and one spelling of their names: what else names them agrees with it."""

from __future__ import annotations

import re
from inspect import signature
from pathlib import Path

import pytest

import tradewind as tw
from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.cli import bench, verify
from tradewind.method import method
from tradewind.study.model import study
from tradewind.verification import transports

ROOT = Path(__file__).parents[2]
NAMES = [entry.name for entry in _core.transports()]
PACKINGS = [entry.name for entry in _core.packings()]


def default_of(command, parameter):
    return signature(command).parameters[parameter].default


def help_of(command, parameter):
    return signature(command, eval_str=True).parameters[parameter].annotation.__metadata__[0].help


def test_lists_of_names_are_the_tables():
    assert list(method.transport_names()) == NAMES == transports()
    assert list(method.packing_names()) == PACKINGS
    mpi = pytest.importorskip("tradewind.mpi")
    assert (list(mpi.TRANSPORTS), list(mpi.PACKINGS)) == (NAMES, PACKINGS)


def test_every_transport_goes_with_known_packings_and_the_default_with_the_default():
    for entry in _core.transports():
        assert set(entry.packings) <= set(PACKINGS)
        assert entry.packings
    default = next(entry for entry in _core.transports() if entry.name == method.DEFAULT_TRANSPORT)
    assert default.packings[0] == method.DEFAULT_PACKING == PACKINGS[0]


def test_the_command_line_has_the_tables_defaults_without_loading_it():
    """Commands are listed in a fraction of a second because they do not import the core, so they repeat two names."""
    assert default_of(verify.command, "transport") == default_of(bench.command, "transport") == method.DEFAULT_TRANSPORT
    assert default_of(bench.command, "packing") == method.DEFAULT_PACKING
    *first, last = method.two_sided_names()
    assert f"{', '.join(first)} or {last}" in (ROOT / "python/tradewind/cli/verify.py").read_text()
    options = (ROOT / "python/tradewind/workload/simulation_options.py").read_text()
    assert f'shown="{method.DEFAULT_PACKING}"' in options


def test_each_family_is_one_file_that_carries_it():
    folder = ROOT / "src" / "mpi" / "transport"
    for family in {entry.family for entry in _core.transports()}:
        assert f"make_{family.replace('-', '_')}()" in (folder / f"{family.replace('-', '_')}.cpp").read_text()


def test_no_code_behind_the_table_compares_names():
    """A transport or packing that is distinguished by its text would be a second table."""
    names = "|".join(map(re.escape, [*NAMES, *PACKINGS]))
    compared = re.compile(rf'[!=]= *"(?:{names})"|"(?:{names})" *[!=]=')
    for room in ("mpi", "schedule", "algorithm"):
        for file in sorted((ROOT / "src" / room).rglob("*.?pp")):
            assert not compared.search(file.read_text()), file


def test_mpis_own_all_to_all_is_a_transport_of_the_table():
    grid = tw.Grid(12, 8, 4)
    complete = _core.Transpose(_core.Blocks(grid, (2, 1)), _core.Blocks(grid, (2, 1), "zy"))
    carried = _core.carried_method(complete, "native", "", "")
    assert carried == ("burst", method.ALL_TO_ALL, method.DEFAULT_PACKING)
    assert _core.carried_method(complete, "native", method.ALL_TO_ALL, "") == carried
    assert _core.carried_method(complete, "ring-1", "shared", "") == ("ring-1", "shared", "")
    assert _core.carried_method(_core.AllReduce(2, 3), "native", "", "")[0] == "native"
    assert method.refusal(complete, method.Method(*carried)) == ""
    with pytest.raises(InputError, match="algorithm 'native' is MPI_Alltoallv of packed data, not transport 'shared'"):
        _core.carried_method(complete, "native", "shared", "")


def test_studies_take_the_tables_names():
    for kind in (study.VerifySweep, study.MeasureSweep):
        field = kind.model_fields["transport"]
        assert field.get_default(call_default_factory=True) == [method.DEFAULT_TRANSPORT]
