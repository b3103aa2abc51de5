"""The halo of a rank as a list of points: where each lies in the array of its owner, and in that of the rank."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class HaloList:
    """One rank's halo within one array, as `tradewind.points.Points.halo` takes it."""

    points: int
    """Points of the rank's array: its own, its halo, and places that no point belongs to."""
    owner: Ids
    """Ranks that own the points of the halo."""
    index: Ids
    """Their places in the arrays of their owners."""
    place: Ids
    """Their places in the array of the rank."""
    turns: Ids
    """Quarter turns, counterclockwise, from the directions x and y of the rank to those of the owner there."""


class Divided(Protocol):
    """A grid that is divided among ranks, of which each can find its own halo."""

    @property
    def ranks(self) -> int:
        """Number of ranks."""

    def ids(self, rank: int) -> tuple[Ids, Ids]:
        """Return the numbers of a rank's own points in the whole grid, and their places in its array."""

    def numbers(self, owner: Ids, index: Ids) -> Ids:
        """Return the numbers in the whole grid of points at places of the arrays of ranks, which own them."""

    def lists(self, first: int, end: int) -> Iterator[HaloList]:
        """Yield the halos of the ranks from `first` to `end` - 1."""
