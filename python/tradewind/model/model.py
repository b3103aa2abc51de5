"""Models by name or file, and the programs of their time steps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from tradewind.base.errors import InputError, gathered
from tradewind.base.extents import extents_text
from tradewind.base.tables import explained
from tradewind.base.toml_lines import Place
from tradewind.machine import MachineFile
from tradewind.model.coupled import ComponentModel, CoupledModel
from tradewind.model.coupled_tables import COMPONENT, coupled_table
from tradewind.model.evaluation import check_changed
from tradewind.model.expansion import SERVERS, Expanded, Expansion
from tradewind.model.file import ModelFile, model_path
from tradewind.model.grid import ModelGrid, fixed, grown, model_grid
from tradewind.model.making import step_program
from tradewind.model.step_program import StepProgram
from tradewind.model.tables import ModelTable, Number

CHANGEABLE = ("halo", "path", "allreduce")
"""Keys of exchanges of which there are several algorithms for any number of ranks."""


def load_model(name: str | Path, numbers: Mapping[str, float] | None = None) -> AnyModel:
    """Return the model of a name or a file; `numbers`: values in place of those of the file.

    Raises InputError with all problems of the file, each with its line.
    """
    file = ModelFile(name)
    make = _coupled if COMPONENT in file.data else _plain
    return make(file, dict(numbers or {}))


def load_plain_model(name: str | Path) -> Model:
    """Return the model of a name or a file, which may not have components. Raises InputError as `load_model` does."""
    file = ModelFile(name)
    if COMPONENT in file.data:
        raise InputError(f"model {str(name)!r} has components itself: one without is allowed here")
    return _plain(file, {})


def _plain(file: ModelFile, numbers: dict[str, float]) -> Model:
    try:
        table = ModelTable.model_validate(file.data)
    except ValidationError as error:
        mistakes = [explained(details, _keys) for details in error.errors(include_url=False)]
        of_grid = [] if {place[:1] for place, _ in mistakes} & {("grid",), ("levels",)} else _grid_problems(file)
        raise InputError(*dict.fromkeys(file.at(*mistake) for mistake in mistakes), *of_grid) from None
    if problems := _grid_problems(file):
        raise InputError(*problems)
    return Model(file.path.stem, file, table, numbers)


def _grid_problems(file: ModelFile) -> list[str]:
    """Return what is wrong with the grid of a file whose keys for it have the right types."""
    grid = file.data.get("grid")
    wrong: list[str] = []
    with gathered(wrong):
        model_grid(grid, file.data.get("levels"))
    return [file.at(("levels",) if grid is None else ("grid",), problem) for problem in wrong]


def _coupled(file: ModelFile, numbers: dict[str, float]) -> CoupledModel:
    table = coupled_table(file)
    loaded: dict[str, ComponentModel] = {}
    problems: list[str] = []
    for i, each in enumerate(table.component):
        found: list[str] = []
        with gathered(found):
            loaded[each.name] = load_plain_model(model_path(each.model, file.path.parent))
            if SERVERS in loaded[each.name].table.numbers:
                found.append(f"model {each.model!r} has {SERVERS}: a component without ranks beside it is allowed")
        problems += [file.at(("component", i, "model"), problem) for problem in found]
    if problems:
        raise InputError(*problems)
    return CoupledModel(file.path.stem, file, table, loaded, numbers)


def _keys(place: Place) -> list[str]:
    table: type[BaseModel] = Number if place[:1] == ("numbers",) else ModelTable
    return [field.alias or name for name, field in table.model_fields.items()]


@dataclass(frozen=True)
class Model:
    """A model of the atmosphere: a grid, numbers with their sources, and the time step that is made of them.

    >>> model = load_model("arome-1300m")
    >>> model.simulate("fugaku", ranks=1000)["forecast_days_per_day"]  # doctest: +SKIP
    """

    name: str
    file: ModelFile = field(repr=False)
    table: ModelTable = field(repr=False)
    changed: dict[str, float] = field(default_factory=dict)
    """Numbers in place of those of the file."""
    algorithms: dict[str, str] = field(default_factory=dict)
    """Algorithms in place of those of the file, by the key of the exchanges: halo, path, allreduce."""

    def __post_init__(self) -> None:
        check_changed(self.changed, self.number_names)

    @cached_property
    def grid(self) -> ModelGrid:
        """The grid."""
        return self.table.points

    def grown(self, ranks: int, grown_from: tuple[int, int]) -> tuple[Model, tuple[int, int]]:
        """Return the same model with as many points for each of `ranks` ranks, and their split.

        Its grid grows along x and y as the ranks over these do, from `grown_from` on; its spacing and its step stay.
        Without a grid it grows by itself. Raises InputError for points that are fixed, and for ranks that do not fit.
        """
        if self.extents is None and self.point_count:
            raise fixed(self.grid_text)
        split = self.split(ranks, grown_from)
        if self.extents is None:
            return self, split
        text = extents_text(grown(self.extents, split, grown_from))
        return replace(self, table=self.table.model_copy(update={"grid": text})), split

    @property
    def point_count(self) -> int:
        """Points of all levels; 0 where each rank has elements of its own."""
        return self.grid.point_count

    @property
    def extents(self) -> tuple[int, int, int] | None:
        """Points along x, y and z, where they are divided among ranks along x and y."""
        return self.grid.extents if self.grid.is_divided else None

    @property
    def grid_text(self) -> str:
        """The grid as its file names it."""
        return self.grid.text

    def with_changes(self, numbers: Mapping[str, float], algorithms: Mapping[str, str]) -> Model:
        """Return it with other numbers and algorithms."""
        return replace(self, changed=dict(numbers), algorithms=dict(algorithms))

    @property
    def data(self) -> dict[str, Any]:
        """The tables of its file."""
        return self.file.data

    @property
    def texts(self) -> dict[str, str]:
        """The text of each of its files, by name."""
        return self.file.texts

    def without_folders(self, problem: str) -> str:
        """Return a problem without the folder of its file, which is one of this computer and no part of results."""
        return self.file.without_folders(problem)

    @property
    def number_names(self) -> list[str]:
        """The names of its numbers."""
        return list(self.table.numbers)

    @property
    def dtypes(self) -> list[str]:
        """The element types of its fields."""
        return [self.table.dtype]

    def imbalance(self, _ranks: int, split: tuple[int, int]) -> float:
        """Return the maximum points of a rank over the mean; 1 without a grid."""
        return self.grid.imbalance(split)

    @property
    def step_s(self) -> float:
        """Simulated seconds of a step."""
        return self.table.step

    def every(self, ranks: int) -> list[int]:
        """Return the numbers of steps after which something is done that other steps do not have, such as 12."""
        return sorted({each.every for each in self._expanded(ranks)} - {1})

    @property
    def assumed(self) -> list[str]:
        """The names of what no publication about this model has: keys, and numbers that are not changed."""
        numbers = [name for name, each in self.table.numbers.items() if each.assumed and name not in self.changed]
        return [*self.table.assumed, *numbers]

    def numbers(self, ranks: int) -> dict[str, float]:
        """Return the values of all numbers on `ranks` ranks, by name."""
        expansion = self._expansion(ranks)
        expansion.check()
        return {name: expansion.values[name] for name in self.table.numbers}

    def _expansion(self, ranks: int) -> Expansion:
        own = self.table.own_numbers | {"ranks": float(ranks)}
        return Expansion(self.file, self.table, own, self.changed)

    def _expanded(self, ranks: int) -> list[Expanded]:
        expansion = self._expansion(ranks)
        found = list(expansion.steps(self.table.step_of, ("steps",)))
        expansion.check()
        return found

    def program(self, ranks: int, split: tuple[int, int] | None = None, every: int | None = 1) -> StepProgram:
        """Return the program of a step on `ranks` ranks.

        `split`: ranks over x and y; None: the factors nearest to a square. `every`: also what is done once in
        `every` steps; None: all that is ever done. Raises InputError for ranks that do not fit the grid, and for all
        that is wrong with numbers, exchanges and steps.
        """
        expansion = self._expansion(ranks)
        expanded = list(expansion.steps(self.table.step_of, ("steps",)))
        exchanges = [expansion.table(each, ("exchange", i)) for i, each in enumerate(self.table.exchange)]
        found: StepProgram | None = None
        with gathered(expansion.problems):
            servers = expansion.servers(ranks)
            usual = self.grid.split(ranks - servers, _layouts(expanded))
            self._check_split(split or usual, usual, ranks, servers)
            head = self._head(exchanges, split or usual, usual)
            steps = [self._carried_step(each) for each in self._together(expanded, every)]
            found = step_program(self.file, head, self.grid, expansion.values, steps)
        expansion.check()
        assert found is not None
        return found

    def _check_split(self, split: tuple[int, int], usual: tuple[int, int], ranks: int, servers: int) -> None:
        if math.prod(split) != ranks - servers:
            beside = f" beside {servers} servers" if servers else ""
            made = f"split {extents_text(split)} makes {math.prod(split)} ranks"
            raise InputError(f"{made}, and {ranks - servers} are asked for{beside}")
        if not self.grid.takes_splits and split != usual:
            raise InputError(f"split {extents_text(split)}: {self.grid.text}: not divided along x and y")

    def _head(
        self, exchanges: Sequence[dict[str, Any]], split: tuple[int, int], usual: tuple[int, int]
    ) -> dict[str, Any]:
        """Return the program file of a step, without its steps."""
        return {
            "name": self.name,
            "ranks": math.prod(split),
            **({"grid": extents_text(self.grid.extents)} if self.grid.extents else {}),
            "split": extents_text(split),
            "dtype": self.table.dtype,
            "exchange": [self._split_up(self._carried(each), split, usual) for each in exchanges],
        }

    def _split_up(self, table: dict[str, Any], split: tuple[int, int], usual: tuple[int, int]) -> dict[str, Any]:
        """Return an exchange on the tiles of the model with another split than the usual one, which it has itself."""
        named = self.grid.named
        if named is None or split == usual or not str(table.get("grid", "")).startswith(f"{named.name}x"):
            return table
        return {"split": extents_text(split), **table}

    def _carried_step(self, step: Expanded) -> Expanded:
        return step if step.dwarf is not None else replace(step, table=self._carried(step.table))

    def _together(self, expanded: Sequence[Expanded], every: int | None) -> list[Expanded]:
        """Return the steps that are done together. Raises InputError for none, and for two of one name."""
        steps = [each for each in expanded if every is None or each.every in (1, every)]
        if not steps:
            raise InputError(self.file.at(("steps",), "one step without `every`, at least, is needed"))
        places: dict[str, Place] = {}
        for each in steps:
            label = each.table.get("label")
            if label is not None and places.setdefault(str(label), each.place) != each.place:
                raise InputError(self.file.at((*each.place, "label"), f"label {label!r}: another step has it"))
        return steps

    def split(self, ranks: int, grown_from: tuple[int, int] | None = None) -> tuple[int, int]:
        """Return the ranks over x and y that a step has unless others are named. Raises InputError.

        `grown_from`: ranks over x and y, from which on the grid grows with the ranks; None: it stays.
        """
        expanded, expansion = self._expanded(ranks), self._expansion(ranks)
        computing = ranks - expansion.servers(ranks)
        expansion.check()
        return self.grid.split(computing, _layouts(expanded), grown_from)

    def check(self, ranks: int, split: tuple[int, int] | None = None) -> None:
        """Raise InputError for ranks that do not fit grid or dwarfs: what is known before exchanges are made."""
        usual, expansion = self.split(ranks), self._expansion(ranks)
        split, values = split or usual, expansion.values
        self._check_split(split, usual, ranks, expansion.servers(ranks))
        dwarfs = [each.dwarf for each in self._expanded(ranks) if each.dwarf is not None]
        for dwarf in {(each.kind, each.values): each for each in dwarfs}.values():
            dwarf.check(self.grid, math.prod(split), split, values)

    def ranks_along_levels(self, ranks: int) -> int | None:
        """Return the most ranks along the direction that divides levels in transpositions; None: none divides them."""
        is_divided = self.extents is not None and any("z" in layout for layout in _layouts(self._expanded(ranks)))
        return self.extents[2] if is_divided and self.extents is not None else None

    def kinds(self, ranks: int) -> list[str]:
        """Return the keys of its exchanges that can take another algorithm, such as halo and allreduce."""
        tables = [*self.table.exchange, *(each.table for each in self._expanded(ranks))]
        return [key for key in CHANGEABLE if any(key in table for table in tables)]

    def _carried(self, table: dict[str, Any]) -> dict[str, Any]:
        """Return an exchange or a step with the algorithm of `algorithms`, if there is one for its kind."""
        found = next((name for key, name in self.algorithms.items() if key in table), None)
        return table if found is None else {**table, "algorithm": found}

    def verify(self, ranks: int) -> dict[str, Any]:
        """Prove the exchanges of a step, and that it cannot deadlock; see `tradewind.verification.verify_program`."""
        from tradewind.verification import verify_program

        return verify_program(self.program(ranks, every=None).program)

    def simulate(self, machine: str | Path | MachineFile, ranks: int, **options: Any) -> dict[str, Any]:
        """Simulate a step on a machine, with its causes; see `tradewind.model.forecast.forecast`."""
        from tradewind.model.forecast import forecast

        return forecast(self, machine, ranks, **{"causes": True, **options})

    def scaling(
        self, machine: str | Path | MachineFile, ranks: Sequence[int], scale: str = "strong", **options: Any
    ) -> list[dict[str, Any]]:
        """Simulate a step on several numbers of ranks; see `tradewind.model.scaling.scaling`."""
        from tradewind.model.scaling import scaling

        return [result for _, result in scaling(self, machine, ranks, scale=scale, **{"causes": True, **options})]

    def ranks_within(
        self, machine: str | Path | MachineFile, within_s: float, days: float, members: int = 1, **options: Any
    ) -> dict[str, Any]:
        """Find the ranks for a forecast of `days` days in `within_s` s; see `tradewind.model.deadline.ranks_within`."""
        from tradewind.model.deadline import ranks_within

        return ranks_within(self, machine, within_s=within_s, days=days, members=members, **options)


def _layouts(steps: Sequence[Expanded]) -> list[str]:
    """Return the layouts that steps go through, those of dwarfs among them."""
    paths = [path.split("-") for each in steps if isinstance(path := each.table.get("path"), str)]
    of_dwarfs = [each.dwarf.layouts for each in steps if each.dwarf is not None]
    return list(dict.fromkeys(["xy", *(name for names in (*paths, *of_dwarfs) for name in names)]))


AnyModel = Model | CoupledModel
"""A model, of one component or of several."""
