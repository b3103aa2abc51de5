"""Nekbone's operator and conjugate gradients on a whole brick in NumPy alone, and its right-hand sides."""

from __future__ import annotations

import numpy as np

from tradewind.dwarfs.nekbone.reference_preconditioners import (
    Preconditioner,
    Schwarz,
    coarse_correction,
    jacobi,
    local_diagonal,
)
from tradewind.dwarfs.nekbone.spectral_elements import Basis, Brick, Ids, Part, Values, nekbone_side

SHIFT = 0.1
"""Factor of the second part of -div grad u + 0.1 u."""
SIDES = ("nekbone", "int64", "global", "wave")


def gather_scatter(ids: Ids, values: Values) -> Values:
    """Values [element][k][j][i] of which each is the sum of all that have its id."""
    return np.asarray(np.bincount(ids.ravel(), values.ravel())[ids])


class ReferenceNekbone:
    """Operator and solver on all elements of all ranks."""

    def __init__(self, brick: Brick, basis: Basis, deformation: float, *, mass: bool, mask: Values) -> None:
        """`brick`: of one rank; `mask`: 0 where results of the operator are set to 0, else 1."""
        self._brick, self._basis, self._deformation = brick, basis, deformation
        self._derivative, self._mask = basis.derivative, mask
        self._ids, self._shares = brick.ids(), brick.shares()
        places = brick.coordinates(basis, deformation)
        jacobian = np.stack(self._along(places), axis=-1)
        weight = basis.weights
        volume = weight[:, None, None] * weight[:, None] * weight * np.linalg.det(jacobian)
        inverse = np.linalg.inv(jacobian)
        self._metric = np.einsum("...ad,...bd,...->...ab", inverse, inverse, volume)
        self.mass = volume if mass else None

    def _along(self, u: Values) -> tuple[Values, Values, Values]:
        by = self._derivative
        return (
            np.einsum("im,ekjm...->ekji...", by, u),
            np.einsum("jm,ekmi...->ekji...", by, u),
            np.einsum("km,emji...->ekji...", by, u),
        )

    def apply(self, u: Values) -> Values:
        """The operator."""
        flux = np.einsum("...ab,...b->...a", self._metric, np.stack(self._along(u), axis=-1))
        by = self._derivative
        local = np.einsum("mi,ekjm->ekji", by, flux[..., 0])
        local += np.einsum("mj,ekmi->ekji", by, flux[..., 1])
        local += np.einsum("mk,emji->ekji", by, flux[..., 2])
        if self.mass is not None:
            local += SHIFT * self.mass * u
        whole = gather_scatter(self._ids, local)
        return np.asarray((whole if self.mass is not None else whole + SHIFT * u) * self._mask)

    def dot(self, a: Values, b: Values) -> float:
        """The product of two fields; each point counts once."""
        return float((self._shares * a * b).sum())

    def jacobi(self) -> Preconditioner:
        """The division by the operator's diagonal."""
        own = local_diagonal(self._derivative, self._metric)
        if self.mass is None:
            return jacobi(self._ids, own, SHIFT)
        return jacobi(self._ids, own + SHIFT * self.mass, 0.0)

    def schwarz(self, shift: float, *, coarse: bool = False) -> Preconditioner:
        """The additive Schwarz method; `shift`: the factor of the mass on subdomains. `coarse`: with a coarse grid."""
        local = Schwarz(self._brick, self._basis, self._deformation, shift)
        if not coarse:
            return local
        mass = SHIFT * (self._shares if self.mass is None else self.mass)
        added = coarse_correction(self._brick, self._basis, self._metric, mass)
        return lambda r: local(r) + added(r)

    def solve(
        self, x: Values, r: Values, steps: int, reduction: float = 0.0, preconditioner: Preconditioner = np.copy
    ) -> tuple[Values, Values]:
        """Solution and residual after some steps of conjugate gradients, fewer where the residual is small enough."""
        p, first, before = np.zeros_like(x), self.dot(r, r), 1.0
        for step in range(steps):
            squares = self.dot(r, r)
            if squares <= reduction**2 * first or not squares:
                break
            z = preconditioner(r)
            product = self.dot(r, z)
            p = z + (product / before if step else 0.0) * p
            w = self.apply(p)
            alpha = product / self.dot(w, p)
            x, r = x + alpha * p, r - alpha * w
            before = product
        return x, r


def wave(places: Values, brick: Part) -> Values:
    """A smooth function that is 0 on the boundary, at some places [...][3]."""
    return np.asarray(np.sin(np.pi * places / brick.length).prod(axis=-1))


def source_of_wave(places: Values, brick: Part) -> Values:
    """-div grad u + 0.1 u of it."""
    return np.asarray((SHIFT + ((np.pi / brick.length) ** 2).sum()) * wave(places, brick))


def right_hand_side(kind: str, brick: Part) -> Values:
    """The values of a kind of Nekbone's right-hand sides before they are summed, [element][k][j][i].

    "nekbone": by number of a point on its rank, whose square wraps around in 32 bits; "int64": of 64 bits; "global": by
    number of a point on the whole brick.
    """
    volume = brick.points**3
    if kind != "global":
        return nekbone_side(brick.count * volume, wraps=kind == "nekbone").reshape(brick.shape)
    rows = [nekbone_side(volume, 1 + int(number) * volume, wraps=False) for number in brick.element_ids]
    return np.array(rows).reshape(brick.shape)
