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

import copy
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from tradewind import _core
from tradewind.base.elements import DTYPES, point_bytes
from tradewind.base.errors import InputError
from tradewind.workload.steps import (
    Compute,
    Exchanged,
    Group,
    GroupStep,
    Poke,
    Scheduled,
    Start,
    StepPart,
    Wait,
    WholeExchange,
    schedule_of,
)
from tradewind.workload.workload import Step, Workload

if TYPE_CHECKING:
    from tradewind.machine.machine import Machine

__all__ = [
    "Compute",
    "Exchanged",
    "Group",
    "Poke",
    "ProgramWorkload",
    "Scheduled",
    "Start",
    "Wait",
    "WholeExchange",
    "schedule_of",
]

_ORDERED = (Exchanged, WholeExchange, Start, Wait, Poke)


class ProgramWorkload(Workload):
    """A time step: steps in order, the same on all ranks, or those of `groups` of ranks. Raises InputError.

    Steps are schedules, `Compute`, and `Step`, which has a name; or, several of which may be open at once, an
    `Exchanged` with its `start()` and `wait()`, and `Poke`. `fields` of type `dtype` travel together in every message
    of a schedule; an `Exchanged` has fields of its own. `repeat`: time steps, of a program with an `Exchanged`.
    """

    threads: int = 1
    """Threads per rank that compute."""

    def __init__(
        self,
        *steps: Scheduled | _core.Schedule | Step | GroupStep,
        fields: int = 1,
        dtype: str = "f8",
        name: str = "program",
        groups: Sequence[Group] = (),
        repeat: int = 1,
    ) -> None:
        self._name = name
        self._made_of: tuple[Sequence[Any], dict[str, Any]] = (
            steps,
            {"fields": fields, "dtype": dtype, "name": name, "groups": groups, "repeat": repeat},
        )
        self._bytes_per_point = point_bytes(fields, dtype)
        self._element_bytes = DTYPES[dtype]
        self._order: _core.Order | None = None
        self.groups: list[Group] = []
        self.exchanges: list[Exchanged] = []
        self._numbers: dict[int, int] = {}
        """Places in `exchanges` by identity: of two that are equal each is one of its own."""
        if groups or any(isinstance(step, _ORDERED) or _is_during_named(step) for step in steps):
            self._take_order(steps, list(groups), fields, dtype, repeat)
            return
        if repeat != 1:
            raise InputError(f"repeat {repeat}: of a program with exchanges that have names")
        plain = [step for step in steps if not isinstance(step, _ORDERED)]
        self.only_computing = [step.name for step in plain if isinstance(step, Compute) and step.during is None]
        """Steps, by name, during which nothing is exchanged."""
        self.computations = sum(isinstance(step, Compute) for step in plain)
        self._steps = [_step(step, i) for i, step in enumerate(plain)]
        if len({step.name for step in self._steps}) < len(self._steps):
            raise InputError("two steps of a program have one name")
        self.ranks = self.core().ranks

    def _take_order(
        self,
        steps: Sequence[Any],
        groups: list[Group],
        fields: int,
        dtype: str,
        repeat: int,
    ) -> None:
        """The steps of groups, of which there is one where none are named."""
        if steps and groups:
            raise InputError("steps, or groups that have steps, are allowed, not both")
        if not groups:
            named = [_exchanged(step, i, fields, dtype) for i, step in enumerate(steps)]
            known = [each.core.ranks for step in named if (each := _exchange_of(step)) is not None]
            groups = [Group("all", known[0] if known else 0, named, repeat)]
        elif repeat != 1:
            raise InputError(f"repeat {repeat}: groups have a repeat of their own")
        self.groups = groups
        self._places: dict[str, int] = {}
        for place, group in enumerate(groups):
            if self._places.setdefault(group.name, place) < place:
                raise InputError(f"two groups of a program have one name, {group.name!r}")
        self._first_ranks = [0, *itertools.accumulate(group.ranks for group in groups)]
        names_of_exchanges: set[str] = set()
        for group in groups:
            for step in group.steps:
                exchange = _exchange_of(step)
                if exchange is None or id(exchange) in self._numbers:
                    continue
                if exchange.name in names_of_exchanges:
                    raise InputError(f"two exchanges of a program have one name, {exchange.name!r}")
                names_of_exchanges.add(exchange.name)
                self._numbers[id(exchange)] = len(self.exchanges)
                self.exchanges.append(exchange)
        self._steps = []
        self.only_computing = []
        self.computations = 0
        core_groups = []
        for group in groups:
            core_steps = []
            names: set[str] = set()
            for i, step in enumerate(group.steps):
                name, kind, exchange, times, compute = _parts(step, i)
                if name in names:
                    raise InputError(f"group {group.name!r}: two steps have one name, {name!r}")
                names.add(name)
                number = -1 if exchange is None else self._numbers[id(exchange)]
                made = _core.Compute() if compute is None else compute.core(group.ranks)
                core_steps.append(_core.GroupStep(name, kind, number, times, made))
                self._steps.append(Step(f"{group.name}: {name}" if len(groups) > 1 else name))
                self.computations += compute is not None
                if kind == "compute":
                    self.only_computing.append(self._steps[-1].name)
            core_groups.append(_core.Group(group.name, group.ranks, core_steps, group.repeat, list(group.members)))
        self._order = _core.Order([self._core_exchange(each) for each in self.exchanges], core_groups)
        self.ranks = self._order.ranks

    def _core_exchange(self, exchange: Exchanged) -> _core.Exchange:
        ranks = self.ranks_of(exchange)
        listed = [] if isinstance(ranks, range) else list(ranks)
        return _core.Exchange(exchange.name, exchange.core, exchange.bytes_per_point, ranks[0], listed)

    def ranks_of(self, exchange: Exchanged) -> Sequence[int]:
        """Return the ranks that take part in an exchange, in ascending order. Raises InputError for unknown groups."""
        unknown_names = [name for name in exchange.groups if name not in self._places]
        if unknown_names:
            known = ", ".join(group.name for group in self.groups)
            raise InputError(f"exchange {exchange.name!r}: no group has the name {unknown_names[0]!r} ({known})")
        if not exchange.groups:
            return range(exchange.core.ranks)
        taking_part = [self.members(self.groups[self._places[name]]) for name in exchange.groups]
        ranks = sorted({rank for members in taking_part for rank in members})
        if not ranks:
            raise InputError(f"exchange {exchange.name!r}: its groups have no ranks")
        consecutive = range(ranks[0], ranks[0] + len(ranks))
        return consecutive if ranks[-1] == consecutive[-1] else ranks

    def members(self, group: Group) -> Sequence[int]:
        """Return the ranks of a group, in ascending order."""
        if len(group.members):
            return group.members
        first = self._first_ranks[self._places[group.name]]
        return range(first, first + group.ranks)

    @property
    def order(self) -> _core.Order | None:
        """Order in which exchanges are started and awaited; None: steps follow each other, alike on all ranks."""
        return self._order

    def times(self, exchange: Exchanged) -> int:
        """Return how often an exchange takes place."""
        assert self._order is not None
        return self._order.times(self._numbers[id(exchange)])

    @property
    def stages(self) -> int:
        """Stages of all exchanges, as often as they take place."""
        if self._order is not None:
            return sum(self.times(exchange) * exchange.core.stages for exchange in self.exchanges)
        return sum(step.schedule.stages * step.repeat for step in self._steps if step.schedule is not None)

    @property
    def name(self) -> str:
        """Name of the program, for tables and plots."""
        return self._name

    @property
    def bytes_per_point(self) -> int:
        """Bytes of a grid point with all fields, in exchanges without fields of their own."""
        return self._bytes_per_point

    @property
    def element_bytes(self) -> int:
        """Bytes of one number."""
        return self._element_bytes

    def steps(self) -> list[Step]:
        """The steps; of a program of groups, those of each group in turn."""
        return self._steps

    def parts(self) -> list[StepPart]:
        """Return what each of `steps()` does."""
        if self._order is None:
            return [
                StepPart(
                    step.name,
                    "compute" if step.schedule is None else "exchange",
                    step.schedule,
                    step.repeat,
                    step.compute is not None,
                )
                for step in self._steps
            ]
        each = [_parts(step, i) for group in self.groups for i, step in enumerate(group.steps)]
        return [
            StepPart(step.name, kind, None if exchange is None else exchange.core, times, compute is not None)
            for step, (_, kind, exchange, times, compute) in zip(self._steps, each, strict=True)
        ]

    def ordered_steps(self) -> Sequence[GroupStep]:
        """Return the steps of a program of one group as groups have them, each exchange with a name.

        Raises InputError for more groups.
        """
        if len(self.groups) > 1:
            raise InputError(f"{self.name}: {len(self.groups)} groups have steps of their own")
        if self.groups:
            return self.groups[0].steps
        steps, options = self._made_of
        return [_exchanged(step, i, options["fields"], options["dtype"]) for i, step in enumerate(steps)]

    def schedules(self) -> dict[str, _core.Schedule]:
        """Return the schedules of all exchanges by their names."""
        if self._order is not None:
            return {exchange.name: exchange.core for exchange in self.exchanges}
        return super().schedules()

    @property
    def computes(self) -> list[Compute]:
        """The computations of all steps."""
        steps, options = self._made_of
        every = [*steps, *(step for group in options["groups"] for step in group.steps)]
        return [compute for step in every if (compute := _computed(step)) is not None]

    @property
    def has_files(self) -> bool:
        """Whether a computation has work on files."""
        return any(compute.files for compute in self.computes)

    @property
    def copied_bytes(self) -> float:
        """Bytes of memory that the computations of all ranks copy, each read and written."""
        steps, options = self._made_of
        groups = [(group.steps, group.ranks, group.repeat) for group in options["groups"]]
        every = groups or [(steps, self.ranks, options["repeat"])]
        return math.fsum(
            compute.bytes * step.repeat * repeat * compute.all_points(ranks)
            for steps, ranks, repeat in every
            for step in steps
            if (compute := _computed(step)) is not None and compute.bytes
        )

    def at_rates(self, machine: Machine, ranks_per_node: int, threads: int) -> ProgramWorkload:
        """Return it with work on files in seconds, and computations where cores or NUMA domains limit them.

        Raises InputError.
        """
        sharing, of_parts = min(ranks_per_node, self.ranks), machine.has_domains_or_core_rates
        if machine.node.flops is None and not of_parts:
            for compute in self.computes:
                compute.on_cores(machine, sharing, threads)  # refuses what has flops
        if not self.has_files and not of_parts:
            return self

        def computed(compute: Compute, ranks: int) -> Compute:
            made = compute.with_files(machine.files, ranks)
            return made.on_cores(machine, sharing, threads) if of_parts else made

        return self.with_computations(computed)

    def with_computations(self, change: Callable[[Compute, int], Compute]) -> ProgramWorkload:
        """Return the same program with other computations: `change` of each and the ranks of its group."""
        return self.with_steps(lambda step, ranks: with_computation(step, lambda compute: change(compute, ranks)))

    def with_steps(self, change: Callable[[Any, int], Any]) -> ProgramWorkload:
        """Return the same program with changed steps: what `change` makes of each and the ranks of its group."""
        steps, options = self._made_of
        groups = [
            replace(group, steps=[change(step, group.ranks) for step in group.steps]) for group in options["groups"]
        ]
        return self._like(*(change(step, self.ranks) for step in steps), **{**options, "groups": groups})

    def with_threads(self, threads: int) -> Self:
        """Return the same program with this number of threads that compute on each rank."""
        made = copy.copy(self)
        made.threads = threads
        return made

    def with_groups(self, groups: Sequence[Group]) -> ProgramWorkload:
        """Return the same program with other groups in place of its steps."""
        return self._like(**{**self._made_of[1], "groups": groups})

    def _like(self, *steps: Any, **options: Any) -> ProgramWorkload:
        """Return a program of other steps; what subclasses know beside them, they add here."""
        made = ProgramWorkload(*steps, **options)
        made.threads = self.threads
        return made

    def core(self) -> _core.Program:
        """Return the same in the form of the core."""
        if self._order is not None:
            return _core.Program(self._order)
        return super().core()

    def compute_s(self, result: Mapping[str, Any]) -> float | None:
        """Return the seconds of all computations in a simulation's result.

        None where one of them overlaps with an exchange: their shares of the time are unknown.
        """
        if self._order is not None:
            return None
        apart = [result["step_time_s"][name] for name in self.only_computing]
        return sum(apart) if len(apart) == self.computations else None

    def as_dict(self) -> dict[str, Any]:
        """Return the name and the number of ranks."""
        return {"program": self.name, "ranks": self.ranks}


def _computed(step: Any) -> Any:
    """The computation of a step of a program, if it has one."""
    return step if isinstance(step, Compute) else step.compute if isinstance(step, WholeExchange) else None


def with_computation(step: Any, change: Callable[[Compute], Compute]) -> Any:
    """Return the step with another computation, if it has one."""
    if isinstance(step, Compute):
        return change(step)
    if isinstance(step, WholeExchange) and step.compute is not None:
        return replace(step, compute=change(step.compute))
    return step


def _is_during_named(step: Any) -> bool:
    return isinstance(step, Compute) and isinstance(step.during, Exchanged)


def _during(step: Compute) -> _core.Schedule:
    assert step.during is not None
    return step.during.core if isinstance(step.during, Exchanged) else schedule_of(step.during)


def _step(step: Scheduled | _core.Schedule | Compute | Step, i: int) -> Step:
    if isinstance(step, Step):
        return step
    if isinstance(step, Compute):
        ranks = step.layout.ranks if step.layout is not None else 0
        if callable(step.points):
            if step.during is None:
                raise InputError(f"{step.name}: points as a function of the rank need `during`, whose ranks count")
            ranks = _during(step).ranks
        schedule = None if step.during is None else _during(step)
        return Step(step.name, schedule, step.repeat, step.core(ranks))
    schedule = schedule_of(step)
    name = f"{i + 1} {schedule.pattern.name} {schedule.algorithm}"
    return Step(name, schedule)


def _exchanged(step: Any, i: int, fields: int, dtype: str) -> GroupStep:
    """A step of a program of one group: a schedule becomes an exchange of its own."""
    if isinstance(step, Compute):
        if step.during is None or isinstance(step.during, Exchanged):
            return step
        exchange = Exchanged(step.name, _during(step), fields, dtype)
        return WholeExchange(exchange, step.name, step.repeat, step)
    if isinstance(step, _ORDERED):
        return step
    if isinstance(step, Step):
        if step.schedule is None or step.compute is not None:
            raise InputError(f"{step.name}: a Step beside exchanges that are started is one of a schedule alone")
        return WholeExchange(Exchanged(step.name, step.schedule, fields, dtype), step.name, step.repeat)
    schedule = schedule_of(step)
    return WholeExchange(Exchanged(f"{i + 1} {schedule.pattern.name} {schedule.algorithm}", schedule, fields, dtype))


def _exchange_of(step: GroupStep) -> Exchanged | None:
    if isinstance(step, Exchanged):
        return step
    if isinstance(step, Compute):
        return step.during if isinstance(step.during, Exchanged) else None
    return None if isinstance(step, Poke) else step.exchange


def _parts(step: GroupStep, i: int) -> tuple[str, str, Exchanged | None, int, Compute | None]:
    """Name, kind, exchange, times and computation of a step."""
    exchange = _exchange_of(step)
    if isinstance(step, Compute):
        kind = "compute" if exchange is None else "exchange"
        return step.name, kind, exchange, step.repeat, step
    if isinstance(step, Poke):
        return step.label or f"{i + 1} poke", "poke", None, 1, None
    assert exchange is not None
    if isinstance(step, Exchanged):
        return f"{i + 1} {exchange.name}", "exchange", exchange, 1, None
    if isinstance(step, WholeExchange):
        return step.label or f"{i + 1} {exchange.name}", "exchange", exchange, step.repeat, step.compute
    kind = "start" if isinstance(step, Start) else "wait"
    return step.label or f"{i + 1} {kind} {exchange.name}", kind, exchange, 1, None
