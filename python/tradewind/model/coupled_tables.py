"""Tables of files of coupled models: components, which are models of their own, and what they exchange."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tradewind.base.tables import Table, extents, one_of
from tradewind.model.tables import Number
from tradewind.workload.interpolation import METHODS
from tradewind.workload.program_tables import Area, Count, Directions, Duration

COMPONENT = "component"
"""Key of a file by which it is a coupled model."""


class Component(Table):
    """A model that computes on ranks of its own, or in turn with the others on all ranks."""

    name: str
    model: str
    """A model, or a file beside this one."""
    grid: Annotated[tuple[int, int], extents(2, "grid")]
    """Points along x and y of the fields that it exchanges."""
    area: Area | None = None
    """Where its grid lies; None: all grids cover the same region."""
    ranks: Count | str | None = None
    """A number, or a formula; None: those that the others leave."""


class Coupling(Table):
    """Fields that go from one component to another."""

    name: str
    origin: str = Field(alias="from")
    target: str = Field(alias="to")
    fields: Count | str
    """Number of fields of one level each, or a formula."""
    period: Duration
    """Simulated time from one exchange to the next."""
    interpolation: Annotated[str, one_of("interpolation", METHODS)]
    periodic: Directions = ""
    bytes: float | str = 0.0
    """Bytes of a copy per point of the target grid and field, which the interpolation takes; or a formula."""


class CoupledTable(Table):
    """A whole file."""

    title: str
    description: str = ""
    source: str
    concurrent: bool = True
    """Whether components compute at the same time on ranks of their own; else one after another on all ranks."""
    numbers: dict[str, Number] = Field(default_factory=dict)
    component: list[Component] = Field(min_length=1)
    coupling: list[Coupling] = Field(min_length=1)
