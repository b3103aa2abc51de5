"""Groups of switches: a block of the machine's map, or a subtree of a fat-tree below the top."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tradewind.base.deferred import Deferred
from tradewind.base.tables import Table
from tradewind.machine.switch_coordinates import switch_coordinates, tree_levels
from tradewind.machine.topology import FatTree

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Deferred("numpy")


@dataclass(frozen=True)
class Groups:
    """Groups of a dragonfly, planes of a torus, subtrees of a fat-tree, and which switch is in which."""

    name: str
    """Name of one of them."""
    count: int
    of: NDArray[np.int64]
    """[switch]: its group."""


def groups_of(table: Table, switches: int) -> Groups | None:
    """The groups of a machine; None where it has none, or more than a map shows."""
    if isinstance(table, FatTree):
        return _subtrees(table)
    found = switch_coordinates(table, switches)
    if len(found.blocks) < 2:
        return None
    of = np.zeros(switches, dtype=np.int64)
    for block in range(len(found.blocks)):
        of[np.asarray(found.switches_of(block))] = block
    return Groups(found.name, len(found.blocks), of)


def _subtrees(table: FatTree) -> Groups | None:
    """The subtrees that the switches of the top level join, and as the last group these switches themselves."""
    levels = tree_levels(table)
    if len(levels) == 1:
        return None
    subtrees = levels[-2][0]
    below = [np.arange(pods * size) // (size * (pods // subtrees)) for pods, size in levels[:-1]]
    top = np.full(math.prod(levels[-1]), subtrees)
    return Groups("subtree (the last: the top level)", subtrees + 1, np.concatenate([*below, top]))
