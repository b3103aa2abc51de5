"""Steps of a model whose exchanges go on while it computes what follows: what overlap and pipelining would bring."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from tradewind.model.step_program import Stepping, StepProgram
from tradewind.workload.program import Compute
from tradewind.workload.steps import WholeExchange

ALLREDUCE = "allreduce"
_Step = tuple[Any, str, bool]
"""A step of a program, its part of the model, and whether it computes."""


@dataclass(frozen=True)
class Overlapped:
    """A model whose exchanges of a pattern are started, and awaited behind the next computation.

    What is between the two must not need the exchange: for halos the points inside are computed meanwhile; for
    reductions the solver is a pipelined one (Ghysels & Vanroose 2014, doi:10.1016/j.parco.2013.06.001), which has one
    reduction in each iteration.
    """

    model: Stepping
    pattern: str
    """Name of the pattern: halo or allreduce."""

    @property
    def name(self) -> str:
        """Name in results."""
        return self.model.name

    @property
    def step_s(self) -> float:
        """Simulated seconds of a step."""
        return self.model.step_s

    def every(self, ranks: int) -> list[int]:
        """Return those of the model."""
        return self.model.every(ranks)

    def numbers(self, ranks: int) -> dict[str, float]:
        """Return those of the model."""
        return self.model.numbers(ranks)

    def split(self, ranks: int) -> tuple[int, int]:
        """Return that of the model."""
        return self.model.split(ranks)

    def program(self, ranks: int, split: tuple[int, int] | None = None, every: int | None = 1) -> StepProgram:
        """Return the program of a step with its exchanges open."""
        return overlapped(self.model.program(ranks, split, every), self.pattern)


def can_overlap(made: StepProgram, pattern: str) -> bool:
    """Whether an exchange of a pattern is followed by a computation that it could go on beside."""
    return len(made.program.groups) == 1 and any(_window(_steps(made), i, pattern) for i in range(len(made.parts)))


def overlapped(made: StepProgram, pattern: str) -> StepProgram:
    """Return a program whose exchanges of a pattern are awaited behind the next computation, where there is one."""
    steps = list(_opened(_steps(made), pattern))
    (group,) = made.program.groups
    program = made.program.with_groups([replace(group, steps=[step for step, _, _ in steps])])
    return StepProgram(program, [part for _, part, _ in steps], [computes for _, _, computes in steps])


def _steps(made: StepProgram) -> list[_Step]:
    return list(zip(made.program.groups[0].steps, made.parts, made.computes, strict=True))


def _opened(steps: list[_Step], pattern: str) -> Iterator[_Step]:
    i = 0
    while i < len(steps):
        step, part, computes = steps[i]
        beside = _window(steps, i, pattern)
        i += 1 + len(beside)
        if not beside:
            yield step, part, computes
            continue
        yield step.exchange.start(step.label), part, False
        yield from beside
        yield step.exchange.wait(f"{step.label}, its end"), part, False


def _window(steps: list[_Step], i: int, pattern: str) -> list[_Step]:
    """Return the steps that an exchange can go on beside: up to the next computation."""
    step = steps[i][0]
    if not _is_whole(step) or step.exchange.core.pattern.name != pattern:
        return []
    if step.repeat > 1 and pattern != ALLREDUCE:
        return []
    for end, (following, _, _) in enumerate(steps[i + 1 :], i + 2):
        if isinstance(following, Compute):
            return steps[i + 1 : end] if following.during is None else []
        if not _is_whole(following) or following.exchange.core.pattern.name == pattern:
            return []
    return []


def _is_whole(step: Any) -> bool:
    return isinstance(step, WholeExchange) and step.compute is None
