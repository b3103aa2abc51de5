"""Arrays that the bindings of MPDATA's loops refuse."""

from __future__ import annotations

import numpy as np
import pytest

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.layout.mesh_part import Surroundings
from tradewind.layout.mesh_rows import rows_of
from tradewind.layout.partition import own_nodes

LEVELS = 19


class Case:
    """A field on half of a mesh."""

    def __init__(self) -> None:
        mesh = rows_of("O3")
        own = own_nodes(mesh, 2, "bands", 0)
        self.around = Surroundings(mesh, own)
        self.part = part = self.around.part(own, self.around.halo)
        self.ids = np.concatenate([part.own, part.halo])
        self.graph = _core.MeshGraph(
            part.offsets, part.neighbours, part.faces, part.edges, np.ones(len(part.own)), len(self.ids)
        )
        self.flux = np.ones((len(part.edges), LEVELS))
        self.q = np.ones((len(self.ids), LEVELS))
        self.all_own = _core.Nodes((0, self.graph.nodes))


def test_wrong_calls():
    case = Case()
    team, out = _core.Team(), np.empty_like(case.q)
    with pytest.raises(InputError, match=r"q: 5 rows of 19 levels: \d+ of 19 are allowed"):
        _core.mpdata_divergence(case.graph, case.all_own, case.flux, case.q[:5], out, team)
    with pytest.raises(InputError, match=r"nodes 0:1000 of \d+: ascending ones of these are allowed"):
        _core.mpdata_divergence(case.graph, _core.Nodes((0, 1000)), case.flux, case.q, out, team)
    with pytest.raises(InputError, match="q and out are one array"):
        _core.mpdata_corrected(case.graph, case.all_own, case.flux, case.q, out, case.q, 1.0, True, None, team)
    nodes = (0, case.graph.nodes)
    with pytest.raises(InputError, match=r"kept: 7 rows of 19 levels: \d+ of 19 are allowed"):
        _core.mpdata_swept(case.graph, nodes, case.flux, case.q, np.empty((7, LEVELS)), out, 1.0, team)
    turned = case.around.part(case.part.own[::-1].copy(), case.part.halo)
    graph = _core.MeshGraph(
        turned.offsets, turned.neighbours, turned.faces, turned.edges, np.ones(len(turned.own)), len(case.ids)
    )
    kept = np.empty((graph.kept_rows, LEVELS))
    with pytest.raises(InputError, match="a sweep is for own nodes in the order of their edges: sort them by ids"):
        _core.mpdata_swept(graph, nodes, case.flux, case.q, kept, out, 1.0, team)
    part = case.part
    with pytest.raises(InputError, match=r"neighbours: entry \d+ is \d+: 0..\d+ are allowed"):
        _core.MeshGraph(
            part.offsets, part.neighbours, part.faces, part.edges, np.ones(len(part.own)), int(part.neighbours.max())
        )
