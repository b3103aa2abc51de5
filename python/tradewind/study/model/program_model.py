"""Programs of a study file: a model's time step as computations and exchanges, simulated as a whole."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from tradewind.base.elements import DTYPES
from tradewind.base.errors import InputError
from tradewind.base.extents import MAX_EXTENT
from tradewind.base.tables import Table, one_of
from tradewind.base.units import seconds
from tradewind.layout.names import LAYOUTS, path_problems
from tradewind.study.model.machine_keys import OnMachine
from tradewind.study.model.values import (
    Grid,
    Many,
    Quick,
    Split,
    checked,
    directions,
    split_by_ranks,
    wrong_splits,
)
from tradewind.workload.exchange import MAX_TIMES
from tradewind.workload.program_tables import FileStep, NamedExchange

Count = Annotated[int, Field(ge=1, le=MAX_EXTENT, strict=True)]
WHAT = ("compute", "halo", "path")
"""Kinds of steps: one of these."""


def _path(text: object) -> None:
    if isinstance(text, str) and (problems := path_problems(text)):
        raise InputError(*problems)


class ProgramStep(Table):
    """One computation, halo exchange or redistribution."""

    compute: Annotated[str, one_of("layout", LAYOUTS)] | None = None
    """The layout in which ranks compute what they own."""
    share: Annotated[float, Field(gt=0)] = 1.0
    """compute: of the sweep's `point_time`."""
    halo: Count | None = None
    """Its width, of x/y blocks."""
    periodic: Annotated[str, checked(directions)] = ""
    """halo"""
    path: Annotated[str, checked(_path)] | None = None
    """Redistributions, like ``xy-zy-zx-zy-xy`` (see `tradewind.layout.names`)."""
    algorithm: str | None = None
    """halo, path; None: the pattern's default."""
    times: Annotated[int, Field(ge=1, le=MAX_TIMES, strict=True)] = 1
    """Number of times in a row; for a path, of each of its legs."""

    @model_validator(mode="after")
    def _one_thing(self) -> Self:
        found = [name for name in WHAT if getattr(self, name) is not None]
        if len(found) != 1:
            raise InputError(f"a step has one of {', '.join(WHAT)}, not {' and '.join(found) or 'none of them'}")
        meant = {"share": "compute", "periodic": "halo"}
        problems = [
            f"{key} belongs to {what}, and not to {found[0]}"
            for key, what in meant.items()
            if key in self.model_fields_set and what != found[0]
        ]
        if self.algorithm is not None and found[0] == "compute":
            problems.append("algorithm belongs to halo or path, and not to compute")
        if problems:
            raise InputError(*problems)
        return self


def _form(step: Any) -> str:
    """The form of a step: plain where all of its keys are those that every version has known."""
    keys = set(step) if isinstance(step, dict) else set()
    return PLAIN if keys <= set(ProgramStep.model_fields) or not keys <= set(FileStep.model_fields) else FULL


PLAIN, FULL = "plain", "full"
Step = Annotated[Annotated[ProgramStep, Tag(PLAIN)] | Annotated[FileStep, Tag(FULL)], Discriminator(_form)]


class ProgramSweep(OnMachine):
    """Simulations of a program. The time is that of all its steps, once."""

    kind: Literal["program"]
    name: str
    grid: Grid
    ranks: Many[Count]
    split: Annotated[dict[int, Many[Split]], BeforeValidator(split_by_ranks)]
    """For each number of ranks."""
    step: Annotated[list[Step], Field(min_length=1)]
    """In order."""
    exchange: list[NamedExchange] = Field(default_factory=list)
    """Exchanges that steps start and wait for, as in a program file."""
    point_time: Many[Annotated[str, checked(seconds)]]
    """Time of one core per grid point; each computation takes its share."""
    line_time: Many[Annotated[str, checked(seconds)]] = ["0s"]
    """Time of a core for each line of contiguous points that it sends along a path, beside its message: as where
    each line is put by itself (see `tradewind.study.cases.lines`)."""
    fields: Count = 1
    """That travel together in every message."""
    dtype: Annotated[str, one_of("dtype", tuple(DTYPES))] = "f8"
    machine: Many[str]
    quick: Quick = Field(default_factory=dict)

    @model_validator(mode="after")
    def _splits_fit(self) -> Self:
        problems = []
        if not all(1 <= n <= MAX_EXTENT for n in self.grid):
            problems.append(
                f"grid {'x'.join(map(str, self.grid))}: 1..{MAX_EXTENT} points along each direction are allowed"
            )
        for ranks in self.ranks:
            splits = self.splits(ranks)
            problems += [] if splits else [f"split names none for {ranks} ranks"]
            problems += wrong_splits(ranks, splits)
        if problems:
            raise InputError(*problems)
        return self

    def splits(self, ranks: int) -> list[tuple[int, int]]:
        """Return those for a number of ranks."""
        return self.split.get(ranks, self.split.get(0, []))
