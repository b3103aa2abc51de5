"""Verification in one process: that exchanges are right, and that their ranks cannot deadlock."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from tradewind import _core
from tradewind.base.elements import counted_bytes
from tradewind.base.errors import InputError, VerificationError
from tradewind.base.names import unknown
from tradewind.base.result import Result
from tradewind.method.method import DEFAULT_TRANSPORT, transport_names
from tradewind.verification.order import check_fields, check_order
from tradewind.workload.program import ProgramWorkload
from tradewind.workload.workload import OneSchedule, Workload

Progress = Callable[[str, int, int], None]
"""Called with the name of a step, the number of its next stage, and its number of stages."""


POSTING = ("isend-irecv", "sendrecv", "isend-recv", "send-irecv", "even-odd")
"""Transports of point-to-point messages, each with a posting order of its own, that carry any schedule."""


def transports() -> list[str]:
    """Return the names of the transports whose posting orders can be verified."""
    return list(transport_names())


def verify(exchange: Workload, transport: str = DEFAULT_TRANSPORT, progress: Progress | None = None) -> dict[str, Any]:
    """Run the schedules of an exchange on boxes of points, and check the result.

    Every expected point of the pattern must arrive exactly once, and nothing else may be touched. In the posting order
    of `transport` the ranks must not deadlock, even if every send is synchronous.

    Returns plain values: the request, and for each step and in total `stages`, `messages`, `bytes` (of all messages),
    `largest_message_bytes` and `copied_bytes` (within ranks). An exchange that is repeated `times` times counts once.
    Raises VerificationError, with step, stage and ranks, if a check fails; InputError for an unknown transport.

    For a program whose exchanges are started and awaited see `verify_program`.
    """
    if isinstance(exchange, ProgramWorkload) and exchange.order is not None:
        return verify_program(exchange, None, progress)
    if transport not in transports():
        raise InputError(unknown("transport", transport, transports()))
    began = time.perf_counter()
    distinct = exchange.schedules()
    if not distinct:
        raise InputError("there is no exchange to verify (of a dwarf: `verify` of its own proves its program)")
    steps = [_verify_step(exchange, name, schedule, [transport], progress) for name, schedule in distinct.items()]
    verified = {
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
    return Result(exchange.as_dict() | verified)


def verify_program(
    program: ProgramWorkload, transports: Sequence[str] | None = None, progress: Progress | None = None
) -> dict[str, Any]:
    """Prove a whole program: each exchange, and that no ranks wait for each other across exchanges and groups.

    Every exchange is proved as by `verify`, those of one schedule together, in the posting order of its transport and
    in each of `transports` (None: the five of point-to-point messages); for each of them, of all exchanges at once, no
    group may deadlock, even where every send is synchronous. No exchange that is open
    may write a field that another one touches.

    Returns as `verify`, with a row for each exchange in place of steps, ``times`` in it, ``orders`` (the posting orders
    proved; "own": each exchange by its own transport), and in all the ``stages``, ``messages`` and ``bytes`` of the
    program, what is repeated counted as often. Raises as `verify`.
    """
    assert program.order is not None
    began = time.perf_counter()
    wanted = list(POSTING if transports is None else transports)
    for name in wanted:
        if name not in POSTING:
            raise InputError(unknown("posting order", name, POSTING))
    check_fields(program)
    rows = []
    proved: dict[tuple[object, ...], dict[str, Any]] = {}
    for exchange in program.exchanges:
        single = OneSchedule(exchange.core, exchange.count, exchange.dtype)
        orders = dict.fromkeys((exchange.transport, *wanted))
        key = (id(exchange.core), *orders, exchange.count, exchange.dtype)
        if key not in proved:
            proved[key] = _verify_step(single, exchange.name, exchange.core, list(orders), progress)
        row = {**proved[key], "name": exchange.name}
        rows.append(row | {"transport": exchange.transport, "times": program.times(exchange)})
    check_order(program, wanted)
    verified = {
        "ok": True,
        "deadlock_free": True,
        "orders": ["own", *wanted],
        "open_at_once": program.order.lines,
        "groups": [{"name": group.name, "ranks": group.ranks, "steps": len(group.steps)} for group in program.groups],
        "exchanges": rows,
        "stages": program.stages,
        "messages": sum(row["messages"] * row["times"] for row in rows),
        "bytes": sum(row["bytes"] * row["times"] for row in rows),
        "wall_s": time.perf_counter() - began,
    }
    return Result(program.as_dict() | verified)


def _verify_step(
    exchange: Workload, name: str, schedule: _core.Schedule, transports: list[str], progress: Progress | None
) -> dict[str, Any]:
    began = time.perf_counter()
    stages = schedule.stages

    def report(stage: int) -> None:
        if progress is not None:
            progress(name, stage, stages)

    points = exchange.bytes_per_point
    _core.check_bytes(schedule.pattern, points)
    try:
        verified = _core.verify(schedule, transports, report if progress is not None else None)
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
