"""A semi-Lagrangian step of a whole octahedral grid in NumPy alone, which the compiled loops are compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.dwarfs.semi_lagrangian.octahedral import Octahedral
from tradewind.dwarfs.semi_lagrangian.reference import CURVATURE, Reference, cubic, snapped

if TYPE_CHECKING:
    from tradewind.dwarfs.semi_lagrangian.options import SemiLagrangianOptions
    from tradewind.dwarfs.semi_lagrangian.reference import Reals

_POLE = 2


class RowReference(Reference):
    """Steps of a dwarf on an octahedral grid. Arrays are [z][0][column]; x of a departure point is its longitude."""

    def __init__(self, dwarf: SemiLagrangianOptions) -> None:
        super().__init__(dwarf)
        assert isinstance(dwarf.lattice, Octahedral)
        self.grid = dwarf.lattice
        self.nx, self.ny = int(self.grid.first[-1]), 1
        north, south = self.grid.rows[:_POLE][::-1], self.grid.rows[-_POLE:][::-1]
        self.latitudes = np.concatenate([np.pi - north, self.grid.rows, -np.pi - south])

    def _departed(self, sums: Reals) -> list[Reals]:
        half = self.dwarf.dt / 2
        z = np.broadcast_to(np.arange(self.nz, dtype=np.float64)[:, None, None], (self.nz, 1, self.nx))
        if self.dwarf.lift > 0:
            z = np.clip(snapped(z - half * sums[-1]), 0, self.nz - 1)
        longitude, latitude = self.grid.places(np.arange(self.nx))
        place = [np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)]
        longer = np.polyval(CURVATURE[::-1], half**2 * (sums[:3] ** 2).sum(axis=0))
        a, b, c = (at - longer * half * each for at, each in zip(place, sums[:3], strict=True))
        there = np.arctan2(c, np.hypot(a, b))
        row = np.searchsorted(-self.latitudes, -there, side="right") - 1
        north, south = self.latitudes[row], self.latitudes[row + 1]
        return [np.arctan2(b, a), snapped(row - _POLE + (north - there) / (north - south)), z]

    def _in_row(self, field: Reals, row: Any, longitude: Any, z: Any, width: int) -> Reals:
        """Interpolate along a row of each point, which may lie beyond a pole, linearly or by a cubic."""
        folded, turned = self.grid.folded(row)
        length = self.grid.lengths[folded]
        x = snapped(longitude * length / (2 * np.pi))
        low = np.floor(x).astype(np.int64)
        weights = [1 - (x - low), x - low] if width == 2 else cubic(x - low, (-1, 0, 1, 2))
        columns = [(low + turned + k - (width == 4)) % length for k in range(width)]
        first = self.grid.first[folded]
        return np.asarray(sum(w * field[z, 0, first + at] for w, at in zip(weights, columns, strict=True)))

    def _linear(self, field: Reals, at: list[Reals]) -> Reals:
        longitude, _, _ = at
        (_, row, z), (_, fy, fz) = self._cell(at)

        def level(k: Any) -> Reals:
            rows = [self._in_row(field, row + j, longitude, k, 2) for j in (0, 1)]
            return (1 - fy) * rows[0] + fy * rows[1]

        return level(z) if self.dwarf.lift == 0 else (1 - fz) * level(z) + fz * level(z + 1)

    def _level(self, field: Reals, at: list[Reals], k: Any, inner: bool) -> Reals:
        longitude, _, _ = at
        (_, row, _), (_, fy, _) = self._cell(at)
        full = self.dwarf.stencil == "cubic"
        if not (inner or full):
            rows = [self._in_row(field, row + j, longitude, k, 2) for j in (0, 1)]
            return (1 - fy) * rows[0] + fy * rows[1]
        nodes = [self.latitudes[row + _POLE + j] for j in (-1, 0, 1, 2)]
        weights = cubic(nodes[1] + fy * (nodes[2] - nodes[1]), nodes)
        rows = [self._in_row(field, row + j, longitude, k, 4 if full or j in (0, 1) else 2) for j in (-1, 0, 1, 2)]
        return np.asarray(sum(w * each for w, each in zip(weights, rows, strict=True)))

    def _nearest(self, field: Reals, at: list[Reals], k: Any) -> list[Reals]:
        longitude, _, _ = at
        (_, row, _), _ = self._cell(at)
        found = []
        for j in (0, 1):
            folded, turned = self.grid.folded(row + j)
            low = np.floor(snapped(longitude * self.grid.lengths[folded] / (2 * np.pi))).astype(np.int64) + turned
            found += [field[k, 0, self.grid.first[folded] + (low + i) % self.grid.lengths[folded]] for i in (0, 1)]
        return found
