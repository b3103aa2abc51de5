"""Work of each rank of the dwarf spherical_harmonics: the points of its loops in programs."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.dwarfs.waves.linear_step import VARIABLES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tradewind.spectral.distribution import Distribution
    from tradewind.spectral.precision import Precision

    Reals = NDArray[np.float64]

BACK = "-back"
"""End of the name of an exchange that brings data back."""
FFT, LEGENDRE, WAVES, WINDS = "fft", "legendre", "waves", "winds"
"""Parts of a step that compute."""
WAVE_FLOPS = 40.0
"""Flops of the waves' step for each complex coefficient, beside those of the vertical modes, 8 L for L levels."""
GATHER, SCATTER, ADD, SPREAD = "gather", "scatter", "add", "spread"
"""Copies before and after an exchange, and those of partial sums, to which a target is added or from which one is
made: three numbers are read or written where a copy has two."""


def wave_flops(levels: int) -> float:
    """Return the flops of a time step of the waves per coefficient."""
    return WAVE_FLOPS + 8 * levels


class Loads:
    """Points of the loops of each rank. Their cost per point differs by row and wavenumber, so that flops are points
    of transforms, and bytes are those of copies."""

    def __init__(self, distribution: Distribution, legendre: Reals, precision: Precision) -> None:
        """`legendre`: flops of the Legendre transforms of each rank, one way."""
        self._distribution, self._precision = distribution, precision
        loads = distribution.loads()
        self.fft, self.legendre = loads["fft_flops"], legendre
        self.coefficients = loads["columns"] / len(VARIABLES)

    def of(self, points: str | tuple[str, str]) -> Reals:
        """Return the points of each rank: of a part that computes, or (exchange, kind of copy)."""
        if isinstance(points, tuple):
            return self._copied(*points)
        known = {FFT: self.fft, LEGENDRE: self.legendre, WAVES: self.coefficients}
        return self._winds() if points == WINDS else known[points]

    def flops(self, levels: int) -> float:
        """Return the flops of a step on all ranks."""
        waves = float((self.coefficients * wave_flops(levels)).sum())
        twice = 2 * float(self.fft.sum()) + 2 * float(self.legendre.sum()) + 2 * waves
        return twice - waves

    def _winds(self) -> Reals:
        """Coefficients of one variable whose degrees are up to one more than those of fields."""
        distribution = self._distribution
        top = distribution.truncation.top
        by_set = [sum(top + 2 - piece.m for piece in own) for own in distribution.pieces.by_set]
        return np.array(
            [
                float(by_set[distribution.set_of(rank)[0]] * len(distribution.levels_of(rank)))
                for rank in range(distribution.ranks)
            ]
        )

    @cached_property
    def _patterns(self) -> dict[str, Any]:
        return dict(self._distribution.patterns())

    def _copied(self, way: str, kind: str) -> Reals:
        """Bytes that a copy of the source or the target of an exchange reads and writes."""
        name = way.removesuffix(BACK)
        of_source = (kind in (GATHER, SPREAD)) != way.endswith(BACK)
        types, pattern = self._precision, self._patterns[name]
        size = (types.real_type if name == "rows" else types.complex_type).itemsize
        shape = pattern.source_shape if of_source else pattern.target_shape
        moved = np.array([2.0 * size * math.prod(shape(rank)) for rank in range(self._distribution.ranks)])
        return 3 * moved / 2 if kind in (ADD, SPREAD) else moved
