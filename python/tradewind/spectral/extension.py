"""Extension zones: how a field of a limited area becomes periodic, so that it has Fourier coefficients.

Models of the ALADIN and HIRLAM family add a zone to the east and to the north in which fields go smoothly from their
values at one end to those at the other. Two ways to fill it:

- `boyd_weights`: what is known of the field beyond its area, as of a global model around it, is blended (Boyd 2005,
  Monthly Weather Review 133, 2030-2042, doi:10.1175/MWR2967.1)
- `filled`: splines, from nothing but the area (Haugen & Machenhauer 1993, Monthly Weather Review 121, 2618-2630)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tradewind.base.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Reals = NDArray[np.float64]

SHORTEST_WAVES = 2
"""Waves, of the shortest that is kept, that a zone has room for at least: else filling it makes others."""
_STEEPNESS = 2.0
"""Boyd's L: with 2 the blend and its first derivatives end at 1e-3."""


def smallest_extension(points: int, wavenumber: int) -> int:
    """Return the points that a zone must have where `wavenumber` is the largest that is kept of `points` in all."""
    return math.ceil(SHORTEST_WAVES * points / wavenumber)


def boyd_weights(extension: int) -> Reals:
    """Return the weight of the field that goes on, at each point of a zone, from almost 1 to almost 0.

    The other one, which comes in from one period before, has the rest of 1: a sum of both is periodic.
    """
    from scipy.special import erf  # here, as all commands import this module

    place = 2 * np.arange(1, extension + 1) / (extension + 1) - 1
    return np.asarray((1 - erf(_STEEPNESS * place / np.sqrt(1 - place**2))) / 2)


def filled(field: ArrayLike, extension: int) -> Reals:
    """Return a field ``[...][y][x]`` with a zone of `extension` more points along x and y, by periodic cubic splines.

    Raises InputError for fewer than 1 point, and for an area of fewer than 4 x 4.
    """
    area = np.asarray(field, float)
    if extension < 1:
        raise InputError(f"extension {extension}: 1 or more are allowed")
    if area.ndim < 2 or min(area.shape[-2:]) < 4:
        raise InputError(f"a field of the shape {area.shape}: [...][y][x] with 4 x 4 points and more is allowed")
    return _filled(_filled(area, extension, -1), extension, -2)


def _filled(area: Reals, extension: int, axis: int) -> Reals:
    from scipy.interpolate import CubicSpline  # here, as all commands import this module

    count = area.shape[axis]
    knots = np.concatenate([np.arange(count), [count + extension]])
    closed = np.concatenate([area, np.take(area, [0], axis)], axis)
    spline = CubicSpline(knots, closed, axis=axis, bc_type="periodic")
    return np.concatenate([area, spline(np.arange(count, count + extension))], axis)
