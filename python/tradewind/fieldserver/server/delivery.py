"""Input fields on their way from the server that has read them to the layout of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tradewind.base.errors import InputError
from tradewind.fieldserver.files.reading import InputFile
from tradewind.fieldserver.plan.geometry import Geometry
from tradewind.fieldserver.server.handover import Handover, Shape

if TYPE_CHECKING:
    from tradewind.fieldserver.server.handover import Array, HandoverMethod
    from tradewind.mpi.library import MPI


def whole_field(file: InputFile, name: str, shape: Shape, geometry: Geometry, units: str = "") -> Array:
    """A field of a file as [level][point]. Raises InputError where it has another size than the model asks for.

    `geometry`: the grid of the model. Where the file has another one, that is an error, too; what either of them does
    not have is taken in the order of the file. `units`: those of the model, to which values are converted.
    """
    values = file.field(name)
    if values.shape != (shape.levels, shape.points):
        raise InputError(
            f"{file.path}: field {name} has {values.shape[0]} levels of {values.shape[1]} points, and the model asks "
            f"for {shape.levels} of {shape.points}"
        )
    if problem := file.grid_problem(name, geometry):
        raise InputError(f"{file.path}: field {name}: {problem}")
    return file.in_units(name, units, geometry)


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
