"""Gaussian latitudes: the roots of Legendre polynomials."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tradewind.base.errors import InputError

_NEWTON_STEPS = 6
"""The first guess is right to about 1e-4 of the distance between two latitudes: 3 steps reach the last bit."""


def gaussian_latitudes(n: int) -> NDArray[np.float64]:
    """Return the 2 n Gaussian latitudes in radians, from the north: the arcsines of the roots of P_2n.

    Newton's method in the colatitude, from the guess of Tricomi (1950), with the three-term recurrence. Raises
    InputError for n below 1.
    """
    if n < 1:
        raise InputError(f"{n} Gaussian latitudes per hemisphere: 1 or more are allowed")
    degree = 2 * n
    guess = (4 * np.arange(1, n + 1) - 1) * np.pi / (4 * degree + 2)
    theta = guess + 1 / (8 * degree**2 * np.tan(guess))
    for _ in range(_NEWTON_STEPS):
        mu = np.cos(theta)
        before, last = np.ones(n), mu
        for k in range(2, degree + 1):
            before, last = last, ((2 * k - 1) * mu * last - (k - 1) * before) / k
        slope = degree * (mu * last - before) / np.sin(theta)  # of P_2n(cos theta) by theta
        theta = theta - last / slope
    north = np.pi / 2 - theta
    return np.concatenate([north, -north[::-1]])
