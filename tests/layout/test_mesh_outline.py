"""Outlines of meshes, and who needs what by them, beside the meshes of finite volumes."""

from __future__ import annotations

import numpy as np
import pytest

from tradewind.layout.dual_meshes import mesh_of
from tradewind.layout.mesh_outline import outline_of, shares_of
from tradewind.layout.mesh_part import part_of
from tradewind.layout.mesh_rows import rows_of
from tradewind.layout.partition import ORDERS, parts

MESHES = ("O1", "O2", "O5", "O16", "3x3", "9x4")


@pytest.mark.parametrize("name", MESHES)
def test_nodes_and_edges_are_those_of_the_mesh(name):
    mesh, outline = mesh_of(name), outline_of(name)
    assert (outline.name, outline.nodes, outline.periods) == (mesh.name, mesh.nodes, mesh.periods)
    assert outline.on_sphere == mesh.on_sphere
    assert np.array_equal(outline.x, mesh.x)
    assert np.array_equal(outline.y, mesh.y)
    edges = np.sort(outline.edges, axis=1)
    assert np.array_equal(edges[np.lexsort((edges[:, 1], edges[:, 0]))], mesh.edges)
    assert np.array_equal(outline.edges_per_node(), mesh.edges_per_node())


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("ranks", [1, 2, 7, 12, 36])
@pytest.mark.parametrize("name", ["O5", "O16", "9x4"])
def test_ranks_have_and_need_what_their_parts_do(name, ranks, order):
    mesh, outline = rows_of(name), outline_of(name)
    shares = shares_of(outline, ranks, order)
    for rank, own in enumerate(parts(outline, ranks, order)):
        part = part_of(mesh, own)
        assert np.array_equal(shares.own[rank], own)
        assert np.array_equal(shares.halo[rank], part.halo)
        assert (shares.rim[rank], shares.near_rim[rank]) == (len(part.rim()), len(part.near_rim()))
