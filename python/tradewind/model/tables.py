"""Tables of model files: numbers with their sources, and the exchanges and steps of a program as formulas of them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from tradewind.base.elements import DTYPES
from tradewind.base.tables import Table, one_of
from tradewind.base.units import meters
from tradewind.model.grid import ModelGrid, model_grid
from tradewind.workload.program_tables import Count, Duration

FORMULA = "="
"""Beginning of a text that is a formula of the numbers of a model."""
OWN_NUMBERS = ("nx", "ny", "nz", "columns", "levels", "truncation", "spacing_m", "step_s", "ranks")
"""Numbers that models have beside those of their files, as far as their grids have them: points along x, y and z,
points of a level, levels, largest degree of spherical harmonics, meters between points, seconds of a step, ranks."""


ASSUMED = ("grid", "levels", "spacing", "step")
"""Keys of a file that may be assumed."""


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
    left_out: list[str] = Field(default_factory=list)
    """Parts of the real model that its step does not have."""
    assumed: list[Annotated[str, one_of("key", ASSUMED)]] = Field(default_factory=list)
    """Keys whose values no publication about this model has."""
    grid: str | None = None
    """NXxNYxNZ, or a name like TCo1279, with `levels`; None: each rank has elements of its own."""
    levels: Count | None = None
    spacing: Annotated[float, BeforeValidator(meters)] | None = None
    """Distance of grid points in meters, as its publication names it."""
    step: Duration
    """Simulated time of a step."""
    dtype: Annotated[str, one_of("dtype", tuple(DTYPES))] = "f8"
    numbers: dict[str, Number] = Field(default_factory=dict)
    exchange: list[dict[str, Any]] = Field(default_factory=list)
    step_of: list[dict[str, Any]] = Field(alias="steps")
    """Steps of a program file, whose values may be formulas; also with `part`, `every`, `repeat` with `steps`, and
    `dwarf`."""

    @property
    def points(self) -> ModelGrid:
        """The grid. Raises InputError for one that does not exist."""
        return model_grid(self.grid, self.levels)

    @property
    def own_numbers(self) -> dict[str, float]:
        """Return the numbers of `OWN_NUMBERS` that this model has, but for ranks."""
        found = self.points.numbers | {"step_s": self.step}
        return found if self.spacing is None else found | {"spacing_m": self.spacing}
