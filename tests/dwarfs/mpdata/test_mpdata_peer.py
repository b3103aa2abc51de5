"""MPDATA on a flat mesh beside PyMPDATA (Bartman et al. 2022, doi:10.21105/joss.03896), code of other authors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tradewind.dwarfs.frame.advection import exact
from tradewind.dwarfs.mpdata import Mpdata
from tradewind.layout.dual_meshes import mesh_of

pytestmark = pytest.mark.slow

SIDE, STEPS, COURANT = 32, 64, (0.5, 0.25)


def pympdata(field: Any, passes: int, gauge: bool) -> Any:
    """The field [x][y] after all steps of that code, without its limiter."""
    peer = pytest.importorskip("PyMPDATA")
    periodic = pytest.importorskip("PyMPDATA.boundary_conditions").Periodic
    options = peer.Options(n_iters=passes, infinite_gauge=gauge)
    around = {"halo": options.n_halo, "boundary_conditions": (periodic(), periodic())}
    nx, ny = field.shape
    along_x, along_y = (np.full(shape, c) for shape, c in zip(((nx + 1, ny), (nx, ny + 1)), COURANT, strict=True))
    stepper = peer.Stepper(options=options, grid=(nx, ny))
    solver = peer.Solver(stepper, peer.ScalarField(field, **around), peer.VectorField((along_x, along_y), **around))
    solver.advance(STEPS)
    return solver.advectee.get().copy()


def test_beside_pympdata(monkeypatch):
    """The upwind pass is the same; the others, other formulas of one scheme, are close, and about as far from truth."""
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")  # to compile the peer takes minutes, its Python runs in seconds
    dwarf = Mpdata(1, f"{SIDE}x{SIDE}", levels=1, alpha=np.arctan2(*COURANT[::-1]), dt_s=np.hypot(*COURANT))
    mesh, nodes = mesh_of(dwarf.grid), np.arange(dwarf.nodes)

    def square(field: Any) -> Any:
        return np.ascontiguousarray(field.reshape(SIDE, SIDE).T)

    start = exact(mesh, nodes, "hill", dwarf.alpha, np.zeros(1))
    end = square(exact(mesh, nodes, "hill", dwarf.alpha, np.array([STEPS * dwarf.dt_s])))
    found, errors = {}, {}
    for passes, gauge in ((1, False), (2, True), (2, False)):
        reference = replace(dwarf._reference, passes=passes, gauge=gauge)
        field = start
        for _ in range(STEPS):
            field = reference.step(field)
        ours, theirs = square(field), pympdata(square(start), passes, gauge)
        found[passes, gauge] = np.abs(ours - theirs).max()
        errors[passes, gauge] = np.abs(ours - end).max(), np.abs(theirs - end).max()
    print(found, errors)
    assert found[1, False] < 1e-14
    for gauge in (True, False):
        assert found[2, gauge] < 0.15 * errors[1, False][0]
        assert errors[2, gauge][0] < 1.5 * errors[2, gauge][1]
        assert errors[2, gauge][0] < 0.5 * errors[1, False][0]
