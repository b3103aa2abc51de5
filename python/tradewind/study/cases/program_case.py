"""Cases of programs: a model's time step, simulated on a machine."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tradewind import _core
from tradewind.base.errors import gathered
from tradewind.base.units import seconds
from tradewind.layout.names import blocks, legs
from tradewind.method.method import default_algorithm
from tradewind.study.cases.bases import NO_BASE, NO_BASES, Bases, Under
from tradewind.study.cases.lines import lines_sent
from tradewind.study.model.labels import LABELS, settings_text
from tradewind.study.model.program_model import ProgramStep, ProgramSweep
from tradewind.study.model.skip import Skip
from tradewind.workload.program import Compute, Program
from tradewind.workload.workload import Step

PATTERN = "program"
"""What the label `pattern` says of these cases."""
PLACE_KEYS = ("routing", "model", "buffers", "packet", "placement", "ranks_per_node")
"""The options that a sweep may vary, beside its machine, seed and settings."""
PLAIN = ("sweep", "kind", "ranks", "point_time", "line_time", "fields", "dtype")
"""The labels that are fields of a case."""


@dataclass(frozen=True)
class ProgramCase:
    """One simulation of a program. Its time is that of all steps of it, once."""

    sweep: str
    grid: tuple[int, int, int]
    ranks: int
    split: tuple[int, int]
    point_time: str
    line_time: str
    fields: int
    dtype: str
    steps: tuple[ProgramStep, ...]
    options: Mapping[str, Any]
    """How the machine is used, as plain values."""
    kind: str = "simulate"
    under: Under = NO_BASE

    @property
    def workload(self) -> Program:
        """What is simulated. Raises InputError where a layout does not fit."""
        made = [step for number, said in enumerate(self.steps, 1) for step in self._made(number, said)]
        return Program(*made, fields=self.fields, dtype=self.dtype, name=self.exchange_name)

    def _made(self, number: int, said: ProgramStep) -> Iterator[Compute | Step]:
        grid = _core.Grid(*self.grid)
        if said.compute is not None:
            layout, point_s = blocks(grid, self.split, said.compute), said.share * seconds(self.point_time)
            name = f"{number} compute {said.compute}"
            yield Compute(name, layout=layout, point_s=point_s, repeat=said.times)
        elif said.halo is not None:
            around = ["x" in said.periodic, "y" in said.periodic]
            halo = _core.Halo(blocks(grid, self.split, "xy"), said.halo, around)
            yield _exchanged(f"{number} halo", halo, said)
        else:
            assert said.path is not None
            for name, before, after in legs(said.path):
                if lines_s := self._lines_s(before, after):
                    yield Compute(f"{number} {name} lines", seconds=lines_s, repeat=said.times)
                pair = (blocks(grid, self.split, layout) for layout in (before, after))
                yield _exchanged(f"{number} {name}", _core.Transpose(*pair), said)

    def _lines_s(self, before: str, after: str) -> float:
        """What the busiest rank takes for the lines that it sends from one layout to another."""
        line_s = seconds(self.line_time) * self.fields
        return line_s * lines_sent(self.grid, self.split, before, after) if line_s else 0.0

    @property
    def alone_s(self) -> float:
        """What one rank that has the whole grid computes, and nothing else, in seconds."""
        shares = sum(step.share * step.times for step in self.steps if step.compute is not None)
        return shares * seconds(self.point_time) * math.prod(self.grid)

    @property
    def name(self) -> str:
        """A line for a reader."""
        grid, split = ("x".join(str(n) for n in extents) for extents in (self.grid, self.split))
        times = [f"{self.point_time} a point", f"{self.line_time} a line" if seconds(self.line_time) else None]
        where = (self.options["machine"], self.options["routing"], self.under.base)
        return ", ".join(filter(None, (self.exchange_name, grid, f"ranks {split}", *times, *where)))

    @property
    def exchange_name(self) -> str:
        paths = self._joined("path")
        return "step by " + paths if paths else "step"

    def _joined(self, key: str) -> str | None:
        """What the exchanges among the steps name, each once."""
        named = [str(value) for step in self.steps if (value := getattr(step, key)) is not None]
        return ", ".join(dict.fromkeys(named)) or None

    @property
    def request(self) -> dict[str, Any]:
        """All inputs as plain values."""
        keys = ("grid", "ranks", "split", "point_time", "line_time", "fields", "dtype")
        program = {key: getattr(self, key) for key in keys}
        program["steps"] = [step.model_dump(exclude_none=True) for step in self.steps]
        return {"kind": self.kind, "program": program, "options": dict(self.options)}

    @property
    def labels(self) -> dict[str, Any]:
        """What selections, plots and the dataset know of the case (`tradewind.study.model.labels`)."""
        asked = {key: getattr(self, key) for key in PLAIN}
        asked |= {key: "x".join(str(n) for n in getattr(self, key)) for key in ("grid", "split")}
        asked |= {"pattern": PATTERN, "exchange": self.exchange_name, "slab": self._joined("path")}
        asked["algorithm"] = self._joined("algorithm")
        options = {
            **self.options,
            "settings": settings_text(self.under.settings(self.options)),
            "base": self.under.base,
        }
        known = {**asked, **options}
        return {label: known.get(label) for label in LABELS}

    def imbalance(self) -> float:
        """Points of the largest part of the x/y blocks over the mean."""
        parts = [-(-n // ranks) * ranks / n for n, ranks in zip(self.grid, self.split, strict=False)]
        return parts[0] * parts[1]


def _exchanged(name: str, pattern: _core.Pattern, said: ProgramStep) -> Step:
    schedule = _core.make_schedule(pattern, said.algorithm or default_algorithm(pattern.name))
    return Step(name, schedule, said.times)


def expand_programs(sweep: ProgramSweep, study_seed: int, bases: Bases = NO_BASES) -> Iterator[ProgramCase | Skip]:
    """All cases of a sweep, and the points that cannot be: a layout with more parts than points."""
    same: dict[str, Any] = {"sweep": sweep.name, "grid": sweep.grid, "fields": sweep.fields, "dtype": sweep.dtype}
    for ranks in sweep.ranks:
        for split, point_time, line_time, (options, under) in itertools.product(
            sweep.splits(ranks),
            sweep.point_time,
            sweep.line_time,
            bases.options(sweep, lambda filled: _options(filled, study_seed)),
        ):
            varied: dict[str, Any] = {"ranks": ranks, "split": split, "point_time": point_time, "line_time": line_time}
            case = ProgramCase(**same, **varied, steps=tuple(sweep.step), options=options, under=under)
            refusals: list[str] = []
            with gathered(refusals):
                case.workload  # noqa: B018  it is made to be refused
            yield Skip(sweep.name, case.name, "; ".join(refusals)) if refusals else case


def _options(sweep: ProgramSweep, study_seed: int) -> list[dict[str, Any]]:
    varied: dict[str, Any] = {"machine": sweep.machine}
    varied |= {key: getattr(sweep, key) or [None] for key in PLACE_KEYS}
    varied["seed"] = sweep.seed or [study_seed]
    settings = [dict(zip(sweep.set, values, strict=True)) for values in itertools.product(*sweep.set.values())]
    return [
        dict(zip((*varied, "settings"), values, strict=True))
        for values in itertools.product(*varied.values(), settings)
    ]
