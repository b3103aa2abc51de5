"""Input fields on their way from the server that has read them to the layout of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tradewind.fieldserver.server.handover import Handover
from tradewind.fieldserver.server.shape import Shape

if TYPE_CHECKING:
    from tradewind.fieldserver.server.handover import Array, HandoverMethod
    from tradewind.mpi.library import MPI


class Delivery:
    """The way of a field from this rank, a server, to the ranks of a model, which have it by parts. Collective."""

    def __init__(self, comm: MPI.Intracomm, shape: Shape, method: HandoverMethod, watchdog_s: float = 0.0) -> None:
        self._handover = Handover(comm, shape, method=method, back=True, watchdog_s=watchdog_s)
        self._whole = self._handover.arrays(self._handover.whole)
        self._plan = self._handover.plan([self._handover.arrays(self._handover.local)], [self._whole])

    def give(self, values: Array) -> None:
        """Send a whole field. Collective."""
        np.copyto(self._handover.levels_first(self._whole), values, casting="same_kind")
        self._plan()
