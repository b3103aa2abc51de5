"""Pictures of congestion against loads that are computed by hand or written elsewhere."""

from __future__ import annotations

import csv
import json
import re
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.figure.figure import draw
from tradewind.machine import MachineFile, load_machine
from tradewind.machine.link_loads import loads_of
from tradewind.machine.topology import TOPOLOGIES
from tradewind.plot.congestion import groups_chart, ranks_chart, time_chart, time_rows
from tradewind.plot.machine_map import panels
from tradewind.plot.shade import shade
from tradewind.simulation import prepare, simulate
from tradewind.study.model.study import Plot
from tradewind.workload.exchange import Exchange

# Five groups of four switches, one node each; two groups share one link.
DRAGONFLY = {"kind": "dragonfly", "rows": 1, "columns": 4, "groups": 5, "nodes_per_switch": 1, "global_links": 1}
MESSAGE = 8 * 500
RATE = 10e9  # bytes per second, of all links of torus-M


def machine(topology: dict[str, Any], routing: str) -> MachineFile:
    table = TOPOLOGIES[topology["kind"]].model_validate(topology)
    torus = load_machine("torus-M").machine
    return MachineFile("small", torus.model_copy(update={"topology": table, "routing": routing}))


def all_to_all(ranks: int) -> Exchange:
    return Exchange("transpose", ranks, (ranks, 500, ranks), (ranks, 1), algorithm="burst", slab="xz")


def busy_lines(path: Path) -> list[float]:
    """Return the loads of the lines of a map as shares of the time, in ascending order."""
    lines = [e for e in ElementTree.parse(path).iter() if "link" in e.get("class", "").split()]
    return sorted(float(re.findall(r"busy ([\d.e+-]+) %", line[0].text or "")[0]) / 100 for line in lines)


@pytest.fixture(scope="module")
def two_groups(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """Eight ranks, four per group, all to all: sixteen messages each way cross the one link between the groups."""
    folder = tmp_path_factory.mktemp("pictures")
    return folder, simulate(all_to_all(8), machine(DRAGONFLY, "minimal"), congestion=folder, threads=1)


def test_each_link_of_a_small_map_has_its_load(two_groups: tuple[Path, dict[str, Any]]) -> None:
    """Beside the link between the groups: a link to the switch that it starts at carries one message and four more."""
    folder, result = two_groups
    share = MESSAGE / RATE / result["time_s"]
    links = 5 * 6 + 10
    expected = [0.0] * (links - 13) + [share] * 6 + [5 * share] * 6 + [16 * share]
    assert busy_lines(folder / "links.svg") == pytest.approx(expected, rel=0.01)


def test_groups_have_what_their_links_carried(two_groups: tuple[Path, dict[str, Any]]) -> None:
    """Within a group: twelve messages to each other, twelve to the link between the groups and twelve from there."""
    _, result = two_groups
    groups = result["congestion"]["groups"]
    assert (groups["name"], groups["groups"], groups["groups_per_bin"]) == ("group", 5, 1)
    share = MESSAGE / RATE / result["time_s"]
    found = dict(zip(zip(groups["from"], groups["to"], strict=True), groups["bytes"], strict=True))
    assert found == {(0, 0): 36 * MESSAGE, (0, 1): 16 * MESSAGE, (1, 0): 16 * MESSAGE, (1, 1): 36 * MESSAGE}
    assert groups["share"] == pytest.approx([5 * share, 16 * share, 16 * share, 5 * share])
    chart = groups_chart(groups)
    assert chart is not None
    shares, carried = chart.to_dict()["datasets"].values()
    assert [row["bytes"] for row in carried] == groups["bytes"]
    assert {(row["f0"], row["f1"], row["t0"], row["t1"]) for row in shares} == {
        (f, f + 1, t, t + 1) for f in (0, 1) for t in (0, 1)
    }


def test_all_pictures_are_written_and_named(two_groups: tuple[Path, dict[str, Any]]) -> None:
    folder, result = two_groups
    names = ["links.svg", "groups.svg", "ranks.svg", "time.svg", "links.html"]
    assert result["pictures"] == [str(folder / name) for name in names]
    for name in names:
        text = (folder / name).read_text()
        ElementTree.fromstring(re.search(r"<svg.*</svg>", text, re.DOTALL)[0])
        assert "transpose burst on 8 ranks of small, minimal" in text
    assert len(result["delay_pairs"]) == 8


def test_a_crossbar_has_nics_and_no_groups(tmp_path: Path) -> None:
    (tmp_path / "groups.svg").write_text("of another simulation")
    result = simulate(all_to_all(4), machine({"kind": "crossbar", "nodes": 6}, "direct"), congestion=tmp_path)
    share = 3 * MESSAGE / RATE / result["time_s"]
    assert busy_lines(tmp_path / "links.svg") == pytest.approx([0, 0, *[share] * 4], rel=0.01)
    assert not (tmp_path / "groups.svg").exists()
    assert "groups" not in result["congestion"]


TREE = {"kind": "fattree", "levels": 4, "down_ports": 8}


def tree_spot(switch: int) -> tuple[int, int]:
    """(level, subtree): 512 switches per level, those of a subtree of level l being 8^l in a row."""
    level, place = divmod(switch, 512)
    return level, place // 8**level


LARGE = [
    ({"kind": "torus", "shape": [10, 80, 4], "nodes_per_switch": 1}, "dimension-order", lambda s: (0, s // 800)),
    (DRAGONFLY | {"rows": 6, "columns": 16, "groups": 9}, "minimal", lambda s: (0, s // 96)),
    (TREE, "d-mod-k", tree_spot),
]


@pytest.mark.parametrize(("topology", "routing", "spot"), LARGE, ids=lambda v: v["kind"] if isinstance(v, dict) else "")
def test_lines_between_blocks_have_the_busiest_of_their_links(
    topology: dict[str, Any], routing: str, spot: Any, tmp_path: Path
) -> None:
    file = machine(topology, routing)
    exchange = Exchange("halo", 400, (4000, 4000, 2), (20, 20), width=2, periodic="xy")
    options: dict[str, Any] = {"placement": "random", "threads": 1}
    result = simulate(exchange, file, links=tmp_path / "links.csv", congestion=tmp_path, **options)
    busiest: dict[tuple[Any, ...], float] = defaultdict(float)
    all_links = []
    with (tmp_path / "links.csv").open() as stream:
        for row in csv.DictReader(stream):
            if row["kind"] in ("local", "global"):
                ends = tuple(sorted((spot(int(row["from_switch"])), spot(int(row["to_switch"])))))
                share = float(row["busy_s"]) / result["time_s"]
                busiest[ends] = max(busiest[ends], share)
                all_links.append(share)
    between = sorted(share for ends, share in busiest.items() if ends[0] != ends[1])
    shares = busy_lines(tmp_path / "links.svg")
    for share in between:
        assert min(abs(share - value) for value in shares) < 0.01 * share
    assert max(shares) == pytest.approx(max(all_links), rel=0.01), "the part with the busiest link is shown in full"


def test_the_busiest_links_are_drawn_where_all_are_too_many() -> None:
    file = machine(DRAGONFLY | {"rows": 40, "columns": 40, "groups": 3}, "minimal")
    exchange = Exchange("halo", 400, (4000, 4000, 2), (20, 20), width=2, periodic="xy")
    simulation = prepare(exchange, file, threads=1)
    topology = simulation.machine.topology
    loads = loads_of(_core.simulate_packets(*simulation._arguments(), None), topology, file.machine)
    blocks, group = panels(topology, file.machine.topology, loads)
    assert {line.busy for line in blocks.lines} == {0.0}, "all ranks are in one group"
    assert len(group.spots) == 1600
    drawn = {tuple(sorted((line.start, line.end))): line.busy for line in group.lines}
    assert len(drawn) == len(group.lines), "both ways have one line"
    maximum: dict[tuple[int, ...], float] = defaultdict(float)
    for sender, receiver, share in zip(loads.senders, loads.receivers, loads.shares, strict=True):
        ends = tuple(sorted((int(sender), int(receiver))))
        maximum[ends] = max(maximum[ends], float(share))
    assert drawn == maximum


def test_blocks_of_ranks_stand_where_their_ranks_do() -> None:
    delays = [[1e-6 * (1 + source == to) for to in range(4)] for source in range(4)]
    chart = ranks_chart(delays, 10)
    assert chart is not None
    (cells,) = chart.to_dict()["datasets"].values()
    edges = [(0, 3), (3, 5), (5, 8), (8, 10)]  # block of rank r: 4 r div 10
    assert [(cell["f0"], cell["f1"], cell["t0"], cell["t1"]) for cell in cells] == [
        (*edges[i], *edges[i + 1]) for i in range(3)
    ]
    assert ranks_chart([], 10) is None


SERIES = {"bin_s": 2e-6, "packets": [4.0, 0.0, 1.0], "mean_delay_s": [1e-6, 0.0, 3e-6]}


def test_delays_and_arrivals_over_time() -> None:
    assert time_rows(SERIES) == [
        {"from": 0.0, "to": 2e-6, "delay": 1e-6, "rate": 4 / 2e-6},
        {"from": 2e-6, "to": 4e-6, "delay": 0.0, "rate": 0.0},
        {"from": 4e-6, "to": pytest.approx(6e-6), "delay": 3e-6, "rate": 1 / 2e-6},
    ]
    assert time_chart(SERIES) is not None
    assert time_chart({"bin_s": 2e-6, "packets": [], "mean_delay_s": []}) is None


def record(**result: Any) -> dict[str, Any]:
    return {"kind": "simulate", "machine": "small", "routing": "minimal", "time_s": 1.0, "ranks": 8, "result": result}


def test_plots_of_a_study(two_groups: tuple[Path, dict[str, Any]]) -> None:
    _, result = two_groups
    records = [record(**result), record()]
    over_time = draw(Plot(kind="over-time", title="t", of=[{}], curve="routing"), records)
    assert over_time is not None
    (rows,) = over_time["datasets"].values()
    assert {row["curve"] for row in rows} == {"minimal"}
    assert [row["delay"] for row in rows] == pytest.approx(result["delay_over_time"]["mean_delay_s"], rel=0.01)
    groups = draw(Plot(kind="groups", title="t", of=[{}], curve="routing", panel="machine"), records)
    assert "minimal, small" in json.dumps(groups)
    for kind in ("over-time", "groups"):
        assert draw(Plot(kind=kind, title="t", of=[{}], curve="routing"), [record()]) is None


def test_the_busier_the_darker() -> None:
    lights = [sum(int(shade(i / 20)[1 + 2 * c : 3 + 2 * c], 16) for c in range(3)) for i in range(21)]
    assert lights == sorted(lights, reverse=True)
    assert (shade(0), shade(1), shade(2)) == ("#f9c932", "#210c4a", "#210c4a")


def test_a_folder_that_cannot_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"pictures in .*file"):
        simulate(all_to_all(4), machine(DRAGONFLY, "minimal"), congestion=tmp_path / "file")
