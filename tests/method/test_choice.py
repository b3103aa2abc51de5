"""The way a plan carries out its exchange: argument before environment before tuning file before default."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from pathlib import Path

import pytest

from tradewind import _core
from tradewind.base.errors import InputError, TuningWarning
from tradewind.method import tuning
from tradewind.method.choice import PARTS, Chosen, choose, variable_of
from tradewind.method.host import Host
from tradewind.method.method import Method, default_method

GRID = _core.Grid(60, 40, 5)
HALO = _core.Halo(_core.Blocks(GRID, (2, 2)), 2, [True, False])
SWAP = _core.Transpose(_core.Blocks(GRID, (2, 2), "xy"), _core.Blocks(GRID, (2, 2), "zy"))
SUM = _core.AllReduce(4, 7)
HERE = Host("node1", "a processor", "an MPI 1.0", 4)
FIGURES = {"median_s": 2e-3, "min_s": 1e-3, "default_s": 3e-3, "trials": 20}


def entry(pattern, method: str, host: Host = HERE, fields: int = 2):
    request = tuning.request_of(pattern, "f8", fields)
    return tuning.entry_text(request, host, Method.parse(method), FIGURES, oversubscribed=False)


@pytest.fixture
def file(tmp_path):
    """A tuning file about a halo."""
    path = tmp_path / "tuned.toml"
    tuning.merge(path, [entry(HALO, "direct,put-fence,datatype")])
    return path


def of(chosen: Chosen) -> list[tuple[str | None, str | None]]:
    return [(getattr(chosen.choice, part), chosen.origin.get(part)) for part in PARTS]


def test_default():
    for pattern in (HALO, SWAP, SUM):
        chosen = choose(pattern, "f8", 1, environment={})
        assert chosen == Chosen(default_method(pattern.name), dict.fromkeys(PARTS, "default"))
    assert str(default_method("halo")) == "sweep,isend-irecv,buffer"


def test_other_languages_read_the_same_variables():
    for pattern in ("halo", "transpose", "fetch", "gather-scatter", "allreduce"):
        name = pattern.upper().replace("-", "_")
        assert _core.variable_of(pattern) == variable_of(pattern) == f"TRADEWIND_{name}"


def test_each_part_is_of_the_first_that_names_it(file):
    chosen = choose(
        HALO, "f8", 2, Method("direct"), tuning=file, host=HERE, environment={"TRADEWIND_HALO": ",put-fence"}
    )
    assert of(chosen) == [("direct", "argument"), ("put-fence", "TRADEWIND_HALO"), ("datatype", str(file))]


def test_native_has_no_transport(file):
    tuning.merge(file, [entry(SWAP, "native")])
    chosen = choose(SWAP, "f8", 2, tuning=file, host=HERE, environment={})
    assert chosen == Chosen(Method("native"), {"algorithm": str(file)})
    assert choose(SUM, "f8", 2, environment={"TRADEWIND_ALLREDUCE": "native"}).choice == Method("native")


def test_the_variable_names_a_file_and_the_argument_another_or_none(file, tmp_path):
    other = tmp_path / "other.toml"
    tuning.merge(other, [entry(HALO, "sweep,shared,direct")])
    variable = {"TRADEWIND_TUNING": str(file)}
    assert choose(HALO, "f8", 2, host=HERE, environment=variable).choice.transport == "put-fence"
    assert choose(HALO, "f8", 2, host=HERE, tuning=other, environment=variable).choice.transport == "shared"
    assert choose(HALO, "f8", 2, host=HERE, tuning="", environment=variable).choice.transport == "isend-irecv"


def test_a_file_whose_name_is_not_utf8(tmp_path):
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.toml"))
    tuning.merge(path, [entry(HALO, "direct,put-fence,datatype")])
    for given in ({"tuning": path}, {"environment": {"TRADEWIND_TUNING": str(path)}}):
        chosen = choose(HALO, "f8", 2, host=HERE, **{"environment": {}, **given})
        assert of(chosen)[0] == ("direct", f"{tmp_path}/\\xff.toml")
    path.unlink()
    with pytest.raises(InputError, match=r"tuning '.*\\xff\.toml': cannot read .*\\xff\.toml: No such file"):
        choose(HALO, "f8", 2, tuning=path, environment={})


def test_what_was_tuned_elsewhere(file):
    there, words = replace(HERE, ranks_per_node=2), "2 ranks share a node, not 4"
    with pytest.warns(TuningWarning, match=f"was tuned elsewhere: {words}$"):
        chosen = choose(HALO, "f8", 2, tuning=file, host=there, environment={})
    assert chosen.choice.transport == "put-fence"
    with pytest.raises(InputError, match=f"TRADEWIND_TUNING=.*,strict': .* was tuned elsewhere: {words}"):
        choose(HALO, "f8", 2, host=there, environment={"TRADEWIND_TUNING": f"{file},strict"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        choose(HALO, "f8", 2, tuning=f"{file},strict", host=replace(HERE, host="node2"), environment={})
        choose(HALO, "f8", 2, tuning=f"{file},strict", environment={})  # no host: not compared
        choose(SUM, "f8", 2, tuning=f"{file},strict", host=there, environment={})  # no entry: the default


def test_a_warning_comes_once(file):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            choose(HALO, "f8", 2, tuning=file, host=replace(HERE, cpu="another"), environment={})
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"TRADEWIND_HALO": "swep"}, r"TRADEWIND_HALO='swep': unknown halo algorithm 'swep'; did you mean 'sweep'\?"),
        ({"TRADEWIND_HALO": "ring-2"}, "TRADEWIND_HALO='ring-2': unknown halo algorithm 'ring-2'"),
        ({"TRADEWIND_HALO": ",isend"}, "TRADEWIND_HALO=',isend': unknown transport 'isend'"),
        ({"TRADEWIND_HALO": ",,packed"}, "TRADEWIND_HALO=',,packed': unknown packing 'packed'.*buffer, datatype"),
        ({"TRADEWIND_HALO": "a,b,c"}, "unknown halo algorithm 'a'.*\n.*unknown transport 'b'.*\n.*unknown packing 'c'"),
        ({"TRADEWIND_HALO": "a,b,c,d"}, "TRADEWIND_HALO='a,b,c,d': 4 parts, but ALGORITHM,TRANSPORT,PACKING are"),
        ({"TRADEWIND_HALO": ",neighbor"}, "TRADEWIND_HALO=',neighbor': .* carries a schedule of one stage, and sweep"),
        (
            {"TRADEWIND_HALO": "direct,shared,datatype"},
            "TRADEWIND_HALO='direct,shared,datatype': transport 'shared'",
        ),
        ({"TRADEWIND_HALO": "native"}, "TRADEWIND_HALO='native': .* none for halo"),
        ({"TRADEWIND_TUNING": "/no/file"}, "TRADEWIND_TUNING='/no/file': cannot read /no/file: No such file"),
    ],
)
def test_nonsense_in_a_variable(variables, message):
    with pytest.raises(InputError, match=message):
        choose(HALO, "f8", 2, environment=variables)


def test_an_entry_that_cannot_be(tmp_path):
    file = tmp_path / "t.toml"
    tuning.merge(file, [entry(SWAP, "ring-9,shared,direct")])
    with pytest.raises(InputError, match=r"t\.toml: .*radix 9 is out of range"):
        choose(SWAP, "f8", 2, tuning=file, environment={})


def test_nonsense_as_argument():
    with pytest.raises(InputError, match=r"unknown transport 'put'.*\nunknown packing 'no'"):
        choose(HALO, "f8", 2, Method(transport="put", packing="no"), environment={})
    with pytest.raises(InputError, match="tuning '/no/file': cannot read /no/file"):
        choose(HALO, "f8", 2, tuning="/no/file", environment={})
    with pytest.raises(InputError, match="'halo' is no pattern"):
        choose("halo", "f8", 2, environment={})
    with pytest.raises(InputError, match="unknown memory 'window'"):
        choose(HALO, "f8", 2, memory="window", environment={})
