"""Which wavenumbers go to which set of ranks, so that all sets have as much to compute."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from tradewind.base.errors import InputError
from tradewind.base.names import unknown
from tradewind.layout.closed import snake

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Numbers = NDArray[np.int64]

CLOSE = 1.001
"""Largest load over the mean that is even enough."""
_SEARCHED = 20  # sets with the largest loads whose exchanges are looked at
_PAIRED = 10  # items of a set that exchanges two at once
_HALVINGS = 48  # of the interval in which the smallest part is sought: to the last bit


def imbalance(loads: ArrayLike) -> float:
    """Return the largest of some loads over their mean: 1 where they are alike."""
    loads = np.asarray(loads, dtype=float)
    mean = loads.mean()
    return float(loads.max() / mean) if mean > 0 else 1.0


def packed(weights: ArrayLike, sets: int) -> list[Numbers]:
    """Return items dealt to sets with loads as equal as a good packing makes them: each list ascending.

    Items are dealt to and fro. Then a set with a large load exchanges an item, or two, with an item, two or none of
    another set: the exchange that lowers the sum of the squares of loads most, until the largest load is within `CLOSE`
    of the mean or of the largest item, or nothing is gained. (Local search for multiprocessor scheduling: Finn &
    Horowitz 1979, BIT 19, 312-320, with exchanges of pairs.) Sets stay alike in what they hold, small and large m, so
    they have about as many coefficients, too. The result never is more uneven than what it begins with.
    """
    weights = np.asarray(weights, dtype=float)
    search = _Search(weights, snake(len(weights), sets))
    low = max(weights.sum() / sets, weights.max(initial=0))
    best, largest = search.lists(), search.loads.max(initial=0)
    for _ in range(20 * len(weights)):
        if search.loads.max() <= CLOSE * low or not search.improve():
            break
    return search.lists() if search.loads.max(initial=0) <= largest else best


class _Search:
    """Items in sets, and exchanges between two sets."""

    def __init__(self, weights: NDArray[np.float64], lists: list[Numbers]) -> None:
        self._weights = weights
        self._sets = [own.tolist() for own in lists]
        self.loads = np.array([weights[own].sum() for own in lists])
        self._bundles = [self._bundles_of(own) for own in self._sets]

    def lists(self) -> list[Numbers]:
        """Return the items of each set."""
        return [np.array(sorted(own), np.int64) for own in self._sets]

    def improve(self) -> bool:
        """Make the best exchange of a set with a large load; return False where none gains."""
        counts = [len(bundles) for bundles, _ in self._bundles]
        theirs = np.concatenate([weights for _, weights in self._bundles])
        owners = np.repeat(np.arange(len(counts)), counts)
        least = 1e-9 * self.loads.mean() ** 2
        # Stable: of equal loads another kind of processor would take another one, and so make other sets.
        for most in np.argsort(-self.loads, kind="stable")[:_SEARCHED].tolist():
            mine, own = self._bundles[most]
            given = own[:, None] - theirs
            gain = given * (self.loads[most] - self.loads[owners] - given)
            place, partner = np.unravel_index(int(np.argmax(gain)), gain.shape)
            if gain[place, partner] > least:
                other = int(owners[partner])
                first = int(np.searchsorted(owners, other))
                self._exchange(most, mine[place], other, self._bundles[other][0][int(partner) - first])
                return True
        return False

    def _exchange(self, one: int, given: tuple[int, ...], other: int, taken: tuple[int, ...]) -> None:
        for number, out, into in ((one, given, taken), (other, taken, given)):
            self._sets[number] = [item for item in self._sets[number] if item not in out] + list(into)
            self.loads[number] = self._weights[self._sets[number]].sum()
            self._bundles[number] = self._bundles_of(self._sets[number])

    def _bundles_of(self, own: list[int]) -> tuple[list[tuple[int, ...]], NDArray[np.float64]]:
        """Nothing, each item, and in small sets each two items; and their weights."""
        bundles: list[tuple[int, ...]] = [(), *((item,) for item in own)]
        if len(own) <= _PAIRED:
            bundles += combinations(own, 2)
        return bundles, np.array([self._weights[list(bundle)].sum() for bundle in bundles])


def even_cuts(weights: ArrayLike, parts: int) -> Numbers:
    """Return where to cut a sequence so that the largest part is as small as whole entries allow.

    The answer has parts + 1 entries: part p is ``[cuts[p]:cuts[p + 1]]``. No part is empty where there are as many
    entries as parts. The smallest room in which all parts fit is sought by halving.
    """
    weights = np.asarray(weights, dtype=float)
    ends = np.concatenate([[0.0], np.cumsum(weights)])
    low, high = max(ends[-1] / parts, weights.max(initial=0)), float(ends[-1])
    best = _cuts_within(ends, parts, high)
    for _ in range(_HALVINGS):
        room = (low + high) / 2
        found = _cuts_within(ends, parts, room)
        if found[-1] == len(weights):
            best, high = found, room
        else:
            low = room
    return best


def _cuts_within(ends: NDArray[np.float64], parts: int, room: float) -> Numbers:
    """Cuts of parts that take all they have room for, but leave an entry for each that follows."""
    count = len(ends) - 1
    found = [0]
    for part in range(parts):
        fitting = int(np.searchsorted(ends, ends[found[-1]] + room * (1 + 1e-12), side="right")) - 1
        found.append(max(found[-1], min(fitting, max(count - (parts - part - 1), found[-1] + (count > found[-1])))))
    return np.array(found, np.int64)


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
