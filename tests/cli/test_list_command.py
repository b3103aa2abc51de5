"""`tradewind list`."""

import json
from pathlib import Path

import pytest
from pictures import Svg

from tradewind.cli import make_app, output
from tradewind.cli.list import TABLES
from tradewind.machine import machine_folder

SEEN = {}
"""Exit code, output and errors by arguments: several tests look at the same lists."""


@pytest.fixture
def tradewind(capsys):
    def run(*arguments):
        if arguments not in SEEN:
            code = output.run(make_app(), list(arguments))
            SEEN[arguments] = code, *capsys.readouterr()
        return SEEN[arguments]

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


def test_a_machine_says_which_of_its_values_are_published(tradewind):
    rows = json.loads(tradewind("list", "machines", "--json")[1])
    for row in rows:
        assert list(row["values"]) == ["cited", "estimated", "assumed", "other"]
        assert row["values"]["cited"], row["name"]
        assert row["values"]["other"] == [], row["name"]
    (fugaku,) = (row for row in rows if row["name"] == "fugaku")
    assumed = ["nic.send_overhead", "nic.receive_overhead", "packet.size", "power.idle", "power.waiting"]
    assert fugaku["values"]["assumed"] == assumed
    assert sorted(fugaku["values"]["estimated"]) == [
        "link.latency",
        "nic.latency",
        "node.memory_bandwidth",
        "power.busy",
    ]
    code, out, _ = tradewind("list", "machines", "--machine", "fugaku")
    assert code == 0
    assert f"assumed: {', '.join(assumed)}" in " ".join(out.split())
    counts = [f"{len(keys)} {kind}" for kind, keys in fugaku["values"].items() if keys]
    assert all(part in out for count in counts for part in count.split()), out
    assert "other:" not in out
    assert "assumed: nic" not in tradewind("list", "machines")[1], "which ones: of one machine"


def test_all_lists_in_short(tradewind):
    code, out, _ = tradewind("list")
    assert code == 0
    shown = {word.strip(",") for word in out.split()}
    _, text, _ = tradewind("list", "--json")
    lists = json.loads(text)
    assert list(lists) == list(TABLES)
    for rows in lists.values():
        assert {row["name"] for row in rows} <= shown
    (halos,) = (line for line in out.splitlines() if line.startswith("algorithms: halo "))
    assert halos.split()[2:] == ["sweep,", "direct,", "two-level-k,", "leaders-k"]
    assert "tradewind list WHAT" in out


def test_studies_are_listed_by_the_names_that_run_them(tradewind):
    from tradewind.study.plan.catalogue import find_study

    rows = json.loads(tradewind("list", "studies", "--json")[1])
    assert all(find_study(Path(row["name"])) == Path(row["file"]) for row in rows)
    out = tradewind("list", "studies")[1]
    folders = sorted({row["name"].split("/")[0] for row in rows if "/" in row["name"]})
    assert {"hirlam2004", "on-demand-halo", "zheng2018"} <= {*folders}
    assert f"tradewind study FOLDER ({', '.join(folders)})" in out


def test_an_unknown_list(tradewind):
    code, out, _ = tradewind("list", "machine", "--json")
    assert code == 2
    assert "did you mean 'machines'" in json.loads(out)["error"]
    code, out, err = tradewind("list", "machine")
    assert (code, out) == (2, "")
    assert "did you mean 'machines'" in err


def test_one_machine_and_its_map(tradewind, tmp_path):
    picture = tmp_path / "map.svg"
    code, out, _ = tradewind("list", "machines", "--machine", "torus-M", "--picture", str(picture))
    assert code == 0
    assert "torus-M" in out
    assert "fattree" not in out
    assert f"picture: {picture}" in out
    assert any("25 x 25 x 25" in text for text in Svg(picture).texts)
    own = tmp_path / "mine.toml"
    own.write_text((machine_folder() / "torus-M.toml").read_text().replace("[25, 25, 25]", "[4, 4]"))
    code, out, _ = tradewind("list", "machines", "--machine", str(own), "--json")
    assert code == 0
    assert [(row["name"], row["switches"]) for row in json.loads(out)] == [("mine", 16)]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("machines", "--picture", "map.svg"), "of which machine?"),
        (("--machine", "torus-M"), "it belongs to  tradewind list machines"),
        (("routings", "--machine", "torus-M"), "it belongs to  tradewind list machines"),
        (("machines", "--machine", "torus-N"), "did you mean 'torus-M'"),
        (("machines", "--machine", "torus-M", "--picture", "map.jpg"), "a name that ends in .svg"),
    ],
)
def test_maps_that_are_refused(tradewind, arguments, expected):
    code, out, err = tradewind("list", *arguments)
    assert (code, out) == (2, "")
    assert expected in err
