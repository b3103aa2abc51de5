"""Tables of files of coupled models: components, which are models of their own, and what they exchange."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field, ValidationError

from tradewind.base.errors import InputError
from tradewind.base.tables import Table, explained, extents, one_of
from tradewind.base.toml_lines import Place
from tradewind.model.file import ModelFile
from tradewind.model.tables import Number
from tradewind.workload.interpolation import METHODS
from tradewind.workload.on_grid import periodic_problems
from tradewind.workload.program_file import UNION_KINDS
from tradewind.workload.program_tables import Area, Count, Duration

COMPONENT = "component"
"""Key of a file by which it is a coupled model."""
COMPONENTS = "components"
"""Key of what the files of its components have, beside what its own file has."""


def _periodic(value: object) -> object:
    if problems := periodic_problems(str(value)):
        raise InputError(*problems)
    return value


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
    periodic: Annotated[str, BeforeValidator(_periodic)] = ""
    bytes: float | str = 0.0
    """Bytes of a copy per point of the target grid and field, which the interpolation takes; or a formula."""


class CoupledTable(Table):
    """A whole file."""

    title: str
    description: str = ""
    source: str
    left_out: list[str] = Field(default_factory=list)
    """Parts of the real model that it does not have."""
    concurrent: bool = True
    """Whether components compute at the same time on ranks of their own; else one after another on all ranks."""
    numbers: dict[str, Number] = Field(default_factory=dict)
    component: list[Component] = Field(min_length=1)
    coupling: list[Coupling] = Field(min_length=1)


_TABLES: dict[str, type[Table]] = {"numbers": Number, COMPONENT: Component, "coupling": Coupling}


def coupled_table(file: ModelFile) -> CoupledTable:
    """Return the tables of a file. Raises InputError with all problems, each with its line."""

    def keys(place: Place) -> list[str]:
        table = _TABLES[str(place[0])] if len(place) > 1 else CoupledTable
        return [field.alias or name for name, field in table.model_fields.items()]

    try:
        return CoupledTable.model_validate(file.data)
    except ValidationError as error:
        mistakes = (explained(details, keys, UNION_KINDS) for details in error.errors(include_url=False))
        raise InputError(*dict.fromkeys(file.at(*mistake) for mistake in mistakes)) from None
