"""A step of MPDATA on a whole mesh in NumPy alone: loops over edges, other code than the compiled loops over nodes.

Sums over the faces of a node are taken in the order of the edges' numbers, as in the compiled loops: the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tradewind.mpi.library import Array

    Fluxes = tuple[Array, Array | None]

LEAST_MEAN = 1e-30
"""Without the gauge: where nothing is, nothing flows."""


@dataclass(frozen=True)
class ReferenceMpdata:
    """MPDATA with what does not change between steps; see `src/kernel/mpdata/mpdata.hpp` for the formulas.

    What flows is a pair: across edges, [edge][level], and in three dimensions down between levels, [node][level - 1].
    """

    edges: NDArray[np.int64]
    """[edge][2]"""
    flux: Array
    """[edge][level], in volume, or mass, per second, in the precision of the field."""
    down: Array | None
    """[node][level] in three dimensions: through the lower face of each level, that of the last one left out."""
    inverse: Array
    """One over volumes [node][1], or masses [node][level], in the precision of the field."""
    dt: float
    passes: int
    gauge: bool
    limiter: bool

    def step(self, q: Array) -> Array:
        """The field [node][level] a step later."""
        dt = q.dtype.type(self.dt)
        fluxes: Fluxes = self.flux, None if self.down is None else self.down[:, :-1]
        divergence = self.divergence(self.upwind(fluxes, q))
        for number in range(2, self.passes + 1):
            before, q = q, q - dt * divergence
            fluxes = self.correction(fluxes, q, divergence)
            if self.limiter:
                fluxes = self.limited(fluxes, before, q)
            divergence = self.divergence(fluxes if self.gauge else self.upwind(fluxes, q))
            if self.gauge:
                assert number == self.passes == 2
        return np.asarray(q - dt * divergence)

    def ends(self, q: Array) -> tuple[Array, Array]:
        """Values at the two nodes of each edge."""
        return q[self.edges[:, 0]], q[self.edges[:, 1]]

    def of_faces(self, formula: Callable[..., Array], fluxes: Fluxes, *fields: Array) -> Fluxes:
        """A formula of a flux, and of the values of fields on its two sides, for all faces."""
        across, down = fluxes
        sides = [side for field in fields for side in self.ends(field)]
        levels = [side for field in fields for side in (field[:, :-1], field[:, 1:])]
        return formula(across, *sides), None if down is None else formula(down, *levels)

    def upwind(self, fluxes: Fluxes, q: Array) -> Fluxes:
        """Return the upwind fluxes."""
        return self.of_faces(lambda f, q1, q2: np.maximum(f, 0) * q1 + np.minimum(f, 0) * q2, fluxes, q)

    def divergence(self, through: Fluxes) -> Array:
        """Return the divergence of fluxes, [node][level]."""
        across, down = through
        total = self.added(across, -across)
        if down is not None:
            ends = np.zeros((len(down), 1), down.dtype)
            total += np.hstack([down, ends]) - np.hstack([ends, down])
        return np.asarray(total * self.inverse)

    def added(self, at_first: Array, at_second: Array) -> Array:
        """Sums over the edges of each node."""
        total = np.zeros((len(self.inverse), at_first.shape[1]), at_first.dtype)
        np.add.at(total, self.edges.ravel(), np.stack([at_first, at_second], axis=1).reshape(-1, at_first.shape[1]))
        return total

    def correction(self, fluxes: Fluxes, q: Array, divergence: Array) -> Fluxes:
        """Return the corrective fluxes."""
        real = q.dtype.type
        half, half_dt = real(0.5), real(0.5) * real(self.dt)

        def formula(f: Array, q1: Array, q2: Array, d1: Array, d2: Array) -> Array:
            through = half * (np.abs(f) * (q2 - q1) - half_dt * f * (d1 + d2))
            return np.asarray(through if self.gauge else through / (half * (q1 + q2) + real(LEAST_MEAN)))

        return self.of_faces(formula, fluxes, q, divergence)

    def limited(self, fluxes: Fluxes, before: Array, q: Array) -> Fluxes:
        """The fluxes of the next pass without new extremes."""
        real = q.dtype.type
        low, high = np.minimum(before, q), np.maximum(before, q)
        lowest, highest = low.copy(), high.copy()
        for node, other in ((0, 1), (1, 0)):
            np.minimum.at(lowest, self.edges[:, node], low[self.edges[:, other]])
            np.maximum.at(highest, self.edges[:, node], high[self.edges[:, other]])
        across, down = fluxes if self.gauge else self.upwind(fluxes, q)
        out, into = np.maximum(across, 0), np.maximum(-across, 0)
        comes, goes = self.added(into, out), self.added(out, into)
        if down is not None:
            for here, there in ((np.s_[:, :-1], np.s_[:, 1:]), (np.s_[:, 1:], np.s_[:, :-1])):
                np.minimum(lowest[here], low[there], out=lowest[here])
                np.maximum(highest[here], high[there], out=highest[here])
            sinking, rising = np.maximum(down, 0), np.maximum(-down, 0)
            goes[:, :-1] += sinking
            comes[:, :-1] += rising
            goes[:, 1:] += rising
            comes[:, 1:] += sinking
        dt, tiny = real(self.dt), np.finfo(q.dtype).tiny
        with np.errstate(over="ignore"):
            inward = (highest - q) / (dt * (comes * self.inverse) + tiny)
            outward = (q - lowest) / (dt * (goes * self.inverse) + tiny)

        def formula(f: Array, in1: Array, in2: Array, out1: Array, out2: Array) -> Array:
            return np.asarray(f * np.minimum(np.where(f > 0, np.minimum(out1, in2), np.minimum(out2, in1)), 1))

        return self.of_faces(formula, fluxes, inward, outward)
