"""Measuring the ways to do one exchange: which combinations there are, and the ranks that measure them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from tradewind import _core
from tradewind.errors import InputError
from tradewind.exchange import Exchange, unknown
from tradewind.launch import job
from tradewind.trace.files import check as check_time_line

NATIVE = "native"
TRANSPORTS = ("isend-irecv",)
PACKINGS = ("buffer",)
ALL = "all"


def bench(
    exchange: Exchange,
    algorithms: Sequence[str] | None = None,
    transports: Sequence[str] = TRANSPORTS,
    packings: Sequence[str] = PACKINGS,
    *,
    repeat: int = 20,
    warmup: int = 3,
    check: bool = True,
    timeline: str | Path | None = None,
    timeout_s: float | None = None,
) -> dict[str, Any]:
    """Measures an exchange on real MPI ranks, once for each combination of algorithm, transport and packing.

    `algorithms`: names, "all", or None for the exchange's own. `repeat`: samples of each; one is the slowest rank's
    time for the whole exchange. `check` compares what arrives with the reference answer, bit for bit, before
    anything is timed. `timeline`: a file for what ranks do when in a few exchanges more of the fastest combination (see
    `tradewind.trace`). Starts the ranks, or where this process is one of them, is one. Seconds and bytes throughout:

    - ``results``: by combination ``median_s``, ``min_s``, ``samples_s``, ``steps`` (the same by slab), ``bytes_per_s``,
      ``ratio_to_copy``, ``ratio_to_floor``, ``messages`` and ``bytes_sent`` of the busiest rank (None for native);
    - ``bytes``: what the exchange writes on the rank that receives most; ``bytes_per_s`` is this over ``median_s``;
    - ``copy_bytes_per_s``: what a rank copies from memory to memory while the others do so too;
    - ``floor_s``: all memory traffic of a one-stage exchange, and no message.
    """
    if repeat < 1 or warmup < 0:
        raise InputError(f"repeat {repeat}, warmup {warmup}: at least 1 and 0 are allowed")
    if timeline is not None:
        check_time_line(Path(timeline))
    chosen, skipped = choose(exchange, algorithms)
    payload = {
        "exchange": asdict(exchange),
        "algorithms": chosen,
        "transports": _names("transport", transports, TRANSPORTS),
        "packings": _names("packing", packings, PACKINGS),
        "floor_algorithm": floor_algorithm(exchange),
        "repeat": repeat,
        "warmup": warmup,
        "check": check,
        "timeline": None if timeline is None else str(timeline),
    }
    worker = "tradewind.launch.measure:measure"
    answer = job.run(exchange.ranks, worker, payload, timeout_s=timeout_s) if not job.is_rank() else _as_rank(payload)
    return {**answer, "skipped": skipped, "timeline": payload["timeline"]}


def _as_rank(payload: dict[str, Any]) -> Any:
    from tradewind.launch.measure import measure
    from tradewind.mpi import MPI

    return measure(MPI.COMM_WORLD, payload)


def _names(what: str, names: Sequence[str], known: Sequence[str]) -> list[str]:
    if ALL in names:
        return list(known)
    for name in names:
        if name not in known:
            raise InputError(unknown(what, name, known))
    return list(dict.fromkeys(names))


def choose(exchange: Exchange, names: Sequence[str] | None) -> tuple[list[str], list[dict[str, str]]]:
    """The algorithms to measure, and those of "all" that this exchange does not allow, each with the reason.

    Raises InputError for a name that was given and is not allowed.
    """
    if names is None:
        assert exchange.algorithm is not None
        return [exchange.algorithm], []
    chosen: list[str] = []
    skipped: list[dict[str, str]] = []
    wanted = [(n, ALL in names) for name in names for n in (_candidates(exchange) if name == ALL else [name])]
    for name, may_skip in dict.fromkeys(wanted):
        reason = refusal(exchange, name)
        if reason is None:
            chosen.append(name)
        elif may_skip:
            skipped.append({"algorithm": name, "reason": reason})
        else:
            raise InputError(reason)
    return chosen, skipped


def refusal(exchange: Exchange, algorithm: str) -> str | None:
    """Why an exchange cannot be done by an algorithm; None where it can."""
    if algorithm == NATIVE:
        patterns = [step.schedule.pattern for step in exchange.steps()]
        if all(p.name == "allreduce" or (isinstance(p, _core.Transpose) and p.complete) for p in patterns):
            return None
        return f"algorithm 'native': MPI has one for transpose and allreduce, none for {exchange.pattern}"
    try:
        replace(exchange, algorithm=algorithm)
    except InputError as error:
        return str(error)
    return None


def _candidates(exchange: Exchange) -> Iterable[str]:
    """Every algorithm of a pattern: of those with a radix its powers of two and the largest."""
    patterns = [step.schedule.pattern for step in exchange.steps()]
    for entry in _core.algorithms():
        if entry.pattern != exchange.pattern:
            continue
        if not entry.has_radix:
            yield entry.name
            continue
        ranges = [entry.radices(pattern) for pattern in patterns]
        least, most = max(r[0] for r in ranges), min(r[1] for r in ranges)
        most = min(most, max(least, exchange.ranks))  # one rank allows any radix
        radices = {least, most, *(2**i for i in range(1, 31) if least < 2**i < most)}
        for radix in sorted(radices):
            yield entry.name.replace("-k", f"-{radix}")
    yield NATIVE


def floor_algorithm(exchange: Exchange) -> str:
    """The algorithm of which all memory traffic is the least that an exchange needs: one stage where there is one."""
    names = {"transpose": "burst", "halo": "direct"}
    assert exchange.algorithm is not None
    return names.get(exchange.pattern, exchange.algorithm)
