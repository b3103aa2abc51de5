"""Why the errors of the dwarf in the deformational flow are larger than the published ones, one change at a time."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mpi4py.MPI")

from lat_lon_mpdata import LatLonMpdata

from tradewind.dwarfs.frame.advection import ROTATION_S, outflow_rates
from tradewind.dwarfs.mpdata import Mpdata
from tradewind.dwarfs.mpdata.reference import ReferenceMpdata
from tradewind.dwarfs.mpdata.solution import solution
from tradewind.dwarfs.mpdata.winds import Wind
from tradewind.layout.dual_meshes import octahedral
from tradewind.layout.median_dual import MedianDual

PUBLISHED = {60: (454, 0.280), 120: (908, 0.108)}
"""Steps and l2 of Gaussian hills after the period by the number of latitudes ("Mg2No" in
tests/mp3_paper_2018_JCP/reversing_deform/refdata of github.com/igfuw/libmpdataxx)."""
EVEN_STEPS = 627
"""Steps of one length with Courant numbers of up to 0.8 on 60 latitudes."""


def dual(rows: int) -> MedianDual:
    """Return the mesh of the dwarf on longitudes and latitudes, counted from the south, on a sphere of radius 1."""
    grid = LatLonMpdata(rows)
    x, y = (values.ravel() for values in np.broadcast_arrays(grid.x, grid.y))
    west = np.arange(2 * rows)
    east = np.roll(west, -1)
    strips = [
        np.stack([west, east, east + len(west), west + len(west)], 1) + row * len(west) for row in range(rows - 1)
    ]
    poles = [west + (rows - 1) * len(west), west[::-1]]
    return MedianDual.of_cells(x, y, [np.concatenate(strips)], (2 * np.pi, 0.0), radius=1.0, poles=poles)


def test_the_scheme_of_the_dwarf_on_longitudes_and_latitudes_by_other_code():
    """The formulas of meshes are those of arrays, where the mesh is made of longitudes and latitudes: to rounding."""
    grid, mesh = LatLonMpdata(12, compact=False, limiter=False), dual(12)
    assert np.abs(mesh.volume.reshape(12, 24) / grid.volume - 1).max() < 0.01
    u, v = grid.flow(0.7)
    dt = 0.7 / grid.courant(u, v)
    first, second = mesh.edges.T
    inside = v[1:-1].ravel()
    along = first // 24 == second // 24
    eastward = np.where(second == first + 1, 1.0, -1.0)  # not the edge back to longitude 0
    flux = np.where(along, eastward * u.ravel()[np.where(eastward > 0, first, second)], inside[first % len(inside)])
    reference = ReferenceMpdata(
        mesh.edges, flux[:, None], None, 1 / grid.volume.reshape(-1, 1), dt, passes=2, gauge=True, limiter=False
    )
    wanted, found = grid.hills(), grid.hills().reshape(-1, 1)
    for _ in range(9):
        wanted, found = grid.step(wanted, u * dt, v * dt), reference.step(found)
    assert np.abs(found.reshape(wanted.shape) - wanted).max() < 1e-14
    assert np.abs(wanted - grid.hills()).max() > 0.1


@pytest.mark.slow  # 5 s
def test_published_errors_and_what_changes_them():
    """With the published formulas and steps the published number of steps and error; then by steps of one length, and
    by the divergences of nodes. What the octahedral mesh adds is in `test_mpdata_flows.py`."""
    steps, error = PUBLISHED[60]
    assert LatLonMpdata(60).run() == (steps, pytest.approx(error, rel=0.005))
    found = [LatLonMpdata(60, compact=compact).run(EVEN_STEPS)[1] for compact in (True, False)]
    assert found == pytest.approx([0.371, 0.421], abs=1e-3)


def rate(wind: Wind, mesh: MedianDual, t: float) -> float:
    """Return the largest share of a volume that flows out per second at a time."""
    return float(outflow_rates(mesh.edges, wind.at(t)[0][:, 0], 1 / mesh.volume).max())


@pytest.mark.slow  # 4 s
def test_the_octahedral_mesh_in_steps_that_follow_the_flow():
    """The formulas of the dwarf, on 60 latitudes: 0.476 in steps of one length, see `test_mpdata_flows.py`."""
    dwarf, mesh = Mpdata(1, "O30", levels=1, flow="deformation", tracer="hill", limiter=True), octahedral(30)
    wind, reference = Wind(dwarf, mesh), dwarf._reference
    start = field = solution(dwarf, mesh, 0.0)
    t, dt, steps = 0.0, reference.dt, 0
    while t < ROTATION_S * (1 - 1e-12):
        for _ in range(4):
            dt = dwarf.courant / rate(wind, mesh, t + dt / 2)
        dt = min(dt, ROTATION_S - t)
        field = replace(reference, flux=wind.at(t + dt / 2)[0], dt=dt).step(field)
        t, steps = t + dt, steps + 1
    volume = mesh.volume[:, None]
    error = math.sqrt((volume * (field - start) ** 2).sum() / (volume * start**2).sum())
    assert (steps, error) == (358, pytest.approx(0.381, abs=1e-3))


@pytest.mark.parametrize(("alpha", "share"), [(0.0, 1.0), (0.6, 1 / (math.cos(0.6) + math.sin(0.6)))])
def test_waves_grow_beyond_the_courant_number_of_the_gauge(alpha, share):
    """By the matrix of a step on squares: its largest eigenvalue is 1 up to the limit, and 4 c2 - 1 beyond it."""
    for courant in (0.70710, 0.72):
        dwarf = Mpdata(1, "8x6", levels=48, alpha=alpha, dt_s=courant * share)
        largest = np.abs(np.linalg.eigvals(dwarf.reference_step(np.eye(48)))).max()
        assert largest == pytest.approx(max(1.0, 4 * courant**2 - 1), abs=1e-9)
