"""A model's time step as the simulator takes it: exchanges and computations, one after another or at once.

>>> import tradewind as tw
>>> blocks = tw.Blocks(tw.Grid(nx=602, ny=568, nz=60), split=(8, 4))
>>> halo = tw.Halo(blocks, width=3).schedule("sweep")
>>> step = tw.Program(
...     tw.Compute("physics", flops=2000, bytes=1600, layout=blocks),
...     tw.Compute("interior", flops=500, bytes=400, layout=blocks, during=halo),
... )
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from tradewind import _core
from tradewind.base.elements import DTYPES, point_bytes
from tradewind.base.errors import InputError
from tradewind.workload.workload import Step, Workload


class Scheduled(Protocol):
    """A schedule as users hold it, see `tradewind.pattern.Schedule`."""

    @property
    def core(self) -> _core.Schedule: ...


def schedule_of(schedule: Scheduled | _core.Schedule) -> _core.Schedule:
    """The schedule of the core."""
    return schedule if isinstance(schedule, _core.Schedule) else schedule.core


@dataclass(frozen=True)
class Compute:
    """What every rank computes: for `seconds`, and as long as `flops` or `bytes` of memory take, whichever is longer,
    at a rank's share of its node (the roofline model of Williams, Waterman & Patterson 2009).

    With a `layout`, flops and bytes are those of a grid point that a rank owns, and `point_s` (s) is what a core takes
    for such a point beside them. `during` an exchange, the computation
    begins when the first stage has been posted, and what needs the CPU meanwhile waits for it; both must end.
    """

    name: str
    seconds: float = 0.0
    flops: float = 0.0
    bytes: float = 0.0
    layout: _core.Blocks | None = None
    during: Scheduled | _core.Schedule | None = None
    repeat: int = 1
    point_s: float = 0.0

    def __post_init__(self) -> None:
        if self.point_s and self.layout is None:
            raise InputError(f"{self.name}: point_s {self.point_s:g}: a layout is needed, whose points are meant")

    @property
    def step(self) -> Step:
        """The computation as a step of a program."""
        compute = _core.Compute(self.seconds, self.flops, self.bytes, self.layout, self.point_s)
        return Step(self.name, None if self.during is None else schedule_of(self.during), self.repeat, compute)


class Program(Workload):
    """Steps of one kind or another, in order: schedules, `Compute`, and `Step`, which has a name. Raises InputError.

    `fields` of type `dtype` travel together in every message.
    """

    def __init__(
        self,
        *steps: Scheduled | _core.Schedule | Compute | Step,
        fields: int = 1,
        dtype: str = "f8",
        name: str = "program",
    ) -> None:
        self._name = name
        self._bytes_per_point = point_bytes(fields, dtype)
        self._element_bytes = DTYPES[dtype]
        self.only_computing = [step.name for step in steps if isinstance(step, Compute) and step.during is None]
        """Steps, by name, during which nothing is exchanged."""
        self.computations = sum(isinstance(step, Compute) for step in steps)
        self._steps = [_step(step, i) for i, step in enumerate(steps)]
        if len({step.name for step in self._steps}) < len(self._steps):
            raise InputError("two steps of a program have one name")
        self.ranks = self.core().ranks

    @property
    def name(self) -> str:
        return self._name

    @property
    def bytes_per_point(self) -> int:
        return self._bytes_per_point

    @property
    def element_bytes(self) -> int:
        return self._element_bytes

    def steps(self) -> list[Step]:
        return self._steps

    def compute_s(self, result: Mapping[str, Any]) -> float | None:
        """Of a simulation's result, the seconds of all computations.

        None where one of them overlaps with an exchange: nobody can say what of the time is which.
        """
        apart = [result["step_time_s"][name] for name in self.only_computing]
        return sum(apart) if len(apart) == self.computations else None

    def as_dict(self) -> dict[str, Any]:
        return {"program": self.name, "ranks": self.ranks}


def _step(step: Scheduled | _core.Schedule | Compute | Step, i: int) -> Step:
    if isinstance(step, Step):
        return step
    if isinstance(step, Compute):
        return step.step
    schedule = schedule_of(step)
    name = f"{i + 1} {schedule.pattern.name} {schedule.algorithm}"
    return Step(name, schedule)
