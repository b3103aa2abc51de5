"""Packets take the paths, at the times, that were computed by hand."""

import dataclasses

import pytest
from validation.traces import simulate
from validation.ways import WAYS

from tradewind.machine.topology import TOPOLOGIES


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_switch_by_switch(way):
    assert simulate(way) == (way.heads, way.end)


def test_every_topology_has_a_way():
    assert {way.machine.machine.topology.kind for way in WAYS} == set(TOPOLOGIES)


def test_another_way_is_seen():
    torus = next(way for way in WAYS if way.name == "torus")
    heads, _ = simulate(dataclasses.replace(torus, nodes=(1, 14)))
    assert heads != torus.heads
