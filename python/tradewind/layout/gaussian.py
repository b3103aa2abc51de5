"""Gaussian latitudes: the roots of Legendre polynomials."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tradewind import _core
from tradewind.base.errors import InputError


def gaussian_latitudes(n: int) -> NDArray[np.float64]:
    """Return the 2 n Gaussian latitudes in radians, from the north: the arcsines of the roots of P_2n.

    Raises InputError for n below 1.
    """
    if n < 1:
        raise InputError(f"{n} Gaussian latitudes per hemisphere: 1 or more are allowed")
    north = np.pi / 2 - np.asarray(_core.Gaussian(n).colatitude)
    return np.concatenate([north, -north[::-1]])
