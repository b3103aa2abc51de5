"""Posting order of simulated exchanges: all messages of a stage together, in one order or another, or one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.workload.program import ProgramWorkload
from tradewind.workload.steps import Compute, Exchanged, Poke, Start, Wait, WholeExchange, schedule_of
from tradewind.workload.workload import Step, Workload

BLOCKING = "sendrecv"
"""The transport that posts one exchange after another."""
_ORDERS: dict[str, Callable[[_core.Schedule], _core.Schedule]] = {
    BLOCKING: _core.one_by_one,
    "ascending": _core.ascending,
}
"""Functions that make the schedule of a posting order, of any exchange."""


def posted(workload: Workload, posting: str) -> Workload:
    """Return a workload as it is simulated in a posting order. Raises InputError.

    Exchanges in the order of sendrecv have a stage for each pair of a send and a receive, so they are simulated, and
    neither run nor verified. With ``"ascending"`` all ranks send to the first rank of a stage first. With
    ``"transport"`` those of a program that are carried by another transport than sendrecv are posted together.
    """
    if posting == "together":
        return workload
    if isinstance(workload, ProgramWorkload):
        order = _Order(_ORDERS.get(posting, _core.one_by_one), every=posting in _ORDERS)
        return workload.with_steps(lambda step, _: order.step(step))
    if posting == "transport":
        allowed = f"together, {' and '.join(_ORDERS)} are allowed"
        raise InputError(f"posting transport: of a program, whose exchanges name it; {allowed}")
    return _Posted(workload, [_plain(step, _ORDERS[posting]) for step in workload.steps()])


@dataclass(frozen=True)
class _Posted(Workload):
    """An exchange in another posting order."""

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


def _plain(step: Step, made: Callable[[_core.Schedule], _core.Schedule]) -> Step:
    return step if step.schedule is None else replace(step, schedule=made(step.schedule))


class _Order:
    """Puts the steps of a program in that order: every exchange, or those alone whose transport has it."""

    def __init__(self, made: Callable[[_core.Schedule], _core.Schedule], every: bool) -> None:
        self.made, self.every = made, every
        self._known: dict[int, tuple[Exchanged, Exchanged]] = {}

    def step(self, step: Any) -> Any:
        if isinstance(step, Exchanged):
            return self._exchanged(step)
        if isinstance(step, Compute):
            return step if step.during is None else replace(step, during=self.step(step.during))
        if isinstance(step, WholeExchange):
            compute = None if step.compute is None else self.step(step.compute)
            return replace(step, exchange=self._exchanged(step.exchange), compute=compute)
        if isinstance(step, Start | Wait):
            return replace(step, exchange=self._exchanged(step.exchange))
        if isinstance(step, Step):
            return _plain(step, self.made) if self.every else step
        if isinstance(step, Poke):
            return step
        return self.made(schedule_of(step)) if self.every else step

    def _exchanged(self, exchange: Exchanged) -> Exchanged:
        """Steps of one exchange have one in common, which is remembered with the one that it was made of."""
        if not self.every and exchange.transport != BLOCKING:
            return exchange
        if id(exchange) not in self._known:
            transport = BLOCKING if self.made is _core.one_by_one else exchange.transport
            made = replace(exchange, schedule=self.made(exchange.core), transport=transport)
            self._known[id(exchange)] = (exchange, made)
        return self._known[id(exchange)][1]
