"""A step of MPDATA on a whole mesh in NumPy alone: loops over edges, other code than the compiled loops over nodes.

Sums over the faces of a node are taken in the order of the edges' numbers, as in the compiled loops: the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tradewind.mpi.library import Array

LEAST_MEAN = 1e-30
"""Without the gauge: where nothing is, nothing flows."""


@dataclass(frozen=True)
class ReferenceMpdata:
    """MPDATA with what does not change between steps; see `src/kernel/mpdata/mpdata.hpp` for the formulas."""

    edges: NDArray[np.int64]
    """[edge][2]"""
    flux: Array
    """[edge][level], in volume per second, in the precision of the field."""
    inverse_volume: Array
    """[node], in the precision of the field."""
    dt: float
    passes: int
    gauge: bool
    limiter: bool

    def step(self, q: Array) -> Array:
        """The field [node][level] a step later."""
        real = q.dtype.type
        dt, flux = real(self.dt), self.flux
        divergence = self.divergence(self.upwind(flux, q))
        for number in range(2, self.passes + 1):
            before, q = q, q - dt * divergence
            flux = self.correction(flux, q, divergence)
            if self.limiter:
                flux = self.limited(flux, before, q)
            divergence = self.divergence(flux if self.gauge else self.upwind(flux, q))
            if self.gauge:
                assert number == self.passes == 2
        return np.asarray(q - dt * divergence)

    def ends(self, q: Array) -> tuple[Array, Array]:
        """Values at the two nodes of each edge."""
        return q[self.edges[:, 0]], q[self.edges[:, 1]]

    def upwind(self, flux: Array, q: Array) -> Array:
        """Return the upwind fluxes through the edges, [edge][level]."""
        first, second = self.ends(q)
        return np.asarray(np.maximum(flux, 0) * first + np.minimum(flux, 0) * second)

    def divergence(self, through: Array) -> Array:
        """Return the divergence of fluxes, [node][level]."""
        return np.asarray(self.added(through, -through) * self.inverse_volume[:, None])

    def added(self, at_first: Array, at_second: Array) -> Array:
        """Sums over the edges of each node."""
        total = np.zeros((len(self.inverse_volume), at_first.shape[1]), at_first.dtype)
        np.add.at(total, self.edges.ravel(), np.stack([at_first, at_second], axis=1).reshape(-1, at_first.shape[1]))
        return total

    def correction(self, flux: Array, q: Array, divergence: Array) -> Array:
        """Return the corrective fluxes through the edges, [edge][level]."""
        real = q.dtype.type
        (q1, q2), (d1, d2) = self.ends(q), self.ends(divergence)
        half, half_dt = real(0.5), real(0.5) * real(self.dt)
        through = half * (np.abs(flux) * (q2 - q1) - half_dt * flux * (d1 + d2))
        return np.asarray(through if self.gauge else through / (half * (q1 + q2) + real(LEAST_MEAN)))

    def limited(self, flux: Array, before: Array, q: Array) -> Array:
        """The fluxes of the next pass without new extremes."""
        real = q.dtype.type
        low, high = np.minimum(before, q), np.maximum(before, q)
        lowest, highest = low.copy(), high.copy()
        for node, other in ((0, 1), (1, 0)):
            np.minimum.at(lowest, self.edges[:, node], low[self.edges[:, other]])
            np.maximum.at(highest, self.edges[:, node], high[self.edges[:, other]])
        through = flux if self.gauge else self.upwind(flux, q)
        out, into = np.maximum(through, 0), np.maximum(-through, 0)
        dt, tiny = real(self.dt), np.finfo(q.dtype).tiny
        volume = self.inverse_volume[:, None]
        with np.errstate(over="ignore"):
            inward = (highest - q) / (dt * (self.added(into, out) * volume) + tiny)
            outward = (q - lowest) / (dt * (self.added(out, into) * volume) + tiny)
        (in1, in2), (out1, out2) = self.ends(inward), self.ends(outward)
        share = np.where(flux > 0, np.minimum(out1, in2), np.minimum(out2, in1))
        return np.asarray(flux * np.minimum(share, 1))
