"""Which wavenumbers go to which set of ranks, so that all sets have as much to compute."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.base.names import unknown
from tradewind.layout.closed import snake

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Numbers = NDArray[np.int64]


def imbalance(loads: ArrayLike) -> float:
    """Return the largest of some loads over their mean: 1 where they are alike."""
    loads = np.asarray(loads, dtype=float)
    mean = loads.mean()
    return float(loads.max() / mean) if mean > 0 else 1.0


def packed(weights: ArrayLike, sets: int) -> list[Numbers]:
    """Return items dealt to sets with loads as equal as a good packing makes them: each list ascending.

    Items are dealt to and fro. Then a set with a large load exchanges an item, or two, with an item, two or none of
    another set: the exchange that lowers the sum of the squares of loads most, until the largest load is within 1.001
    of the mean or of the largest item, or nothing is gained. (Local search for multiprocessor scheduling: Finn &
    Horowitz 1979, BIT 19, 312-320, with exchanges of pairs.) Sets stay alike in what they hold, small and large m, so
    they have about as many coefficients, too. The result never is more uneven than what it begins with.
    """
    return [np.array(own, np.int64) for own in _core.packed(np.asarray(weights, dtype=float).tolist(), sets)]


def even_cuts(weights: ArrayLike, parts: int) -> Numbers:
    """Return where to cut a sequence so that the largest part is as small as whole entries allow.

    The answer has parts + 1 entries: part p is ``[cuts[p]:cuts[p + 1]]``. No part is empty where there are as many
    entries as parts. The smallest room in which all parts fit is sought by halving.
    """
    return np.array(_core.even_cuts(np.asarray(weights, dtype=float).tolist(), parts), np.int64)


def to_and_fro(weights: ArrayLike, sets: int) -> list[Numbers]:
    """Return items dealt to and fro, whatever their weights, as ecTrans deals wavenumbers: 0 1 2 2 1 0 0 1 2 ..."""
    return snake(len(np.asarray(weights)), sets)


DEALS: dict[str, Callable[[ArrayLike, int], list[Numbers]]] = {"packed": packed, "snake": to_and_fro}
"""Ways to deal wavenumbers to sets of ranks, by name."""


def deal(name: str, weights: ArrayLike, sets: int) -> list[Numbers]:
    """Return items dealt in the way of `DEALS` with this name. Raises InputError for a name that there is not."""
    if name not in DEALS:
        raise InputError(unknown("way to deal wavenumbers", name, DEALS))
    return DEALS[name](weights, sets)
