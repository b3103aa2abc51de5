"""Gaussian latitudes: the roots of Legendre polynomials."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tradewind import _core
from tradewind.base.errors import InputError


@lru_cache(maxsize=16)
def gaussian_latitudes(n: int) -> NDArray[np.float64]:
    """Return the 2 n Gaussian latitudes in radians, from the north: the arcsines of the roots of P_2n; read-only.

    Raises InputError for n below 1.
    """
    if n < 1:
        raise InputError(f"{n} Gaussian latitudes per hemisphere: 1 or more are allowed")
    north = np.pi / 2 - np.asarray(_core.Gaussian(n).colatitude)
    found = np.concatenate([north, -north[::-1]])
    found.flags.writeable = False  # it is kept
    return found
