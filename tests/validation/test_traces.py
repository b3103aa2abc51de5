"""Packets take the paths, at the times, that were computed by hand."""

import dataclasses

import pytest
from validation.computed_by_hand import ROUTES
from validation.traces import simulate

from tradewind.machine.topology import TOPOLOGIES


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_switch_by_switch(route):
    assert simulate(route) == (route.heads, route.end)


def test_every_topology_has_a_way():
    assert {route.machine.machine.topology.kind for route in ROUTES} == set(TOPOLOGIES)


def test_another_way_is_seen():
    torus = next(route for route in ROUTES if route.name == "torus")
    heads, _ = simulate(dataclasses.replace(torus, nodes=(1, 14)))
    assert heads != torus.heads
