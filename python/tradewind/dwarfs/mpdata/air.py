"""Columns of air over the nodes of a mesh: levels that follow the ground, and the mass of each.

Heights are z = h + (top - h) (1 - k / levels), k from the top (Gal-Chen & Somerville 1975,
doi:10.1016/0021-9991(75)90037-6); the density is exp(-z / H), 1 at sea level. The unit of masses is a cubic metre of
that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tradewind.layout.mesh_rows import Reals

TOP_M = 12e3
SCALE_HEIGHT_M = 287.0 * 300.0 / 9.80616
"""Scale height H of an isothermal atmosphere of 300 K (DCMIP 2012, test 1)."""
CALM_M, WINDY_M = 4e3, 5e3
"""Above a mountain there is no wind below the first height, and all of it above the second (Schaer et al. 2002,
doi:10.1175/1520-0493(2002)130<2459:ANTFVC>2.0.CO;2)."""
MOUNTAIN_PLACE, MOUNTAIN_RADIUS = (7 * np.pi / 4, 0.0), np.pi / 3
"""Longitude and latitude, and radius along great circles, in radians: in the way of the tracers."""


def ground(x: Reals, y: Reals, height: float) -> Reals:
    """Heights of the ground in m: half a wave of a cosine, the mountain, in a plain."""
    x0, y0 = MOUNTAIN_PLACE
    cosine = np.sin(y0) * np.sin(y) + np.cos(y0) * np.cos(y) * np.cos(x - x0)
    away = np.arccos(np.clip(cosine, -1.0, 1.0))
    return np.where(away < MOUNTAIN_RADIUS, height / 2 * (1 + np.cos(np.pi * away / MOUNTAIN_RADIUS)), 0.0)


def interfaces(ground: Reals, levels: int) -> Reals:
    """Heights in m of the faces between levels, [place][level + 1], from the top to the ground."""
    share = 1 - np.arange(levels + 1) / levels
    z = ground[:, None] + (TOP_M - ground[:, None]) * share
    z[:, 0] = TOP_M
    return z


def middles(ground: Reals, levels: int) -> Reals:
    """Heights in m of the middles of levels, [place][level]."""
    z = interfaces(ground, levels)
    return np.asarray((z[:, 1:] + z[:, :-1]) / 2)


def mass_above(z: Reals) -> Reals:
    """Mass per m2 between the top and a height."""
    return np.asarray(SCALE_HEIGHT_M * (np.exp(-z / SCALE_HEIGHT_M) - np.exp(-TOP_M / SCALE_HEIGHT_M)))


def layer_masses(ground: Reals, levels: int) -> Reals:
    """Mass per m2 of each level, [place][level]."""
    return np.diff(mass_above(interfaces(ground, levels)), axis=1)


def share_of_wind(z: Reals) -> Reals:
    """Share of the wind above a mountain at a height."""
    return np.asarray(np.sin(np.pi / 2 * np.clip((z - CALM_M) / (WINDY_M - CALM_M), 0.0, 1.0)) ** 2)


def moving_mass_above(z: Reals) -> Reals:
    """The integral of the density times `share_of_wind` between the top and a height, one number for all calm ones."""
    k, h = np.pi / (WINDY_M - CALM_M), SCALE_HEIGHT_M

    def antiderivative(z: Reals | float) -> Reals:
        angle = k * (z - CALM_M)
        wave = (k * np.sin(angle) - np.cos(angle) / h) / (1 / h**2 + k**2)
        return np.asarray(-np.exp(-z / h) * (h + wave) / 2)

    between = np.clip(z, CALM_M, WINDY_M)
    return mass_above(np.maximum(z, WINDY_M)) + (antiderivative(WINDY_M) - antiderivative(between))
