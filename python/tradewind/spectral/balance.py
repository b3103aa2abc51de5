"""Which wavenumbers go to which set of ranks, so that all sets have as much to compute."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from tradewind.base.errors import InputError
from tradewind.base.names import unknown
from tradewind.layout.closed import snake

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Numbers = NDArray[np.int64]

CLOSE = 1.005
"""How much larger a largest load may be for sets that are alike in what they hold."""
_HALVINGS = 24  # of the interval in which the smallest load is sought: to a ten-millionth of it


def imbalance(loads: ArrayLike) -> float:
    """Return the largest of some loads over their mean: 1 where they are alike."""
    loads = np.asarray(loads, dtype=float)
    mean = loads.mean()
    return float(loads.max() / mean) if mean > 0 else 1.0


def packed(weights: ArrayLike, sets: int) -> list[Numbers]:
    """Return items dealt to sets with loads as equal as a good packing makes them: each list ascending.

    Items are dealt to and fro; then the set with the largest load gives an item to another one, or exchanges one with
    it, as long as that makes the larger of the two loads less. That leaves sets alike in what they hold, small and
    large m, so that they have about as many coefficients, too. Where it does not come within `CLOSE` of the smallest
    room in which all items find a place by falling weight, first fit (MULTIFIT, Coffman, Garey & Johnson 1978, SIAM J.
    Comput. 7, 1-17), that packing is returned.
    """
    weights = np.asarray(weights, dtype=float)
    exchanged = _exchanged(weights, snake(len(weights), sets))
    low = max(weights.sum() / sets, weights.max(initial=0))
    if _largest(weights, exchanged) <= CLOSE * low:
        return exchanged
    fitted = _multifit(weights, sets, low)
    return exchanged if _largest(weights, exchanged) <= CLOSE * _largest(weights, fitted) else fitted


def _largest(weights: NDArray[np.float64], lists: list[Numbers]) -> float:
    return float(max(weights[own].sum() for own in lists))


def _exchanged(weights: NDArray[np.float64], lists: list[Numbers]) -> list[Numbers]:
    """Lists after exchanges between the set with the largest load and any other, the best one each time."""
    owner = np.empty(len(weights), np.int64)
    for number, own in enumerate(lists):
        owner[own] = number
    loads = np.array([weights[own].sum() for own in lists])
    for _ in range(20 * len(weights)):
        most = int(np.argmax(loads))
        own, others = np.flatnonzero(owner == most), np.flatnonzero(owner != most)
        # By an item of its own the loads of the other set with, and without, an item in exchange.
        back = np.concatenate([weights[others], np.zeros(len(loads))])
        to = np.concatenate([owner[others], np.arange(len(loads))])
        less = weights[own][:, None] - back[None, :]
        larger = np.maximum(loads[most] - less, loads[to][None, :] + less)
        larger[:, to == most] = np.inf
        best = int(np.argmin(larger)) if larger.size else 0
        if not larger.size or larger.flat[best] >= loads[most] * (1 - 1e-12):
            break
        item, place = np.unravel_index(best, larger.shape)
        loads[most] -= less[item, place]
        loads[to[place]] += less[item, place]
        owner[own[item]] = to[place]
        if place < len(others):
            owner[others[place]] = most
    return [np.flatnonzero(owner == k) for k in range(len(lists))]


def _multifit(weights: NDArray[np.float64], sets: int, low: float) -> list[Numbers]:
    """Items by falling weight, first fit, in the smallest room that halving finds."""
    order = np.argsort(-weights, kind="stable")
    best = _least_loaded(weights, order, sets)
    high = _largest(weights, best)
    for _ in range(_HALVINGS):
        if high <= low * (1 + 1e-9):
            break
        room = (low + high) / 2
        found = _first_fit(weights, order, sets, room)
        if found is None:
            low = room
        else:
            best, high = found, _largest(weights, found)
    return best


def _first_fit(weights: NDArray[np.float64], order: Numbers, sets: int, room: float) -> list[Numbers] | None:
    """Items by falling weight, each in the first set that has room for it; None where one finds no room."""
    left = np.full(sets, room * (1 + 1e-12))
    owner = np.empty(len(weights), np.int64)
    for item in order:
        place = int(np.argmax(left >= weights[item]))
        if left[place] < weights[item]:
            return None
        left[place] -= weights[item]
        owner[item] = place
    return [np.flatnonzero(owner == k) for k in range(sets)]


def _least_loaded(weights: NDArray[np.float64], order: Numbers, sets: int) -> list[Numbers]:
    """Items by falling weight, each to the set that has least (Graham 1969)."""
    loads, owner = np.zeros(sets), np.empty(len(weights), np.int64)
    for item in order:
        place = int(np.argmin(loads))
        loads[place] += weights[item]
        owner[item] = place
    return [np.flatnonzero(owner == k) for k in range(sets)]


def even_cuts(weights: ArrayLike, parts: int) -> Numbers:
    """Return where to cut a sequence so that the largest part is as small as whole entries allow.

    The answer has parts + 1 entries: part p is ``[cuts[p]:cuts[p + 1]]``. No part is empty where there are as many
    entries as parts. The smallest room in which all parts fit is sought by halving.
    """
    weights = np.asarray(weights, dtype=float)
    ends = np.concatenate([[0.0], np.cumsum(weights)])
    low, high = max(ends[-1] / parts, weights.max(initial=0)), float(ends[-1])
    best = _cuts_within(ends, parts, high)
    for _ in range(2 * _HALVINGS):
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
