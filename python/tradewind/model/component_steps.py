"""The steps of a model as those of a component of a coupled model: with its name before theirs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from tradewind.base.errors import InputError
from tradewind.model.step_program import Stepping, StepProgram
from tradewind.workload.steps import Compute, Exchanged, GroupStep, Poke, WholeExchange


@dataclass(frozen=True)
class OneStep:
    """A step of a program, the part of the model that its time counts for, and whether it is a computation."""

    part: str
    computes: bool
    step: GroupStep


@dataclass(frozen=True)
class ComponentSteps:
    """Writes out the steps of a component; exchanges with one name are one exchange in all of them."""

    name: str
    groups: Sequence[str]
    """Groups of the program whose ranks take part; none: all ranks."""
    model: Stepping
    ranks: int
    exchanges: dict[str, Exchanged] = field(default_factory=dict)

    def of_window(self, steps: int, every: int | None) -> Iterator[OneStep]:
        """Yield the steps of a program of `steps` steps of the model; the last one with what is done once in `every`
        of these programs (None: all that is ever done). Raises InputError."""
        plain = last = self.model.program(self.ranks)
        if every is None or every * steps in self.model.every(self.ranks):
            last = self.model.program(self.ranks, every=None if every is None else every * steps)
        for i in range(1, steps + 1):
            yield from self._of_step(last if i == steps else plain, i)

    def _of_step(self, made: StepProgram, number: int) -> Iterator[OneStep]:
        groups = made.program.groups
        if len(groups) != 1:
            raise InputError(f"component {self.name!r}: {len(groups)} groups of ranks; a model of one is allowed")
        labels = [step.name for step in made.program.steps()]
        for part, computes, label, step in zip(made.parts, made.computes, labels, groups[0].steps, strict=True):
            yield OneStep(f"{self.name}: {part}", computes, self._own(step, f"{self.name} {number}: {label}"))

    def _own(self, step: GroupStep, label: str) -> GroupStep:
        if isinstance(step, Exchanged):
            return WholeExchange(self._exchanged(step), label)
        if isinstance(step, Poke):
            return replace(step, label=label)
        if isinstance(step, Compute):
            during = self._exchanged(step.during) if isinstance(step.during, Exchanged) else step.during
            return replace(step, name=label, during=during)
        return replace(step, label=label, exchange=self._exchanged(step.exchange))

    def _exchanged(self, exchange: Exchanged) -> Exchanged:
        def named(fields: int | Sequence[str]) -> int | Sequence[str]:
            return fields if isinstance(fields, int) else [f"{self.name} {each}" for each in fields]

        made = self.exchanges.get(exchange.name)
        if made is None:
            into = [f"{self.name} {each}" for each in exchange.into]
            made = replace(
                exchange,
                name=f"{self.name}: {exchange.name}",
                fields=named(exchange.fields),
                into=into,
                groups=self.groups,
            )
            self.exchanges[exchange.name] = made
        return made
