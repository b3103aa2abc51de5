"""Steps of a model that are made by the program of a dwarf: its exchanges and computations, with their layouts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tradewind.base.errors import InputError
from tradewind.base.names import unknown
from tradewind.dwarfs import DWARFS, find
from tradewind.model.grid import ModelGrid
from tradewind.workload.options import Option, options_of
from tradewind.workload.program import Compute, Exchanged, Poke, ProgramWorkload, Start, Wait, WholeExchange
from tradewind.workload.steps import GroupStep

if TYPE_CHECKING:
    from tradewind.dwarfs.frame.dwarf import Dwarf

KEY = "dwarf"
OF_RUNS = ("ranks", "check", "watchdog_s", "threads", "point_s")
"""Options of dwarfs that are no keys: a model and its machine decide about ranks, threads and times."""
BESIDE = ("part", "exchange_part", "label", "every")
"""Keys beside the options."""


@dataclass(frozen=True)
class DwarfStep:
    """A dwarf whose program stands in the step of a model."""

    kind: str
    values: tuple[tuple[str, Any], ...]
    """Its options as the file names them, but for those that follow from the model."""
    label: str
    exchange_part: str | None = None
    """The part of the model for which its exchanges count; None: that of its computations."""

    @property
    def layouts(self) -> tuple[str, ...]:
        """Layouts of the model's grid that its steps go through."""
        return find(self.kind).layouts

    def steps(
        self, grid: ModelGrid, ranks: int, split: tuple[int, int], values: Mapping[str, float]
    ) -> list[tuple[str | None, GroupStep]]:
        """Return its steps on the ranks of a model, each with the part for which it counts; None: that of the table.

        `values`: numbers of the model, such as the seconds of a step. Raises InputError for options that do not fit.
        """
        program = _program(self.kind, self.values, grid, ranks, split, _own_numbers(values))
        renamed = _renamed(program, self.label)
        return [(None if isinstance(step, Compute | Poke) else self.exchange_part, step) for step in renamed]

    def check(self, grid: ModelGrid, ranks: int, split: tuple[int, int], values: Mapping[str, float]) -> None:
        """Raise InputError for ranks and options that do not fit, without making the program."""
        _dwarf(self.kind, self.values, grid, ranks, split, _own_numbers(values))


def dwarf_step(table: Mapping[str, Any], label: str, at: Callable[[str, str], str]) -> DwarfStep:
    """Return the step of a table whose formulas are evaluated.

    `label`: that of a table without one; `at`: returns the text of a problem of a key. Raises InputError for unknown
    names, and for values of another kind than that of an option.
    """
    kind = table[KEY]
    if kind not in DWARFS:
        raise InputError(at(KEY, unknown("dwarf", kind, DWARFS)))
    known = _keys(kind)
    given, problems = [], []
    for name, value in table.items():
        if name in (KEY, *BESIDE):
            continue
        if name not in known:
            problems.append(at(name, unknown(f"key of dwarf {kind}", name, (*known, *BESIDE))))
            continue
        try:
            given.append((name, _value(known[name], value)))
        except InputError as error:
            problems += [at(name, problem) for problem in error.problems]
    if problems:
        raise InputError(*problems)
    return DwarfStep(kind, tuple(given), str(table.get("label", label)), table.get("exchange_part"))


def _keys(kind: str) -> dict[str, Option]:
    return {name: each for name, each in options_of(find(kind)).items() if name not in OF_RUNS}


_OWN = {"step_s": "step_s", "dt_s": "step_s", "spacing_m": "spacing_m"}
"""Options of dwarfs that follow from numbers of models."""
_TYPES: Mapping[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "bool": (bool,), "str": (str,)}


def _value(option: Option, value: Any) -> Any:
    """Return the value of an option of a file. Raises InputError for one of another kind."""
    if isinstance(value, str) and option.kind != "bool":
        return option.read(value)
    allowed = _TYPES.get(option.kind, ())
    if not isinstance(value, allowed) or (isinstance(value, bool) and option.kind != "bool"):
        words = {"int": "a whole number", "float": "a number", "bool": "true or false", "str": "text"}
        raise InputError(f"{option.name} {value!r}: {words.get(option.kind, 'text like 4x4')} is allowed")
    return value


def _own_numbers(values: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    """Return the options of dwarfs that follow from numbers of the model."""
    return tuple((name, values[key]) for name, key in _OWN.items() if key in values)


@lru_cache(maxsize=8)
def _program(
    kind: str,
    values: tuple[tuple[str, Any], ...],
    grid: ModelGrid,
    ranks: int,
    split: tuple[int, int],
    numbers: tuple[tuple[str, float], ...],
) -> ProgramWorkload:
    """Return the program of a dwarf, which is kept: repetitions of a step have the same one."""
    return _dwarf(kind, values, grid, ranks, split, numbers).program()


def _dwarf(
    kind: str,
    values: tuple[tuple[str, Any], ...],
    grid: ModelGrid,
    ranks: int,
    split: tuple[int, int],
    numbers: tuple[tuple[str, float], ...],
) -> Dwarf:
    """Return a dwarf on the grid of a model. Raises InputError for options that are missing or do not fit."""
    known, given = _keys(kind), dict(values)
    of_model: dict[str, Mapping[str, Any]] = {**grid.options(split), "float": dict(numbers)}
    chosen = {name: of_model[each.kind][name] for name, each in known.items() if name in of_model.get(each.kind, {})}
    if "grid" in given:  # for which the split of the model may not fit
        chosen.pop("split", None)
    options = chosen | given
    if missing := [name for name, each in known.items() if each.required and name not in options]:
        raise InputError(f"dwarf {kind}: key {missing[0]!r} is missing, which the grid of the model does not have")
    return find(kind)(ranks=ranks, **options)


def _renamed(program: ProgramWorkload, label: str) -> Iterator[GroupStep]:
    """Yield the steps of a program under a label, so that several programs go together."""
    made: dict[int, Exchanged] = {}

    def exchange(given: Exchanged) -> Exchanged:
        return made.setdefault(id(given), replace(given, name=f"{label}: {given.name}"))

    for number, step in enumerate(program.ordered_steps()):
        if isinstance(step, Compute):
            during = exchange(step.during) if isinstance(step.during, Exchanged) else step.during
            yield replace(step, name=f"{label}: {step.name}", during=during)
        elif isinstance(step, Exchanged):
            yield WholeExchange(exchange(step), f"{label}: {number + 1} {step.name}")
        elif isinstance(step, Poke):
            yield replace(step, label=f"{label}: {step.label or f'{number + 1} poke'}")
        else:
            shown = step.label or f"{number + 1} {step.exchange.name}"
            yield _on_exchange(step, exchange(step.exchange), f"{label}: {shown}")


def _on_exchange(step: WholeExchange | Start | Wait, exchange: Exchanged, label: str) -> GroupStep:
    renamed = replace(step, exchange=exchange, label=label)
    if isinstance(renamed, WholeExchange) and renamed.compute is not None:
        return replace(renamed, compute=replace(renamed.compute, name=label))
    return renamed
