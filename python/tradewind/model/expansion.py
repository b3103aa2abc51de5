"""The steps of a model, written out: formulas become values, repeated steps a list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from tradewind.base.errors import InputError, gathered
from tradewind.base.names import unknown
from tradewind.base.toml_lines import Place
from tradewind.layout.names import legs
from tradewind.model import dwarf_steps
from tradewind.model.dwarf_steps import DwarfStep, dwarf_step
from tradewind.model.evaluation import STAND_IN, Values, evaluated, numbers_of
from tradewind.model.file import ModelFile
from tradewind.model.grid import POINTS, points_formula
from tradewind.model.tables import FLOPS_PER_BYTE, OWN_NUMBERS, ModelTable
from tradewind.workload.every import MAX_STEPS
from tradewind.workload.program_tables import MAX_TIMES

_OF_REPEATED = ("repeat", "steps", "part", "every")
OUTPUT = "output"
"""Key of a step that hands fields to servers."""
SERVERS = "servers"
"""Number of a model: ranks beside those that compute."""
_OF_OUTPUT = (OUTPUT, "label", "part", "every")


@dataclass(frozen=True)
class Expanded:
    """A step of the program, and what stands beside it in the model file."""

    table: dict[str, Any]
    """The step as a program file has it."""
    place: Place
    """Where it stands in the model file."""
    part: str
    every: int
    dwarf: DwarfStep | None = None
    """The dwarf whose program stands in its place."""
    output: int | None = None
    """Fields that are handed to servers in its place."""

    @property
    def count(self) -> int:
        """Number of steps that a program makes of it: a path has one for each leg."""
        path = self.table.get("path")
        return len(list(legs(path))) if isinstance(path, str) else 1


class Expansion:
    """Writes out a model file for some values.

    `problems` grows by what is wrong with the file, with its line; `check` raises it. What is wrong has a value that
    stands in for it, or is left out, so that the rest can be checked.
    """

    def __init__(self, file: ModelFile, table: ModelTable, own: Values, changed: Mapping[str, float]) -> None:
        self.file = file
        self.problems: list[str] = []
        self.values = self._numbers(table, own, changed)

    def check(self) -> None:
        """Raise InputError with all problems that were found, each once."""
        if self.problems:
            raise InputError(*dict.fromkeys(self.problems))

    def _wrong(self, place: Place, problem: str) -> None:
        self.problems.append(self.file.at(place, problem))

    def _numbers(self, table: ModelTable, own: Values, changed: Mapping[str, float]) -> Values:
        for taken in [name for name in table.numbers if name in OWN_NUMBERS]:
            self._wrong(("numbers", taken), f"number {taken!r}: every model has one of this name")
        found = numbers_of(self.file, table.numbers, own, changed, self.problems)
        if not (rate := found.get(FLOPS_PER_BYTE, STAND_IN)) > 0:
            self._wrong(("numbers", FLOPS_PER_BYTE, "value"), f"{FLOPS_PER_BYTE} {rate:g}: more than 0 is allowed")
        return found

    def servers(self, ranks: int) -> int:
        """Return how many of the ranks are servers."""
        servers = self.values.get(SERVERS, 0)
        if servers and (not 0 < servers < ranks or servers != int(servers)):
            problem = f"{SERVERS} {servers:g} of {ranks} ranks: 0 or more, and fewer than ranks, are allowed"
            self._wrong(("numbers", SERVERS, "value"), problem)
            return min(1, ranks - 1)
        return int(servers)

    def table(self, given: Mapping[str, Any], place: Place) -> dict[str, Any]:
        """Return a table with all formulas evaluated."""
        found: dict[str, Any] = evaluated(self.file, dict(given), place, self.values, self.problems)
        return found

    def steps(
        self, given: Sequence[Any], place: Place, part: str | None = None, every: int = 1, turn: str = ""
    ) -> Iterator[Expanded]:
        """Yield the steps in order. `part`, `every`: of the step around them; `turn`: the repetition they are of."""
        for number, step in enumerate(given):
            here: Place = (*place, number)
            if not isinstance(step, dict):
                self._wrong(here, f"step {step!r}: a table is allowed")
                continue
            table = self.table({key: value for key, value in step.items() if key != "steps"}, here)
            own_part = table.pop("part", part)
            own_every = self._every(table, here, every)
            if "steps" in step or "repeat" in table:
                yield from self._repeated(step, table, here, own_part, own_every, turn)
                continue
            label = table.get("label")
            if turn and label is not None:
                table["label"] = f"{label} {turn}"
            if dwarf_steps.KEY in table:
                shown = f"{'.'.join(filter(None, (turn, str(number + 1))))} {table[dwarf_steps.KEY]}"
                with gathered(self.problems):
                    made = dwarf_step(table, shown, partial(self._key_at, here))
                    yield Expanded(table, here, str(own_part or made.kind), own_every, made)
                continue
            if OUTPUT in table:
                if (fields := self._output_fields(table, here)) is not None:
                    yield Expanded(table, here, str(own_part or label or OUTPUT), own_every, output=fields)
                continue
            yield Expanded(self._on_points(table), here, str(own_part or label or "other"), own_every)

    def _every(self, table: dict[str, Any], here: Place, around: int) -> int:
        """Take `every` out of a step; of one without that of the step around it, beside which it may not stand."""
        place = (*here, "every")
        if "every" not in table:
            return around
        own = self._whole(table.pop("every"), place)
        if around != 1:
            self._wrong(place, f"every {own}: the step around it has every {around}; one of both is allowed")
        return own

    def _output_fields(self, table: Mapping[str, Any], here: Place) -> int | None:
        self._only(table, _OF_OUTPUT, here)
        fields = self._whole(table[OUTPUT], (*here, OUTPUT))
        if SERVERS not in self.values:
            problem = f"{OUTPUT} {fields}: number {SERVERS!r} is missing, the ranks that take the fields"
            self._wrong((*here, OUTPUT), problem)
            return None
        return fields

    def _only(self, table: Mapping[str, Any], known: Sequence[str], here: Place) -> None:
        for strange in [key for key in table if key not in known]:
            self._wrong((*here, strange), unknown("key", strange, known))

    def _on_points(self, table: dict[str, Any]) -> dict[str, Any]:
        """Return a step with the points of each rank in place of `compute = "points"`."""
        if table.get("compute") != POINTS:
            return table
        return table | {"compute": "rank", "points": points_formula(self.values)}

    def _key_at(self, place: Place, key: str, problem: str) -> str:
        return self.file.at((*place, key), problem)

    def _repeated(
        self, step: Mapping[str, Any], table: dict[str, Any], here: Place, part: str | None, every: int, turn: str
    ) -> Iterator[Expanded]:
        self._only(step, _OF_REPEATED, here)
        repeated = step.get("steps")
        if not (isinstance(repeated, list) and repeated):
            self._wrong(here, "repeat: the steps that are repeated are missing: [[steps.steps]]")
            return
        times = self._whole(table.get("repeat", 1), (*here, "repeat"))
        turns = (f"{turn}.{i + 1}" if turn else f"{i + 1}" for i in range(times))
        before = len(self.problems)
        once = list(self.steps(repeated, (*here, "steps"), part, every, next(turns)))
        if times * (count := sum(each.count for each in once)) > MAX_STEPS:
            problem = f"repeat {times} of {count} steps: at most {MAX_STEPS} steps are written out"
            self._wrong((*here, "repeat"), problem)
        yield from once
        if len(self.problems) == before:  # else each repetition has the same ones
            for each in turns:
                yield from self.steps(repeated, (*here, "steps"), part, every, each)

    def _whole(self, value: Any, place: Place) -> int:
        if type(value) is not int or not 1 <= value <= MAX_TIMES:
            self._wrong(place, f"{place[-1]} {value!r}: 1..{MAX_TIMES} is allowed")
            return STAND_IN
        return value
