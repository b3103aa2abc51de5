"""Tracers of MPDATA, and their exact solutions at any time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.dwarfs.frame.advection import ROTATION_S, TRACERS, at_start, exact
from tradewind.dwarfs.mpdata import air
from tradewind.dwarfs.mpdata.winds import deformed, overturned

if TYPE_CHECKING:
    from tradewind.layout.median_dual import MedianDual
    from tradewind.layout.mesh_rows import Reals

LAYERS = {"rotation": (8.5e3, 3e3), "overturning": (3.5e3, 1.5e3)}
"""Height of the middle of a tracer and half its depth in m, by flow; of overturning that of DCMIP's test 1-2."""
PLACES = ((5 * np.pi / 6, 0.0), (7 * np.pi / 6, 0.0))
"""Longitudes and latitudes of the hills and bells of Lauritzen et al. 2012."""
HILL_HEIGHT, BELL_RADIUS, BELL_GROUND = 0.95, 0.5, 0.1


def solution(dwarf: Any, mesh: MedianDual, t: float) -> Reals:
    """Return the exact solution [own node][level] at a time in s; own nodes are the first of the mesh."""
    nodes = np.arange(len(mesh.volume))
    if dwarf.flow == "deformation":
        column = _pair(dwarf.tracer, deformed(mesh.x[nodes], mesh.y[nodes], t))
        return np.repeat(column[:, None], dwarf.levels, axis=1)
    if not dwarf.has_columns:
        return exact(mesh, nodes, dwarf.tracer, dwarf.alpha, t * dwarf.level_speeds)
    if dwarf.flow == "overturning":
        rows, row = np.unique(mesh.y[nodes], return_inverse=True)
        z = air.middles(np.zeros(1), dwarf.levels)
        start = np.broadcast_arrays(rows[:, None], z)
        y, z = (each[row] for each in overturned(start[0], start[1], t))
        x = (mesh.x[nodes] - 2 * np.pi * t / ROTATION_S)[:, None]
        places: tuple[Reals, ...] = (np.cos(y) * np.cos(x), np.cos(y) * np.sin(x), np.sin(y))
    else:
        z = air.middles(air.ground(mesh.x[nodes], mesh.y[nodes], dwarf.mountain), dwarf.levels)
        places = at_start(mesh, nodes, dwarf.alpha, t * air.share_of_wind(z))
    around = np.ones_like(z) if dwarf.tracer == "layer" else TRACERS[dwarf.tracer](mesh, places)
    return np.asarray(around * _by_height(dwarf.tracer, z, *LAYERS[dwarf.flow]))


def _by_height(tracer: str, z: Reals, middle: float, depth: float) -> Reals:
    """The share of a tracer at a height."""
    away = (z - middle) / depth
    if tracer == "uniform":
        return np.ones_like(z)
    if tracer == "hill":
        return np.exp(-4 * away**2)
    return np.where(np.abs(away) < 1, (1 + np.cos(np.pi * away)) / 2, 0.0)


def _pair(tracer: str, places: tuple[Reals, ...]) -> Reals:
    """Two hills, or two bells, side by side on the equator."""
    total = np.zeros_like(places[0])
    if tracer == "uniform":
        return total + 1
    for x, y in PLACES:
        centre = np.cos(y) * np.cos(x), np.cos(y) * np.sin(x), np.sin(y)
        away = np.sqrt(sum((p - c) ** 2 for p, c in zip(places, centre, strict=True)))
        if tracer == "hill":
            total += HILL_HEIGHT * np.exp(-5 * away**2)
        else:
            along = 2 * np.arcsin(np.minimum(1.0, away / 2))
            total += (1 - BELL_GROUND) * np.where(
                along < BELL_RADIUS, (1 + np.cos(np.pi * along / BELL_RADIUS)) / 2, 0.0
            )
    return total if tracer == "hill" else total + BELL_GROUND
