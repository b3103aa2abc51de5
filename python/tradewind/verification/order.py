"""Proofs about a program as a whole, beside those of each of its exchanges."""

from __future__ import annotations

from collections.abc import Sequence

from tradewind import _core
from tradewind.base.errors import VerificationError
from tradewind.workload.program import Exchanged, ProgramWorkload, Start, Wait, WholeExchange


def check_order(program: ProgramWorkload, transports: Sequence[str]) -> None:
    """Raises VerificationError where ranks may wait for each other, by exchanges' own transports or by one of these."""
    assert program.order is not None
    own = [exchange.transport for exchange in program.exchanges]
    orders = [("each exchange by its own transport", own)]
    orders += [(f"all exchanges by {name}", [name] * len(own)) for name in transports]
    for text, names in orders:
        try:
            _core.verify_order(program.order, names)
        except VerificationError as error:
            raise VerificationError(f"{program.name}, {text}: {error}") from None


def check_fields(program: ProgramWorkload) -> None:
    """Raises VerificationError where an exchange that is open writes a field that another one touches."""
    for group in program.groups:
        opened: list[Exchanged] = []
        for step in group.steps:
            if isinstance(step, Exchanged):
                _check_beside(step, opened)
            elif isinstance(step, WholeExchange | Start):
                _check_beside(step.exchange, opened)
                if isinstance(step, Start):
                    opened.append(step.exchange)
            elif isinstance(step, Wait):
                opened.remove(step.exchange)


def _check_beside(exchange: Exchanged, opened: Sequence[Exchanged]) -> None:
    for other in opened:
        both = (exchange.written & other.touched) | (other.written & exchange.touched)
        if both:
            writer, toucher = (other, exchange) if other.written & exchange.touched else (exchange, other)
            raise VerificationError(
                f"field {sorted(both)[0]!r}: exchange {writer.name!r} writes it and {toucher.name!r} touches it "
                f"while both are open: wait for {other.name!r} before {exchange.name!r} is started"
            )
