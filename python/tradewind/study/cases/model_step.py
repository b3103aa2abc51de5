"""A model's time step as a study asks for it: computations and exchanges on one grid."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from tradewind import _core
from tradewind.base.elements import DTYPES, point_bytes
from tradewind.base.units import seconds
from tradewind.layout.names import blocks, legs
from tradewind.method.method import default_algorithm
from tradewind.study.cases.lines import lines_sent
from tradewind.study.model.program_model import ProgramStep
from tradewind.workload.on_grid import layout_imbalance
from tradewind.workload.program import Compute, ProgramWorkload
from tradewind.workload.program_file import program_of
from tradewind.workload.program_tables import FILE_KEYS, FileStep, NamedExchange, ProgramTable
from tradewind.workload.workload import Step, Workload

PATTERN = "program"
"""Value of the label `pattern` for these workloads."""


@dataclass(frozen=True)
class ModelStep(Workload):
    """A time step. Its time is that of all steps of it, once."""

    grid: tuple[int, int, int]
    ranks: int
    split: tuple[int, int] = field()  # else that of a workload would be its default
    point_time: str
    line_time: str
    fields: int
    dtype: str
    parts: tuple[ProgramStep | FileStep, ...]
    """In order."""
    exchanges: tuple[NamedExchange, ...] = ()
    """Exchanges that steps start and wait for."""

    family: ClassVar[str] = PATTERN

    def program(self) -> ProgramWorkload:
        """Return the simulated program. Raises InputError where a layout does not fit."""
        plain = [step for step in self.parts if isinstance(step, ProgramStep)]
        if self.exchanges or len(plain) < len(self.parts):
            return program_of(self._table())
        made = [step for number, entry in enumerate(plain, 1) for step in self._made(number, entry)]
        return ProgramWorkload(*made, fields=self.fields, dtype=self.dtype, name=self.name)

    def steps(self) -> list[Step]:
        """Return the exchanges of its program. Raises InputError where a layout does not fit."""
        return self.program().steps()

    @property
    def bytes_per_point(self) -> int:
        """Bytes of a grid point with all fields."""
        return point_bytes(self.fields, self.dtype)

    @property
    def element_bytes(self) -> int:
        """Bytes of one number."""
        return DTYPES[self.dtype]

    def _made(self, number: int, entry: ProgramStep) -> Iterator[Compute | Step]:
        grid = _core.Grid(*self.grid)
        if entry.compute is not None:
            layout, point_s = blocks(grid, self.split, entry.compute), entry.share * seconds(self.point_time)
            name = f"{number} compute {entry.compute}"
            yield Compute(name, layout=layout, point_s=point_s, repeat=entry.times)
        elif entry.halo is not None:
            around = ["x" in entry.periodic, "y" in entry.periodic]
            halo = _core.Halo(blocks(grid, self.split, "xy"), entry.halo, around)
            yield _exchanged(f"{number} halo", halo, entry)
        else:
            assert entry.path is not None
            for name, before, after in legs(entry.path):
                if lines_s := self._lines_s(before, after):
                    yield Compute(f"{number} {name} lines", seconds=lines_s, repeat=entry.times)
                pair = (blocks(grid, self.split, layout) for layout in (before, after))
                yield _exchanged(f"{number} {name}", _core.Transpose(*pair), entry)

    def _table(self) -> ProgramTable:
        """The same as a program file."""
        grid, split = ("x".join(str(n) for n in extents) for extents in (self.grid, self.split))
        steps = [step.model_dump(exclude_unset=True) for step in self.parts]
        exchanges = [each.model_dump(exclude_unset=True, by_alias=True) for each in self.exchanges]
        for entry in (*steps, *exchanges):
            entry.pop("seconds", None)
        for entry, step in zip(steps, self.parts, strict=True):
            entry |= {key: f"{entry[key]}B" for key in FILE_KEYS if key in entry}
            if isinstance(step, FileStep) and step.seconds:
                entry["seconds"] = f"{step.seconds!r}s"
        keys = {"name": self.name, "ranks": self.ranks, "grid": grid, "split": split, "fields": self.fields}
        return ProgramTable.model_validate(
            {**keys, "dtype": self.dtype, "point_time": self.point_time, "step": steps, "exchange": exchanges}
        )

    def _lines_s(self, before: str, after: str) -> float:
        """Return the seconds of the busiest rank for the lines that it sends from one layout to another."""
        line_s = seconds(self.line_time) * self.fields
        return line_s * lines_sent(self.grid, self.split, before, after) if line_s else 0.0

    @property
    def alone_s(self) -> float:
        """Return the compute seconds of one rank that has the whole grid."""
        shares = sum(step.share * step.times for step in self.parts if step.compute not in (None, "rank"))
        return shares * seconds(self.point_time) * math.prod(self.grid)

    @property
    def name(self) -> str:
        """The paths of its transpositions, for a reader."""
        paths = self._joined("path")
        return "step by " + paths if paths else "step"

    def traits(self) -> list[str]:
        """Return its sizes and times as texts, which distinguish it from others of its name."""
        grid, split = ("x".join(str(n) for n in extents) for extents in (self.grid, self.split))
        line = [f"{self.line_time} a line"] if seconds(self.line_time) else []
        return [grid, f"ranks {split}", f"{self.point_time} a point", *line]

    def _joined(self, key: str) -> str | None:
        """Return the names in the exchanges among the steps, each once."""
        named = [str(value) for step in self.parts if (value := getattr(step, key)) is not None]
        return ", ".join(dict.fromkeys(named)) or None

    def as_dict(self) -> dict[str, Any]:
        """Return its identity as plain values; keys of steps that are not given are left out."""
        keys = ("grid", "ranks", "split", "point_time", "line_time", "fields", "dtype")
        steps = [
            step.model_dump(exclude_none=True) if isinstance(step, ProgramStep) else step.model_dump(exclude_unset=True)
            for step in self.parts
        ]
        exchanges = [each.model_dump(exclude_unset=True, by_alias=True) for each in self.exchanges]
        asked = {**{key: getattr(self, key) for key in keys}, "steps": steps}
        return asked | ({"exchanges": exchanges} if exchanges else {})

    def labels(self) -> dict[str, Any]:
        """Return the labels by which studies select it."""
        own = {"pattern": PATTERN, "slab": self._joined("path"), "algorithm": self._joined("algorithm")}
        known = super().labels()
        del known["steps"]  # which the label of this name does not mean
        known.pop("exchanges", None)
        return known | own

    def imbalance(self) -> float:
        """Return the load imbalance of the columns: the maximum points of a rank over the mean."""
        return layout_imbalance(self.grid, self.split, "xy")

    def derived(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """Return the compute time, and that of one rank that has the whole grid (``alone_s``)."""
        return {"compute_s": self.program().compute_s(result), "alone_s": self.alone_s}


def _exchanged(name: str, pattern: _core.Pattern, entry: ProgramStep) -> Step:
    schedule = _core.make_schedule(pattern, entry.algorithm or default_algorithm(pattern.name))
    return Step(name, schedule, entry.times)
