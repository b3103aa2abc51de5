"""Fields of input files, as a model asks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tradewind.base.errors import InputError
from tradewind.fieldserver.files.reading import InputFile
from tradewind.fieldserver.plan.geometry import Geometry
from tradewind.fieldserver.server.shape import Shape

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


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
