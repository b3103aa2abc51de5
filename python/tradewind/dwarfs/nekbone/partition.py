"""Elements of a brick by lists: any elements on any rank, along a space-filling curve or as a file has them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tradewind.base.errors import InputError
from tradewind.dwarfs.nekbone.spectral_elements import Ids, Part, Triple

PARTITIONS = ("brick", "hilbert")
Owners = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Listed(Part):
    """A rank's elements of a brick of `shape_of_all` elements, by the rank of each element, x fastest."""

    points: int
    shape_of_all: Triple
    owner: Owners
    rank: int = 0

    @property
    def all_elements(self) -> Triple:
        """Elements of all ranks along x, y, z."""
        return self.shape_of_all

    @cached_property
    def element_ids(self) -> Ids:
        """Global numbers of the rank's elements, ascending."""
        return np.flatnonzero(self.owner == self.rank)

    def ranks_of(self, x: Ids, y: Ids, z: Ids) -> Ids:
        """Return the ranks of elements by their places."""
        ex, ey, _ = self.shape_of_all
        return np.asarray(self.owner[(z * ey + y) * ex + x], np.int64)


def hilbert_places(x: Ids, y: Ids, z: Ids, bits: int) -> Ids:
    """Return the places of cells along Hilbert's curve through a cube of 2^bits cells in each direction.

    Skilling 2004, doi:10.1063/1.1751381, with numbers of all cells at once.
    """
    axes = [np.array(each, np.int64) for each in (x, y, z)]
    bit = 1 << (bits - 1)
    while bit > 1:
        low = bit - 1
        for axis in range(3):
            high = (axes[axis] & bit) > 0
            swapped = np.where(high, 0, (axes[0] ^ axes[axis]) & low)
            axes[0] = np.where(high, axes[0] ^ low, axes[0] ^ swapped)
            axes[axis] = axes[axis] ^ swapped if axis else axes[0]
        bit >>= 1
    for axis in (1, 2):
        axes[axis] ^= axes[axis - 1]
    turned = np.zeros_like(axes[0])
    bit = 1 << (bits - 1)
    while bit > 1:
        turned ^= np.where(axes[2] & bit, bit - 1, 0)
        bit >>= 1
    place = np.zeros_like(turned)
    for level in reversed(range(bits)):
        for each in axes:
            place = place << 1 | (each ^ turned) >> level & 1
    return place


def along_hilbert(all_elements: Triple, ranks: int) -> Owners:
    """Return the rank of each element: equal pieces of Hilbert's curve through the brick, x fastest."""
    count = int(np.prod(all_elements))
    z, y, x = np.unravel_index(np.arange(count), all_elements[::-1])
    order = np.argsort(hilbert_places(x, y, z, max(1, (max(all_elements) - 1).bit_length())))
    owner = np.empty(count, np.int32)
    owner[order] = np.arange(count) * ranks // count
    return owner


def read_owners(path: str, count: int, ranks: int) -> Owners:
    """Return the rank of each of `count` elements, a line each, as METIS writes a partition. Raises InputError."""
    try:
        words = Path(path).read_text(encoding="utf-8").split()
        owner = np.array([int(word) for word in words], np.int64)
    except (OSError, UnicodeDecodeError, ValueError, OverflowError) as error:
        raise InputError(
            f"owners {path}: {error}; a file with the rank of an element in each line is allowed"
        ) from None
    if len(owner) != count:
        raise InputError(f"owners {path}: {len(owner)} lines; {count} elements need as many")
    if owner.min() < 0 or owner.max() >= ranks:
        line = int(np.flatnonzero((owner < 0) | (owner >= ranks))[0])
        raise InputError(f"owners {path}, line {line + 1}: rank {owner[line]}; 0..{ranks - 1} are allowed")
    if len(without := np.flatnonzero(np.bincount(owner, minlength=ranks) == 0)):
        raise InputError(f"owners {path}: rank {without[0]} has no element; each needs one")
    return owner.astype(np.int32)
