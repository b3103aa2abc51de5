"""Input fields on their way from the rank that has read them to the layout of the model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from tradewind.fieldserver.server.handover import Handover
from tradewind.fieldserver.server.shape import Shape

if TYPE_CHECKING:
    from tradewind.fieldserver.server.handover import Array, Numbers
    from tradewind.mpi.library import MPI


class Delivery:
    """The way of a field from the rank `giver` to the ranks that have it by parts. Collective."""

    def __init__(
        self,
        comm: MPI.Intracomm,
        giver: int,
        shape: Shape,
        own: Numbers | None,
        method: Mapping[str, str | None] | None,
        watchdog_s: float = 0.0,
    ) -> None:
        layout = None if shape.layout is None else json.loads(shape.layout)
        self._handover = Handover(comm, giver, shape, layout, own, back=True, method=method, watchdog_s=watchdog_s)
        self._local = self._handover.arrays(self._handover.local)
        self._whole = self._handover.arrays(self._handover.whole)
        self._plan = self._handover.plan([self._local], [self._whole])

    def give(self, values: Array | None) -> Array:
        """Send a whole field where it is, and return this rank's part. Collective."""
        if values is not None:
            np.copyto(self._handover.levels_first(self._whole), values, casting="same_kind")
        self._plan()
        return self._local
