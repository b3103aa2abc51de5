"""`tradewind list`."""

import json

import pytest

from tradewind.cli import answer, make_app
from tradewind.cli.list import TABLES


@pytest.fixture
def tradewind(capsys):
    def run(*arguments):
        code = answer.run(make_app(), list(arguments))
        return code, *capsys.readouterr()

    return run


@pytest.mark.parametrize("what", TABLES)
def test_lists_as_json_and_for_a_reader(tradewind, what):
    code, out, _ = tradewind("list", what, "--json")
    assert code == 0
    rows = json.loads(out)
    names = [row["name"] for row in rows]
    assert len(names) == len({(row["name"], row.get("pattern"), row.get("topology")) for row in rows})
    code, out, _ = tradewind("list", what)
    assert code == 0
    for name in names:
        assert name in out


def test_what_is_listed_works(tradewind):
    def names(what):
        return {row["name"] for row in json.loads(tradewind("list", what, "--json")[1])}

    assert {"torus", "fattree", "dragonfly", "slimfly", "graph", "crossbar"} <= names("topologies")
    assert {"minimal", "valiant", "ugal", "d-mod-k", "round-robin", "dimension-order"} <= names("routings")
    assert {"ring-k", "burst", "bruck", "pairwise", "sweep", "recursive-k"} <= names("algorithms")
    machines = {row["name"]: row for row in json.loads(tradewind("list", "machines", "--json")[1])}
    assert machines["fattree-M"]["switches"] == 62500
    assert machines["dragonfly-SL"]["nodes"] == 390625


def test_an_unknown_list(tradewind):
    code, out, _ = tradewind("list", "machine", "--json")
    assert code == 2
    assert "did you mean 'machines'" in json.loads(out)["error"]
    code, out, err = tradewind("list", "machine")
    assert (code, out) == (2, "")
    assert "did you mean 'machines'" in err
