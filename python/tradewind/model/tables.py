"""Tables of model files: numbers with their sources, and the exchanges and steps of a program as formulas of them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from tradewind.base.elements import DTYPES
from tradewind.base.tables import Table, one_of
from tradewind.workload.program_tables import Duration, Grid

FORMULA = "="
"""Beginning of a text that is a formula of the numbers of a model."""
OWN_NUMBERS = ("nx", "ny", "nz", "step_s", "ranks")
"""Numbers that every model has: points along x, y and z, seconds of a step, ranks."""


class Number(Table):
    """A parameter of a model, and who published it."""

    value: float | str
    """A number, or a formula of the numbers above it."""
    unit: str = ""
    source: str
    assumed: bool = False
    """Whether its source is no publication about this model."""
    varied: list[float] = Field(default_factory=list)
    """Other values that are published, or that a study tries."""


class ModelTable(Table):
    """A whole file."""

    title: str
    description: str = ""
    source: str
    grid: Grid
    spacing: str = ""
    """Distance of grid points, as its publication names it."""
    step: Duration
    """Simulated time of a step."""
    dtype: Annotated[str, one_of("dtype", tuple(DTYPES))] = "f8"
    numbers: dict[str, Number] = Field(default_factory=dict)
    exchange: list[dict[str, Any]] = Field(default_factory=list)
    step_of: list[dict[str, Any]] = Field(alias="steps")
    """Steps of a program file, whose values may be formulas; also with `part`, `every`, and `repeat` with `steps`."""
