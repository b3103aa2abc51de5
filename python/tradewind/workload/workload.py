"""The idea behind exchanges, programs and repetitions: a workload makes a program, which is proved, run, simulated."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from tradewind import _core
from tradewind.base.elements import DTYPES, point_bytes

if TYPE_CHECKING:
    from tradewind.machine.machine import Machine


@dataclass(frozen=True)
class Step:
    """A step of a program, by its name in results: a schedule, a computation, or one during the other; in a row."""

    name: str
    schedule: _core.Schedule | None = None
    repeat: int = 1
    compute: _core.Compute | None = None

    def core(self) -> _core.Step:
        """The step as the core takes it."""
        computing = () if self.compute is None else (self.compute,)
        return _core.Step(self.name, self.schedule, self.repeat, *computing)


class Workload:
    """Steps of all ranks, one after another: an exchange, a program, a dwarf's time step."""

    ranks: int
    """Number of ranks that take part."""
    split: tuple[int, int] | None = None
    """(cx, cy) ranks over x and y, where a grid is divided so."""
    family: ClassVar[str] = "program"
    """Name of its request in the store of studies: exchange, dwarf or program."""
    calls: _core.Calls | None = None
    """Calls of a trace that ranks follow in place of the program; see `tradewind.replay`."""
    cost_version: ClassVar[int | None] = None
    """Goes up whenever the same request asks for other work of a simulation: a study then simulates it again."""

    @property
    def name(self) -> str:
        """A short label, for tables and plots."""
        raise NotImplementedError

    @property
    def bytes_per_point(self) -> int:
        """Bytes of a grid point in a message."""
        raise NotImplementedError

    @property
    def element_bytes(self) -> int:
        """Bytes of a point of one field."""
        raise NotImplementedError

    def steps(self) -> list[Step]:
        """The steps, in the order in which they are run."""
        raise NotImplementedError

    def schedules(self) -> dict[str, _core.Schedule]:
        """The schedules by the names of their steps; what is repeated is there once."""
        return {step.name: step.schedule for step in self.steps() if step.schedule is not None}

    def program(self) -> Workload:
        """Return the simulated workload: itself, but for requests that make a program of their own."""
        return self

    @property
    def named_method(self) -> tuple[str | None, str | None]:
        """Transport and packing of its messages, as far as it names them."""
        return None, None

    @property
    def has_files(self) -> bool:
        """Whether it writes or reads files, at the rates of the machine."""
        return False

    @property
    def threads(self) -> int:
        """Threads per rank that compute."""
        return 1

    @property
    def copied_bytes(self) -> float:
        """Bytes of memory that the computations of all ranks copy, each read and written."""
        return 0.0

    def at_rates(self, machine: Machine, ranks_per_node: int, threads: int) -> Workload:
        """Return the workload with its work on files in seconds, and its computations, too, on a machine whose cores or
        NUMA domains limit them. Raises InputError where a rate is missing."""
        return self

    def core(self) -> _core.Program:
        """Return the same in the form of the core."""
        return _core.Program([step.core() for step in self.steps()], self.bytes_per_point)

    def as_dict(self) -> dict[str, Any]:
        """Return the request as plain values."""
        raise NotImplementedError

    def labels(self) -> dict[str, Any]:
        """Return the labels of its values: those of `as_dict`, numbers of several parts as text."""
        return {key: _text(value) for key, value in self.as_dict().items()}

    def traits(self) -> list[str]:
        """Return the text of a line about it, after its name."""
        return [f"{self.ranks} ranks"]

    def imbalance(self) -> float:
        """Points of the largest part over the mean."""
        return 1.0

    def simulated(self, simulate: Callable[..., dict[str, Any]], machine: Any, **options: Any) -> dict[str, Any]:
        """Return the result of a study's case: of `simulate`, which takes a program, a machine and options."""
        # Nobody keeps the program: `derived` makes another one, and two of a million ranks may not fit in memory.
        result = simulate(self.program(), machine, **options)
        return {**result, **self.derived(result)}

    def derived(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values that a study keeps of a simulation, beside its result."""
        return {}

    def figures(self, result: _core.SimulationResult) -> dict[str, Any]:
        """Return values of its own from a result of the core."""
        return {}


def _text(value: Any) -> Any:
    if isinstance(value, tuple):
        return "x".join(str(number) for number in value)
    return str(value) if isinstance(value, float) else value


@dataclass(frozen=True)
class OneSchedule(Workload):
    """A schedule as a workload of one step, of `fields` fields. Raises InputError."""

    schedule: _core.Schedule
    fields: int = 1
    dtype: str = "f8"

    def __post_init__(self) -> None:
        point_bytes(self.fields, self.dtype)  # refuses what cannot be

    @property
    def ranks(self) -> int:  # type: ignore[override]  # of the schedule
        """Number of ranks of the schedule."""
        return self.schedule.ranks

    @property
    def bytes_per_point(self) -> int:
        """Bytes of a grid point with all fields."""
        return point_bytes(self.fields, self.dtype)

    @property
    def element_bytes(self) -> int:
        """Bytes of one number."""
        return DTYPES[self.dtype]

    @property
    def split(self) -> tuple[int, int] | None:  # type: ignore[override]  # of its layout
        """(cx, cy) ranks over x and y of its layout; None where a rank owns nothing."""
        pattern = self.schedule.pattern
        layout = getattr(pattern, "layout", None) or getattr(pattern, "from_layout", None)
        if layout is None or math.prod(layout.split) != self.ranks:  # some ranks own nothing
            return None
        return layout.split[0], layout.split[1]

    @property
    def name(self) -> str:
        """Pattern and algorithm."""
        return f"{self.schedule.pattern.name} {self.schedule.algorithm}"

    def steps(self) -> list[Step]:
        """Return the one step."""
        return [Step(self.schedule.pattern.name, self.schedule)]

    def as_dict(self) -> dict[str, Any]:
        """Return pattern, ranks, algorithm, fields and dtype as plain values."""
        return {
            "pattern": self.schedule.pattern.name,
            "ranks": self.ranks,
            "algorithm": self.schedule.algorithm,
            "fields": self.fields,
            "dtype": self.dtype,
        }
