"""Groups of switches, against the links that join them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from networks import NETWORKS, build

from tradewind import _core
from tradewind.machine.groups import groups_of
from tradewind.machine.topology import TOPOLOGIES


def components(switches: Iterable[int], links: Iterable[tuple[int, int]]) -> set[frozenset[int]]:
    """The sets of switches that links join."""
    own = {switch: {switch} for switch in switches}
    for a, b in links:
        if own[a] is not own[b]:
            own[a] |= own[b]
            for switch in own[b]:
                own[switch] = own[a]
    return {frozenset(found) for found in own.values()}


def links(topology: _core.Topology, *kinds: str) -> list[tuple[int, int]]:
    ports = [(s, topology.port(s, p)) for s in range(topology.switches) for p in range(topology.radix)]
    return [(s, end[1]) for s, end in ports if end[0] in kinds]


def grouped(values: dict[str, Any]) -> list[frozenset[int]]:
    groups = groups_of(TOPOLOGIES[values["kind"]].model_validate(values), build(values).switches)
    assert groups is not None
    return [frozenset((groups.of == group).nonzero()[0].tolist()) for group in range(groups.count)]


@pytest.mark.parametrize("values", [v for kind in ("dragonfly", "dragonflyplus") for v in NETWORKS[kind]], ids=str)
def test_local_links_join_the_switches_of_a_group(values: dict[str, Any]) -> None:
    topology = build(values)
    if values["groups"] == 1:
        assert groups_of(TOPOLOGIES[values["kind"]].model_validate(values), topology.switches) is None
        return
    assert set(grouped(values)) == components(range(topology.switches), links(topology, "local"))


@pytest.mark.parametrize("values", NETWORKS["fattree"], ids=str)
def test_only_the_top_level_joins_subtrees(values: dict[str, Any]) -> None:
    topology = build(values)
    if values["levels"] == 1:
        assert groups_of(TOPOLOGIES["fattree"].model_validate(values), topology.switches) is None
        return
    *subtrees, top = grouped(values)
    assert top == frozenset(range(min(top), topology.switches)), "the top level has the last numbers"
    below = [switch for switch in range(topology.switches) if switch not in top]
    joined = [(a, b) for a, b in links(topology, "local") if not {a, b} & top]
    assert set(subtrees) == components(below, joined)
    assert not [1 for a, b in links(topology, "local") if {a, b} <= top]


def test_planes_of_a_torus() -> None:
    planes = grouped({"kind": "torus", "shape": [20, 30, 4], "nodes_per_switch": 1})
    assert planes == [frozenset(range(600 * z, 600 * (z + 1))) for z in range(4)]


def test_other_networks_have_none() -> None:
    for values in (*NETWORKS["graph"], *NETWORKS["crossbar"], *NETWORKS["complete"]):
        assert groups_of(TOPOLOGIES[values["kind"]].model_validate(values), build(values).switches) is None
