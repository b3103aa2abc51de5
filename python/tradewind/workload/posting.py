"""Posting order of simulated exchanges: all messages of a stage together, or one exchange after another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.workload.program import Program
from tradewind.workload.steps import Compute, Exchanged, Poke, Start, Wait, Whole, schedule_of
from tradewind.workload.workload import Step, Workload

BLOCKING = "sendrecv"
"""The transport that posts one exchange after another."""


def posted(workload: Workload, posting: str) -> Workload:
    """Return a workload as it is simulated in a posting order. Raises InputError.

    Exchanges in the order of sendrecv have a stage for each pair of a send and a receive, so they are simulated, and
    neither run nor verified. With ``"transport"`` those of a program that are carried by another transport than
    sendrecv are posted together.
    """
    if posting == "together":
        return workload
    if isinstance(workload, Program):
        order = _Order(every=posting == "sendrecv")
        return workload.with_steps(lambda step, _: order.step(step))
    if posting == "transport":
        raise InputError("posting transport: of a program, whose exchanges name it; together and sendrecv are allowed")
    return _OneByOne(workload, [_plain(step) for step in workload.steps()])


@dataclass(frozen=True)
class _OneByOne(Workload):
    """An exchange in the posting order of sendrecv."""

    exchange: Workload
    posted: list[Step]

    @property
    def ranks(self) -> int:  # type: ignore[override]  # of the exchange
        return self.exchange.ranks

    @property
    def bytes_per_point(self) -> int:
        return self.exchange.bytes_per_point

    def steps(self) -> list[Step]:
        return self.posted


def _plain(step: Step) -> Step:
    return step if step.schedule is None else replace(step, schedule=_core.one_by_one(step.schedule))


class _Order:
    """Puts the steps of a program in that order: every exchange, or those alone whose transport has it."""

    def __init__(self, every: bool) -> None:
        self.every = every
        self._known: dict[int, tuple[Exchanged, Exchanged]] = {}

    def step(self, step: Any) -> Any:
        if isinstance(step, Exchanged):
            return self._exchanged(step)
        if isinstance(step, Compute):
            return step if step.during is None else replace(step, during=self.step(step.during))
        if isinstance(step, Whole):
            compute = None if step.compute is None else self.step(step.compute)
            return replace(step, exchange=self._exchanged(step.exchange), compute=compute)
        if isinstance(step, Start | Wait):
            return replace(step, exchange=self._exchanged(step.exchange))
        if isinstance(step, Step):
            return _plain(step) if self.every else step
        if isinstance(step, Poke):
            return step
        return _core.one_by_one(schedule_of(step)) if self.every else step

    def _exchanged(self, exchange: Exchanged) -> Exchanged:
        """Steps of one exchange have one in common, which is remembered with the one that it was made of."""
        if not self.every and exchange.transport != BLOCKING:
            return exchange
        if id(exchange) not in self._known:
            made = replace(exchange, schedule=_core.one_by_one(exchange.core), transport=BLOCKING)
            self._known[id(exchange)] = (exchange, made)
        return self._known[id(exchange)][1]
