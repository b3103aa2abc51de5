"""Distance between the state of a dwarf and that of its reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tradewind.mpi.library import Array

_AXES = {1: "[x]", 2: "[y][x]", 3: "[z][y][x]"}


def difference(found: Array, wanted: Array, tolerance: float = 0.0) -> str:
    """Return the place where two states differ, in words; "" where they are equal. A NaN differs from everything.

    `tolerance`: how far values may lie apart, as a fraction of the largest absolute value of `wanted`; 0: no bit.
    """
    import numpy as np  # where states are compared: `tradewind run --help` has none

    allowed = tolerance * float(np.abs(wanted).max(initial=0.0)) if tolerance else 0.0
    apart = ~(np.abs(found - wanted) <= allowed) if tolerance else found != wanted
    places = np.argwhere(apart)
    if not len(places):
        return ""
    place = tuple(int(i) for i in places[0])
    within = f" by more than {tolerance:g} of its largest value" if tolerance else ""
    return (
        f"{len(places)} of {found.size} points differ from the reference{within}, the first at "
        f"{_AXES.get(found.ndim, 'index')} = {list(place)}: {found[place]} for {wanted[place]}"
    )


def agreement(tolerance: float) -> str:
    """Statement that holds where `difference` finds nothing."""
    return f"within {tolerance:g} of the reference" if tolerance else "the same bits as the reference"
