"""The compiled loops of MPDATA against NumPy's over edges, bit for bit, on parts of meshes and whole ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.dwarfs.advection import outflow_rates, stream_fluxes
from tradewind.dwarfs.mpdata_reference import ReferenceMpdata
from tradewind.layout.dual_meshes import mesh_of
from tradewind.layout.partition import Divided, parts

LEVELS = 19
"""Vectors of 16 and of 8 single-precision values, of 8 and of 4 doubles, and what is left."""


class Case:
    """A field on a part of a mesh, or on all of it, and room for what is computed."""

    def __init__(self, name: str, ranks: int = 1, rank: int = 0, order: str = "bands", dtype: str = "f8") -> None:
        self.mesh = mesh_of(name)
        divided = Divided(self.mesh)
        own = np.sort(parts(self.mesh, ranks, order)[rank])
        self.part = part = divided.part(own, divided.halo(own))
        self.ids = np.concatenate([part.own, part.halo])
        fluxes = stream_fluxes(self.mesh, 0.8)
        inverse = 1 / self.mesh.volume
        self.dt = 0.9 / outflow_rates(self.mesh.edges, fluxes, inverse).max()
        scale = np.linspace(1, 0.3, LEVELS)
        self.whole_flux = (fluxes[:, None] * scale).astype(dtype)
        self.whole = np.random.default_rng(5).random((self.mesh.nodes, LEVELS)).astype(dtype)
        self.inverse = inverse.astype(dtype)
        self.graph = _core.MeshGraph(
            part.offsets, part.neighbours, part.faces, part.edges, inverse[part.own], len(self.ids)
        )
        self.flux = np.ascontiguousarray(self.whole_flux[part.edge_ids])
        self.q = np.ascontiguousarray(self.whole[self.ids])
        self.all_own = _core.Nodes((0, self.graph.nodes))

    def empty(self, *more: int) -> Any:
        return np.full((len(self.ids), *more, LEVELS), np.nan, self.q.dtype)

    def reference(self, passes: int = 2, gauge: bool = True, limiter: bool = False) -> ReferenceMpdata:
        return ReferenceMpdata(self.mesh.edges, self.whole_flux, self.inverse, self.dt, passes, gauge, limiter)

    def divergence(self) -> Any:
        """Divergence of own nodes and of the halo, as an exchange would bring it."""
        reference = self.reference()
        return reference.divergence(reference.upwind(self.whole_flux, self.whole))[self.ids]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize(("ranks", "rank", "order"), [(1, 0, "bands"), (3, 1, "bands"), (4, 2, "curve")])
def test_the_same_bits_as_numpy_on_any_part(ranks, rank, order, dtype):
    case = Case("O9", ranks, rank, order, dtype)
    graph, own = case.graph, slice(0, case.graph.nodes)
    team = _core.Team(3)
    divergence = case.empty()
    _core.mpdata_divergence(graph, case.all_own, case.flux, case.q, divergence, team)
    assert np.array_equal(divergence[own], case.divergence()[own])
    assert np.isnan(divergence[graph.nodes :]).all()
    divergence = case.divergence()
    for gauge in (True, False):
        for limiter in (False, True):
            limits = None
            wanted = case.reference(2, gauge, limiter).step(case.whole)[case.part.own]
            if limiter:
                whole = Case("O9", dtype=dtype)
                limits = whole.empty(2)
                args = (whole.flux, whole.q, whole.divergence(), limits, case.dt, gauge, team)
                _core.mpdata_limits(whole.graph, whole.all_own, *args)
                limits = np.ascontiguousarray(limits[case.ids])
            out = case.empty()
            args = (case.flux, case.q, divergence, out, case.dt, gauge, limits, team)
            _core.mpdata_corrected(graph, case.all_own, *args)
            assert np.array_equal(out[own], wanted), (gauge, limiter)


@pytest.mark.parametrize("limiter", [False, True])
@pytest.mark.parametrize("passes", [3, 4])
def test_further_passes(passes, limiter):
    case = Case("O5")
    team = _core.Team()
    flux, q, divergence, limits, out = case.flux, case.q, case.empty(), case.empty(2), case.empty()
    for number in range(2, passes + 1):
        _core.mpdata_divergence(case.graph, case.all_own, flux, q, divergence, team)
        shares = None
        if limiter:
            _core.mpdata_limits(case.graph, case.all_own, flux, q, divergence, limits, case.dt, False, team)
            shares = limits
        if number == passes:
            _core.mpdata_corrected(case.graph, case.all_own, flux, q, divergence, out, case.dt, False, shares, team)
        else:
            next_flux, next_q = np.empty_like(flux), np.empty_like(q)
            _core.mpdata_next_pass(case.graph, flux, q, divergence, next_flux, next_q, case.dt, shares, team)
            flux, q = next_flux, next_q
    assert np.array_equal(out, case.reference(passes, False, limiter).step(case.whole))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_sweep_and_plain_loops_have_the_same_bits(threads, dtype):
    case = Case("O16", dtype=dtype)
    team = _core.Team(threads)
    wanted = case.reference().step(case.whole)[case.ids]
    nodes = case.graph.nodes
    kept = np.full((case.graph.kept_rows * threads, LEVELS), np.nan, dtype)
    out = case.empty()
    _core.mpdata_swept(case.graph, (0, nodes), case.flux, case.q, kept, out, case.dt, team)
    assert np.array_equal(out, wanted)
    through, divergence, out = np.empty_like(case.flux), case.empty(), case.empty()
    _core.mpdata_plain(case.graph, case.flux, case.q, None, through, divergence, case.dt, team)
    _core.mpdata_plain(case.graph, case.flux, case.q, divergence, through, out, case.dt, team)
    assert np.array_equal(out, wanted)


@pytest.mark.parametrize("order", ["bands", "curve"])
@pytest.mark.parametrize(("rank", "threads"), [(0, 1), (2, 3), (4, 2)])
def test_a_sweep_takes_the_nodes_without_a_neighbour_in_the_halo(rank, threads, order):
    case = Case("O16", 5, rank, order)
    nodes = case.graph.nodes
    kept, out = np.full((case.graph.kept_rows * threads, LEVELS), np.nan), case.empty()
    _core.mpdata_swept(case.graph, (0, nodes), case.flux, case.q, kept, out, case.dt, _core.Team(threads))
    wanted = case.reference().step(case.whole)[case.part.own]
    interior = np.setdiff1d(np.arange(nodes), case.part.rim())
    assert np.array_equal(out[interior], wanted[interior])
    assert np.isnan(out[case.part.rim()]).all()


def test_a_sweep_of_some_nodes():
    case = Case("O16")
    assert case.graph.kept_rows < 3 * case.graph.nodes
    kept, out = np.full((case.graph.kept_rows, LEVELS), np.nan), case.empty()
    _core.mpdata_swept(case.graph, (200, 900), case.flux, case.q, kept, out, case.dt, _core.Team())
    assert np.array_equal(out[200:900], case.reference().step(case.whole)[200:900])
    assert np.isnan(out[:200]).all()
    assert np.isnan(out[900:]).all()


def test_some_nodes_by_list_and_by_mask():
    case = Case("O5")
    wanted = case.divergence()
    some = np.array([3, 77, 12, 100], np.int32)
    mask = np.zeros(case.graph.nodes, np.uint8)
    mask[some] = 1
    for nodes, touched in (
        (_core.Nodes((1, 3), some), some[1:3]),
        (_core.Nodes((0, case.graph.nodes), None, mask, True), some),
        (_core.Nodes((50, case.graph.nodes), None, mask, False), np.setdiff1d(np.arange(50, case.graph.nodes), some)),
    ):
        out = case.empty()
        _core.mpdata_divergence(case.graph, nodes, case.flux, case.q, out, _core.Team(2))
        assert np.array_equal(np.flatnonzero(~np.isnan(out[:, 0])), np.sort(touched))
        assert np.array_equal(out[touched], wanted[touched])


def test_wrong_calls():
    case = Case("O3", 2, 0)
    team, out = _core.Team(), case.empty()
    with pytest.raises(InputError, match=r"q: 5 rows of 19 levels: \d+ of 19 are allowed"):
        _core.mpdata_divergence(case.graph, case.all_own, case.flux, case.q[:5], out, team)
    with pytest.raises(InputError, match=r"nodes 0:1000 of \d+: ascending ones of these are allowed"):
        _core.mpdata_divergence(case.graph, _core.Nodes((0, 1000)), case.flux, case.q, out, team)
    with pytest.raises(InputError, match="q and out are one array"):
        _core.mpdata_corrected(case.graph, case.all_own, case.flux, case.q, out, case.q, 1.0, True, None, team)
    nodes = (0, case.graph.nodes)
    with pytest.raises(InputError, match=r"kept: 7 rows of 19 levels: \d+ of 19 are allowed"):
        _core.mpdata_swept(case.graph, nodes, case.flux, case.q, np.empty((7, LEVELS)), out, 1.0, team)
    turned = Divided(case.mesh).part(case.part.own[::-1].copy(), case.part.halo)
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
