"""Tables of model files: numbers with their sources, and the exchanges and steps of a program as formulas of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from tradewind.base.elements import DTYPES
from tradewind.base.errors import InputError, quoted
from tradewind.base.tables import Table, one_of
from tradewind.base.units import meters, seconds
from tradewind.model.grid import ModelGrid, model_grid
from tradewind.workload.program_tables import Count

FORMULA = "="
"""Beginning of a text that is a formula of the numbers of a model."""
OWN_NUMBERS = ("nx", "ny", "nz", "columns", "levels", "truncation", "spacing_m", "step_s", "ranks")
"""Numbers that models have beside those of their files, as far as their grids have them: points along x, y and z,
points of a level, levels, largest degree of spherical harmonics, meters between points, seconds of a step, ranks."""
FLOPS_PER_BYTE = "flops_per_byte"
"""Number of a model: flops that a node does while it copies a byte, on machines without a rate of flops."""

ASSUMED = ("grid", "levels", "spacing", "step")
"""Keys of a file that may be assumed."""


def not_finite(value: object) -> str | None:
    """Return what is wrong with a number that is not finite, or true or false; None for others, and for text."""
    try:
        is_finite = not isinstance(value, bool) and (not isinstance(value, int | float) or math.isfinite(value))
    except OverflowError:  # a whole number that is larger than all of them
        is_finite = False
    return None if is_finite else f"{quoted(value)}: a finite number is allowed"


def _finite(value: Any) -> Any:
    if problem := not_finite(value):
        raise InputError(problem)
    return value


def _positive(read: Callable[[object], float]) -> BeforeValidator:
    """Return the check of a quantity with its unit, which is read, and is more than 0."""

    def check(value: object) -> float:
        if not (found := read(value)) > 0:
            raise InputError(f"{value!r}: more than 0 is allowed")
        return found

    return BeforeValidator(check)


class Number(Table):
    """A parameter of a model, and who published it."""

    value: Annotated[float | str, BeforeValidator(_finite)]
    """A number, or a formula of the numbers above it."""
    unit: str = ""
    source: str
    assumed: bool = False
    """Whether its source is no publication about this model."""
    varied: list[Annotated[float, BeforeValidator(_finite)]] = Field(default_factory=list)
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
    spacing: Annotated[float, _positive(meters)] | None = None
    """Distance of grid points in meters, as its publication names it."""
    step: Annotated[float, _positive(seconds)]
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
