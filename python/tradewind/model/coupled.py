"""Coupled models: components with grids, steps and ranks of their own, which exchange fields now and then.

What a forecast takes for a step is the shortest time after which all components have done whole steps; couplings, whose
periods are multiples of it, are done once in several of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

from tradewind import _core
from tradewind.base.errors import InputError, gathered
from tradewind.base.extents import extents_text
from tradewind.base.names import unknown
from tradewind.base.toml_lines import Place
from tradewind.base.units import format_seconds
from tradewind.method.method import default_algorithm
from tradewind.model.component_steps import ComponentSteps, OneStep
from tradewind.model.coupled_tables import COMPONENT, COMPONENTS, Component, CoupledTable, Coupling
from tradewind.model.evaluation import check_changed, number, numbers_of
from tradewind.model.file import ModelFile
from tradewind.model.grid import ModelGrid, default_split, fixed
from tradewind.model.making import StepWorkload
from tradewind.model.step_program import Stepping, StepProgram
from tradewind.model.tables import FLOPS_PER_BYTE
from tradewind.workload.coupling import Side, coupling
from tradewind.workload.steps import Compute, Exchanged, Group

if TYPE_CHECKING:
    from tradewind.machine import MachineFile
    from tradewind.model.tables import ModelTable

PART = "coupling"
"""Part of a model that exchanges between components count for: messages, and waiting for the other component."""
_ALL = "all"


class ComponentModel(Stepping, Protocol):
    """A model as a component of others."""

    @property
    def file(self) -> ModelFile:
        """Its file."""

    @property
    def table(self) -> ModelTable:
        """The tables of its file."""

    @property
    def grid(self) -> ModelGrid:
        """Its grid."""

    @property
    def assumed(self) -> list[str]:
        """The names of what no publication about it has."""

    def check(self, ranks: int, split: tuple[int, int] | None = None) -> None:
        """Raise InputError for ranks that do not fit, as far as that is known before exchanges are made."""

    def kinds(self, ranks: int) -> list[str]:
        """Return the keys of its exchanges that can take another algorithm."""

    def with_changes(self, numbers: Mapping[str, float], algorithms: Mapping[str, str]) -> Self:
        """Return it with other numbers and algorithms."""


@dataclass(frozen=True)
class CoupledModel:
    """A model of several components.

    >>> from tradewind.model import load_model
    >>> load_model("coupled-arome-nemo").simulate("fugaku", ranks=1000)["forecast_days_per_day"]  # doctest: +SKIP
    """

    name: str
    file: ModelFile = field(repr=False)
    table: CoupledTable = field(repr=False)
    loaded: Mapping[str, ComponentModel] = field(repr=False)
    """Components by name, as their files are."""
    changed: dict[str, float] = field(default_factory=dict)
    """Numbers in place of those of the files, such as `ocean.substeps` of the component `ocean`."""
    algorithms: dict[str, str] = field(default_factory=dict)
    """Algorithms in place of those of the files, by the key of the exchanges."""

    def __post_init__(self) -> None:
        problems: list[str] = []
        names = [each.name for each in self.table.component]
        for i, each in enumerate(self.table.component):
            if each.name in names[:i]:
                problems.append(self.file.at(("component", i), f"two components have the name {each.name!r}"))
        for i, moved in enumerate(self.table.coupling):
            for key, name in (("from", moved.origin), ("to", moved.target)):
                if name not in names:
                    problems.append(self.file.at(("coupling", i, key), unknown("component", name, names)))
            if moved.origin == moved.target:
                problem = f"from {moved.origin!r} to itself: two components are allowed"
                problems.append(self.file.at(("coupling", i, "to"), problem))
            if moved.name in [other.name for other in self.table.coupling[:i]]:
                problems.append(self.file.at(("coupling", i), f"two couplings have the name {moved.name!r}"))
            if Fraction(str(moved.period)) % self._window or not moved.period:
                steps = ", ".join(f"{name} {format_seconds(each.step_s)}" for name, each in self.loaded.items())
                problems.append(
                    self.file.at(
                        ("coupling", i, "period"),
                        f"period {format_seconds(moved.period)}: a multiple of {format_seconds(self.step_s)} is "
                        f"allowed, in which all components do whole steps ({steps})",
                    )
                )
        if problems:
            raise InputError(*problems)
        check_changed(self.changed, self.number_names)

    @cached_property
    def _window(self) -> Fraction:
        """The shortest time in which all components do whole steps."""
        steps = [Fraction(str(each.step_s)) for each in self.loaded.values()]
        return Fraction(math.lcm(*(each.numerator for each in steps)), math.gcd(*(each.denominator for each in steps)))

    @property
    def step_s(self) -> float:
        """Simulated seconds of what is taken for a step."""
        return float(self._window)

    @property
    def extents(self) -> None:
        """Nothing: each component has a grid of its own."""
        return None

    def ranks_along_levels(self, _ranks: int) -> None:
        """Return nothing, as above."""
        return None

    @property
    def point_count(self) -> int:
        """Points of the grids of all components."""
        return sum(each.grid.point_count for each in self.loaded.values())

    def grown(self, ranks: int, grown_from: tuple[int, int]) -> tuple[Self, tuple[int, int]]:
        """Refuse to grow, with InputError: the components have grids of their own, which exchange fields."""
        raise fixed(self.grid_text)

    def with_changes(self, numbers: Mapping[str, float], algorithms: Mapping[str, str]) -> Self:
        """Return it with other numbers and algorithms."""
        return replace(self, changed=dict(numbers), algorithms=dict(algorithms))

    @property
    def data(self) -> dict[str, Any]:
        """Return the tables of its file, and below `components` those of the components' files."""
        return self.file.data | {COMPONENTS: {name: each.file.data for name, each in self.loaded.items()}}

    @property
    def texts(self) -> dict[str, str]:
        """The text of each of its files, by name. Raises InputError for two files of one name."""
        found = dict(self.file.texts)
        for i, each in enumerate(self.table.component):
            for name, text in self.loaded[each.name].file.texts.items():
                if found.setdefault(name, text) != text:
                    problem = f"model {each.model!r}: another file of this model has the name {name}, too"
                    raise InputError(self.file.at((COMPONENT, i, "model"), problem))
        return found

    def without_folders(self, problem: str) -> str:
        """Return a problem without the folder of its file, which is one of this computer and no part of results."""
        for file in (self.file, *(each.file for each in self.loaded.values())):
            problem = file.without_folders(problem)
        return problem

    @property
    def number_names(self) -> list[str]:
        """The names of its numbers, those of components as `component.name`."""
        of_components = [f"{name}.{each}" for name, model in self.loaded.items() for each in model.table.numbers]
        return [*self.table.numbers, *of_components]

    @property
    def dtypes(self) -> list[str]:
        """The element types of the fields of its components."""
        return sorted({each.table.dtype for each in self.loaded.values()})

    def imbalance(self, ranks: int, _split: tuple[int, int]) -> float:
        """Return the maximum points of a rank over the mean, of the component where it is largest."""
        shares = self.ranks_of(ranks)
        return max(each.grid.imbalance(each.split(len(shares[name]))) for name, each in self._components())

    @property
    def grid_text(self) -> str:
        """The grids of the components."""
        return ", ".join(f"{name} {each.grid.text}" for name, each in self.loaded.items())

    @property
    def assumed(self) -> list[str]:
        """The names of what no publication about this model has."""
        own = [name for name, each in self.table.numbers.items() if each.assumed and name not in self.changed]
        return own + [f"{name}.{each}" for name, model in self._components() for each in model.assumed]

    def numbers(self, ranks: int) -> dict[str, float]:
        """Return the values of all numbers on `ranks` ranks, by name; those of components as `component.name`."""
        found = {name: value for name, value in self._values(ranks).items() if name in self.table.numbers}
        shares = self.ranks_of(ranks)
        for name, model in self._components():
            found |= {f"{name}.{each}": value for each, value in model.numbers(len(shares[name])).items()}
        return found

    def kinds(self, ranks: int) -> list[str]:
        """Return the keys of exchanges that can take another algorithm, of any component."""
        shares = self.ranks_of(ranks)
        return list(dict.fromkeys(kind for name, each in self._components() for kind in each.kinds(len(shares[name]))))

    def split(self, ranks: int) -> tuple[int, int]:
        """Return the ranks over x and y of the first component. Raises InputError."""
        name, model = next(self._components())
        return model.split(len(self.ranks_of(ranks)[name]))

    def check(self, ranks: int, split: tuple[int, int] | None = None) -> None:
        """Raise InputError for ranks that do not fit a component, or the grid of what it exchanges."""
        self._check_split(split, ranks)
        shares = self.ranks_of(ranks)
        for name, model in self._components():
            model.check(len(shares[name]))
        for name in {name for each in self.table.coupling for name in (each.origin, each.target)}:
            self._layout(name, shares)

    def _check_split(self, split: tuple[int, int] | None, ranks: int) -> None:
        if split is not None and split != self.split(ranks):
            raise InputError(f"split {extents_text(split)}: the components of {self.name} have splits of their own")

    def every(self, ranks: int) -> list[int]:
        """Return the numbers of steps after which something is done that other steps do not have."""
        found = {self._every(each) for each in self.table.coupling}
        shares = self.ranks_of(ranks)
        for name, model in self._components():
            steps = self._steps_of(model)
            for every in model.every(len(shares[name])):
                if every % steps:
                    raise InputError(
                        f"{self.file.path}: component {name!r} does something every {every} steps: a multiple of "
                        f"{steps} is allowed, its steps in {format_seconds(self.step_s)}"
                    )
                found.add(every // steps)
        return sorted(found - {1})

    def ranks_of(self, ranks: int) -> dict[str, range]:
        """Return the ranks of each component. Raises InputError where they do not cover all ranks, or one has none."""
        if not self.table.concurrent:
            return {each.name: range(ranks) for each in self.table.component}
        values, counts = self._values(ranks), {}
        for i, each in enumerate(self.table.component):
            if each.ranks is not None:
                counts[each.name] = self._whole(each.ranks, ("component", i, "ranks"), values)
        left, open_ones = ranks - sum(counts.values()), [c.name for c in self.table.component if c.name not in counts]
        if len(open_ones) > 1:
            raise InputError(
                self.file.at(("component",), f"ranks of {', '.join(open_ones)}: of one they may be left out")
            )
        if (left < 1) if open_ones else left:
            made = " + ".join(f"{count} of {name}" for name, count in counts.items())
            more = f" and 1 or more of {open_ones[0]}" if open_ones else ""
            raise InputError(self.file.at(("component",), f"{ranks} ranks: components have {made}{more}"))
        found, first = {}, 0
        for each in self.table.component:
            count = counts.get(each.name, left)
            found[each.name] = range(first, first + count)
            first += count
        return found

    def program(self, ranks: int, split: tuple[int, int] | None = None, every: int | None = 1) -> StepProgram:
        """Return the program of the shortest time in which all components do whole steps.

        `every`: also what is done once in this number of them; None: all that is ever done. Raises InputError for ranks
        that do not fit, and for a `split`: each component has its own.
        """
        self._check_split(split, ranks)
        shares = self.ranks_of(ranks)
        done: dict[str, list[OneStep]] = {}
        for name, model in self._components():
            steps = ComponentSteps(name, () if self._together else (name,), model, len(shares[name]))
            done[name] = list(steps.of_window(self._steps_of(model), every))
        due = [each for each in self.table.coupling if every is None or self._every(each) in (1, every)]
        exchanges = [self._exchanged(each, shares) for each in due]
        for end in ("start", "wait"):
            for moved, exchange in zip(due, exchanges, strict=True):
                for name in dict.fromkeys((moved.origin,) if self._together else (moved.origin, moved.target)):
                    label = f"{end} {moved.name}"
                    step = exchange.start(label) if end == "start" else exchange.wait(label)
                    done[name].append(OneStep(PART, False, step))
        for moved in due:
            done[moved.target] += self._interpolated(moved, shares)
        return self._made(shares, done)

    def _made(self, shares: Mapping[str, range], done: Mapping[str, list[OneStep]]) -> StepProgram:
        ordered = [step for steps in done.values() for step in steps]
        if self._together:
            starts = [step for step in ordered if step.part != PART]
            ordered = starts + [step for step in ordered if step.part == PART]
            groups = [Group(_ALL, len(next(iter(shares.values()))), [each.step for each in ordered])]
        else:
            groups = [Group(name, len(shares[name]), [each.step for each in steps]) for name, steps in done.items()]
        program = StepWorkload(groups=groups, name=self.name)
        program.flops_per_byte = self._flops_per_byte(shares)
        return StepProgram(program, [each.part for each in ordered], [each.computes for each in ordered])

    def _flops_per_byte(self, shares: Mapping[str, range]) -> float:
        """Return the number of the components that have it. Raises InputError where it differs."""
        all_numbers = [(name, model.numbers(len(shares[name]))) for name, model in self._components()]
        found = {name: numbers[FLOPS_PER_BYTE] for name, numbers in all_numbers if FLOPS_PER_BYTE in numbers}
        if len(set(found.values())) > 1:
            values = ", ".join(f"{name}.{FLOPS_PER_BYTE} = {value:g}" for name, value in found.items())
            raise InputError(f"{self.name}: {values}: one value for all components is allowed")
        return next(iter(found.values()), 0.0)

    @property
    def _together(self) -> bool:
        """Whether all components are on all ranks."""
        return not self.table.concurrent

    def _exchanged(self, moved: Coupling, shares: Mapping[str, range]) -> Exchanged:
        ends = [moved.origin, moved.target]
        groups = () if self._together else tuple(sorted(set(ends), key=lambda name: shares[name].start))
        # The ranks that take part are numbered from 0, group by group.
        first = {name: sum(len(shares[other]) for other in groups[:i]) for i, name in enumerate(groups)}
        ranks = sum(len(shares[name]) for name in groups or ends[:1])
        fields = self._fields(moved, shares)
        problems: list[str] = []
        with gathered(problems):
            source, target = (
                Side(self._layout(end, shares), first.get(end, 0), self._component(end).area) for end in ends
            )
            fetch = coupling(source, target, ranks, moved.interpolation, moved.periodic)
            schedule = _core.make_schedule(fetch, default_algorithm(fetch.name))
            return Exchanged(moved.name, schedule, fields, groups=groups)
        raise InputError(*(self.file.at(self._place(moved), problem) for problem in problems))

    def _interpolated(self, moved: Coupling, shares: Mapping[str, range]) -> Iterator[OneStep]:
        """Yield what the interpolation computes on the ranks of the target."""
        problems: list[str] = []
        place, values = (*self._place(moved), "bytes"), self._values(_total(shares))
        each = number(self.file, moved.bytes, place, values, problems)
        if each < 0:
            problems.append(self.file.at(place, f"bytes {moved.bytes!r}: {each:g}; 0 or more are allowed"))
        if problems:
            raise InputError(*problems)
        if each:
            layout, fields = self._layout(moved.target, shares), self._fields(moved, shares)
            yield OneStep(PART, True, Compute(f"interpolation of {moved.name}", bytes=each * fields, layout=layout))

    def _fields(self, moved: Coupling, shares: Mapping[str, range]) -> int:
        return self._whole(moved.fields, (*self._place(moved), "fields"), self._values(_total(shares)))

    def _place(self, moved: Coupling) -> Place:
        return ("coupling", self.table.coupling.index(moved))

    def _layout(self, name: str, shares: Mapping[str, range]) -> _core.Blocks:
        points = (*self._component(name).grid, 1)
        return _core.Blocks(_core.Grid(*points), default_split(points, len(shares[name])))

    def _component(self, name: str) -> Component:
        return next(each for each in self.table.component if each.name == name)

    def _components(self) -> Iterator[tuple[str, ComponentModel]]:
        """Yield names and components, with changed numbers and algorithms."""
        for name, model in self.loaded.items():
            begin = f"{name}."
            own = {key.removeprefix(begin): value for key, value in self.changed.items() if key.startswith(begin)}
            yield name, model.with_changes(own, self.algorithms)

    def _steps_of(self, model: Stepping) -> int:
        """Return the steps of a component in a step of this model."""
        return int(self._window / Fraction(str(model.step_s)))

    def _every(self, moved: Coupling) -> int:
        return int(Fraction(str(moved.period)) / self._window)

    def _values(self, ranks: int) -> dict[str, float]:
        """Return the numbers of this file, and `ranks`. Raises InputError."""
        problems: list[str] = []
        found = numbers_of(self.file, self.table.numbers, {"ranks": float(ranks)}, self.changed, problems)
        if problems:
            raise InputError(*problems)
        return found

    def _whole(self, value: float | str, place: Place, values: Mapping[str, float]) -> int:
        problems: list[str] = []
        found = number(self.file, value, place, values, problems)
        if found < 1 or found != int(found):
            problem = f"{place[-1]} {value!r}: {found:g}; a whole number, 1 or more, is allowed"
            problems.append(self.file.at(place, problem))
        if problems:
            raise InputError(*problems)
        return int(found)

    def verify(self, ranks: int) -> dict[str, Any]:
        """Prove all exchanges, and that components cannot deadlock; see `tradewind.verification.verify_program`."""
        from tradewind.verification import verify_program

        return verify_program(self.program(ranks, every=None).program)

    def simulate(self, machine: str | Path | MachineFile, ranks: int, **options: Any) -> dict[str, Any]:
        """Simulate a step on a machine; see `tradewind.model.forecast.forecast`."""
        from tradewind.model.forecast import forecast

        return forecast(self, machine, ranks, **{"causes": True, **options})


def _total(shares: Mapping[str, range]) -> int:
    """Return the number of all ranks."""
    return max(each.stop for each in shares.values())
