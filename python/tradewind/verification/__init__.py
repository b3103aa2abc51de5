"""Verifies exchanges in this process: is the answer right, and can the ranks wait for each other for ever?"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from tradewind import _core
from tradewind.base.elements import counted_bytes
from tradewind.base.errors import InputError, VerificationError
from tradewind.base.names import unknown
from tradewind.method.method import DEFAULT_TRANSPORT, transport_names
from tradewind.workload.workload import Workload

Progress = Callable[[str, int, int], None]
"""Called with the name of a step, the number of its stage that comes next and how many stages it has."""


def transports() -> list[str]:
    """The names of the transports whose posting orders can be verified."""
    return list(transport_names())


def verify(exchange: Workload, transport: str = DEFAULT_TRANSPORT, progress: Progress | None = None) -> dict[str, Any]:
    """Runs the schedules of an exchange on boxes of points and checks what they do.

    Every point of the pattern's answer must arrive exactly once and nothing else may be touched; and with the posting
    order of `transport` no ranks may wait for each other, even where every send is synchronous.

    Returns plain values: the request, and for each step and in all `stages`, `messages`, `bytes` (of all messages),
    `largest_message_bytes` and `copied_bytes` (within ranks). What is repeated `times` times is counted once.
    Raises VerificationError, with step, stage and ranks, where a check fails; InputError for an unknown transport.
    """
    if transport not in transports():
        raise InputError(unknown("transport", transport, transports()))
    began = time.perf_counter()
    distinct = exchange.schedules()
    steps = [_verify_step(exchange, name, schedule, transport, progress) for name, schedule in distinct.items()]
    return exchange.as_dict() | {
        "transport": transport,
        "ok": True,
        "deadlock_free": True,
        "steps": steps,
        "stages": sum(step["stages"] for step in steps),
        "messages": sum(step["messages"] for step in steps),
        "bytes": sum(step["bytes"] for step in steps),
        "largest_message_bytes": max(step["largest_message_bytes"] for step in steps),
        "copied_bytes": sum(step["copied_bytes"] for step in steps),
        "wall_s": time.perf_counter() - began,
    }


def _verify_step(
    exchange: Workload, name: str, schedule: _core.Schedule, transport: str, progress: Progress | None
) -> dict[str, Any]:
    began = time.perf_counter()
    stages = schedule.stages

    def report(stage: int) -> None:
        if progress is not None:
            progress(name, stage, stages)

    points = exchange.bytes_per_point
    _core.check_bytes(schedule.pattern, points)
    try:
        verified = _core.verify(schedule, transport, report if progress is not None else None)
    except VerificationError as error:
        raise VerificationError(f"{name}: {error}") from None

    def size(of: str, count: int) -> int:
        return counted_bytes(f"{name}: {of}", count, points)

    return {
        "name": name,
        "pattern": schedule.pattern.describe(),
        "stages": verified.stages,
        "messages": verified.messages,
        "bytes": size("all messages", verified.points),
        "largest_message_bytes": size("the largest message", verified.largest),
        "copied_bytes": size("all copies", verified.copied),
        "wall_s": time.perf_counter() - began,
    }
