"""Partitions of meshes of finite volumes, and the parts of ranks."""

from __future__ import annotations

import numpy as np
import pytest

from tradewind.base.errors import InputError
from tradewind.layout.dual_meshes import mesh_of
from tradewind.layout.mesh_outline import outline_of, shares_of
from tradewind.layout.mesh_part import Surroundings
from tradewind.layout.mesh_rows import rows_of
from tradewind.layout.partition import ORDERS, curve, own_nodes, parts


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("name", "ranks"), [("O9", 1), ("O9", 7), ("12x9", 4), ("3x3", 9)])
def test_every_node_has_one_rank_and_costs_are_equal(name, ranks, order):
    mesh = mesh_of(name)
    shares = parts(mesh, ranks, order)
    assert np.array_equal(np.sort(np.concatenate(shares)), np.arange(mesh.nodes))
    cost = 1 + mesh.edges_per_node()
    costs = np.array([cost[share].sum() for share in shares])
    assert np.abs(costs - cost.sum() / ranks).max() <= cost.max()


def test_the_curve_goes_from_neighbour_to_neighbour():
    mesh = mesh_of("32x32")
    order = curve(mesh)
    steps = np.abs(np.diff(mesh.x[order])) + np.abs(np.diff(mesh.y[order]))
    assert (steps == 1).all()


def test_parts_of_the_curve_are_compact():
    mesh = outline_of("O40")
    around = {order: sum(map(len, shares_of(mesh, 24, order).halo)) for order in ORDERS}
    assert around["curve"] < 0.6 * around["bands"]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", ["O1", "O6", "7x5"])
def test_a_part_is_the_mesh_by_other_numbers(name, order):
    """Its own nodes, faces and volumes have the bits of those of the whole mesh."""
    mesh, rows = mesh_of(name), rows_of(name)
    for rank, own in enumerate(parts(mesh, 5, order)):
        assert np.array_equal(own_nodes(rows, 5, order, rank), own)
        around = Surroundings(rows, own)
        part = around.part(own, around.halo[::-1])
        ids = np.concatenate([part.own, part.halo])
        edge_ids = np.flatnonzero(np.isin(mesh.edges, own).any(axis=1))
        assert np.array_equal(ids[part.edges], mesh.edges[edge_ids])
        assert np.array_equal(np.sort(part.halo), np.setdiff1d(mesh.edges[edge_ids], own))
        dual = part.dual
        assert np.array_equal(dual.normal, mesh.normal[edge_ids])
        assert np.array_equal(dual.volume, mesh.volume[own])
        assert np.array_equal([dual.x, dual.y], [mesh.x[ids], mesh.y[ids]])
        for found, wanted in ((dual.corner_x, mesh.corner_x), (dual.corner_y, mesh.corner_y)):
            assert np.array_equal(found[dual.corners], wanted[mesh.corners[edge_ids]])
        for node, begin, end in zip(own, part.offsets, part.offsets[1:], strict=False):
            here = np.flatnonzero((mesh.edges == node).any(axis=1))
            faces = part.faces[begin:end]
            assert np.array_equal(edge_ids[faces >> 1], here)
            assert np.array_equal(faces & 1, mesh.edges[here, 1] == node)
            assert np.array_equal(ids[part.neighbours[begin:end]], mesh.edges[here].sum(axis=1) - node)


@pytest.mark.parametrize(
    ("ranks", "order", "message"),
    [
        (10, "bands", "10 ranks: 1..9 are allowed for the nodes of 3x3"),
        (2, "band", "unknown partition 'band'; did you mean 'bands'?"),
    ],
)
def test_bad_input(ranks, order, message):
    with pytest.raises(InputError) as error:
        parts(mesh_of("3x3"), ranks, order)
    assert message in str(error.value)
