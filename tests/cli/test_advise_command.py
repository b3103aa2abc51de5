"""`tradewind advise`: its table, JSON, and bad input."""

import json
import re

import pytest

from tradewind.cli import make_app, output
from tradewind.cli.advise import _ranked

SMALL = ["--machine", "torus-M", "--set", "topology.shape=[4, 4, 4]", "--set", "topology.nodes_per_switch=1"]


@pytest.fixture
def tradewind(capsys):
    def run(*arguments):
        code = output.run(make_app(), ["advise", *arguments])
        return code, *capsys.readouterr()

    return run


def test_the_result_names_the_best_and_its_ratio(tradewind):
    code, out, _ = tradewind("allreduce", "--ranks", "60", "--count", "4", *SMALL, "--json")
    result = json.loads(out)
    assert code == 0
    assert result["results"][0]["algorithm"] == result["best"]
    assert result["results"][0]["ratio"] == 1.0
    assert all(r["ratio"] == r["time_s"] / result["results"][0]["time_s"] for r in result["results"])
    assert (result["count"], result["machine"], result["model"]) == (4, "torus-M", "packet")


def test_algorithms_to_choose_from(tradewind):
    arguments = ["--grid", "64x64x64", "--split", "16x4", "--slab", "xz", "--algorithm", "ring-k,ring-3,two-level-k"]
    code, out, _ = tradewind("transpose", "--ranks", "64", *arguments, *SMALL, "--ranks-per-node", "4", "--json")
    result = json.loads(out)
    assert code == 0
    tried = {r["algorithm"] for r in result["results"] + result["left_out"]}
    assert tried == {"ring-1", "ring-2", "ring-3", "ring-4", "ring-8", "two-level-4"}


def test_for_a_reader(tradewind, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    code, out, err = tradewind("allreduce", "--ranks", "30", *SMALL)
    assert (code, err) == (0, "")
    for words in ("allreduce on 30 ranks of torus-M", "x best", "best: recursive-", "left out, slower than the best"):
        assert words in out


def test_several_machines_are_one_table(tradewind, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    machines = ["--machine", "torus-M,fattree-M,nec-sx6", "--algorithm", "recursive-2,ring"]
    code, out, err = tradewind("allreduce", "--ranks", "30", *machines)
    assert (code, err) == (0, "")
    rows = [line.split()[0] for line in out.splitlines() if "recursive-2" in line]
    assert sorted(rows) == ["fattree-M", "torus-M"]
    assert f"best: {rows[0]}; {rows[1]} takes " in out
    assert "left out nec-sx6: 30 ranks with 1 per node need 30 nodes; the machine has 8" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--budget", "60"], "'60' has no unit"),
        (["--budget", "0s"], "a time above 0"),
        (["--algorithm", "brook"], "unknown allreduce algorithm 'brook'"),
        (["--algorithm", "recursive-1"], "2..30 are allowed"),
        (["--set", "link.latency"], "KEY=VALUE"),
        (["--placement", "blocks"], "needs ranks that divide a grid"),
        (["--ranks-per-node", "0"], "ranks per node 0"),
        (["--count", "-1"], "count -1"),
        (["--width", "1"], "--width does not apply to allreduce: leave it out (halo, fetch take it); did you mean"),
    ],
)
def test_bad_input(tradewind, arguments, words):
    code, out, err = tradewind("allreduce", "--ranks", "30", *SMALL, *arguments)
    assert (code, out) == (2, "")
    assert words in err


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (1.2, 1.3, "far takes 1.25 times as long (1.20 to 1.30)"),
        (1.251, 1.252, "far takes 1.25 times as long (in any order of packets)"),
        (0.9, 1.6, "far is as fast within the spread (a factor of 0.90 to 1.60)"),
        (None, None, "far takes 1.25 times as long (a single simulation each)"),
    ],
)
def test_machines_are_ranked_in_words(low, high, words):
    near = {"machine": "near", "ratio": 1.0, "ratio_range": [1.0, 1.0]}
    far = {"machine": "far", "ratio": 1.25, "ratio_range": low and [low, high]}
    assert _ranked([near, far]) == f"best: near; {words}"


POWER = ["power.idle=100W", "power.waiting=150W", "power.busy=300W", "power.network=10nJ/B"]


def test_a_picture_of_energy_against_time(tradewind, tmp_path):
    path = tmp_path / "pareto.svg"
    power = [word for setting in POWER for word in ("--set", setting)]
    chosen = ["--algorithm", "ring,recursive-2,recursive-4", "--picture", str(path), "--json"]
    code, out, _ = tradewind("allreduce", "--ranks", "60", "--count", "4096", *SMALL, *power, *chosen)
    result = json.loads(out)
    assert (code, result["picture"]) == (0, str(path))
    names = set(re.findall(r">((?:ring|recursive)[^<]*)</text>", path.read_text()))
    assert names == set(result["pareto"]) <= {each["algorithm"] for each in result["results"]}


def test_a_picture_that_cannot_be(tradewind, tmp_path):
    code, _, err = tradewind("allreduce", "--ranks", "30", *SMALL, "--picture", str(tmp_path / "pareto.gif"))
    assert code == 2
    assert "a name that ends in .svg" in err
    assert "no power in this machine file, torus-M; a table [power] is needed in one" in err
