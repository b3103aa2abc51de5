"""Measuring the methods for one exchange: which methods there are, and the ranks that measure them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from tradewind.base.errors import InputError
from tradewind.base.names import unknown
from tradewind.launch import job
from tradewind.launch.predict import add_predictions, machine_of
from tradewind.launch.quiet import warnings_of
from tradewind.launch.samples import with_intervals
from tradewind.method.method import (
    ALL_TO_ALL,
    DEFAULT_PACKING,
    DEFAULT_TRANSPORT,
    NATIVE,
    Method,
    algorithm_names,
    combinations,
    host_problems,
    host_transports,
    native_refusal,
    packing_names,
    transport_names,
)
from tradewind.timeline.files import check as check_time_line
from tradewind.workload.exchange import Exchange, exchange_refusal

ALL = "all"
Skipped = dict[str, str | None]
"""Algorithm, transport and packing (None: all of them) that cannot be, and the reason."""


def bench(
    exchange: Exchange,
    algorithms: Sequence[str] | None = None,
    transports: Sequence[str] = (DEFAULT_TRANSPORT,),
    packings: Sequence[str] = (DEFAULT_PACKING,),
    *,
    repeat: int = 20,
    rounds: int = 1,
    warmup: int = 3,
    check: bool = True,
    timeline: str | Path | None = None,
    predict: str | Path | None = None,
    watchdog_s: float = 0.0,
    timeout_s: float | None = None,
    watch: job.Watch | None = None,
) -> dict[str, Any]:
    """Measures an exchange on real MPI ranks, once for each method: algorithm, transport and packing.

    `algorithms`: names, "all", or None for the exchange's own; "all" also of transports and packings. What does not go
    together is skipped, with the reason; InputError where nothing is left. `repeat`: samples of each; one is the
    slowest rank's time for the whole exchange. `rounds`: how often all methods are measured, each time with a part of
    their samples and with new plans: so a machine that changes meanwhile changes for all of them, and the buffers of
    each method lie at several places in memory. `check` compares what arrives with the expected result,
    bit for bit, before anything is timed. `timeline`: a file for what ranks do when in a few exchanges more of the
    fastest method (see `tradewind.timeline`). `predict`: a machine, on which each method is simulated as well
    (see `tradewind.launch.predict`). `watchdog_s`: see `tradewind.mpi.plan`. `watch` is called now and then with the
    progress: ``method``, which is measured, and ``fraction``, the part that is done. Starts the ranks, or where this
    process is one of them, is one. Seconds and bytes throughout:

    - ``results``: by method ``median_s``, ``interval_s`` (in which the median lies with 95 % confidence; None where
      samples are too few), ``min_s``, ``samples_s``, ``steps`` (the same by slab), ``bytes_per_s``, ``ratio_to_copy``,
      ``ratio_to_floor``, ``messages`` and ``bytes_sent`` of the busiest rank (None for native);
    - ``bytes``: what the exchange writes on the rank that receives the most; ``bytes_per_s`` is this over ``median_s``;
    - ``copy_bytes_per_s``: what a rank copies from memory to memory while the others do so too;
    - ``floor_s``: all memory traffic of a one-stage exchange, and no message;
    - ``warnings``: why the times should not be trusted, and what to do (see `tradewind.launch.quiet`).
    """
    exchange.require_arrays()
    check_samples(repeat, rounds, warmup)
    if timeline is not None:
        check_time_line(Path(timeline))
    file = None if predict is None else machine_of(predict)
    chosen, skipped = choose(exchange, algorithms)
    methods, refused = combine(
        exchange,
        chosen,
        transports_of(transports),
        names("packing", packings, packing_names()),
    )
    result = bench_methods(
        exchange,
        methods,
        repeat=repeat,
        rounds=rounds,
        warmup=warmup,
        check=check,
        timeline=timeline,
        watchdog_s=watchdog_s,
        timeout_s=timeout_s,
        watch=watch,
    )
    if file is not None:
        result = add_predictions(result, exchange, file)
    results = with_intervals(result["results"])
    warnings = warnings_of(result, [row["samples_s"] for row in results])
    return {
        **result,
        "results": results,
        "skipped": skipped + refused + result["skipped"],
        "warnings": warnings,
    }


def bench_methods(
    exchange: Exchange,
    methods: Sequence[Method],
    *,
    repeat: int = 20,
    rounds: int = 1,
    warmup: int = 3,
    check: bool = True,
    timeline: str | Path | None = None,
    watchdog_s: float = 0.0,
    timeout_s: float | None = None,
    watch: job.Watch | None = None,
) -> dict[str, Any]:
    """Measure as `bench` does, with methods that suit the exchange. ``skipped``: those that MPI refuses."""
    exchange.require_arrays()
    check_samples(repeat, rounds, warmup)
    payload = {
        **exchange_payload(exchange, methods),
        "sample_s": 0.0,
        "repeat": repeat,
        "rounds": rounds,
        "warmup": warmup,
        "check": check,
        "watchdog_s": watchdog_s,
        "timeline": None if timeline is None else str(timeline),
        "report": watch is not None and not job.is_rank(),
    }
    worker = "tradewind.launch.measure:measure"
    result = job.on_ranks(exchange.ranks, worker, payload, timeout_s=timeout_s, watch=watch)
    return {**result, "timeline": payload["timeline"]}


def exchange_payload(exchange: Exchange, methods: Sequence[Method]) -> dict[str, Any]:
    """Return what the ranks are sent of an exchange and its methods."""
    return {
        "exchange": asdict(exchange),
        "methods": [asdict(method) for method in methods],
        "floor_algorithm": floor_method(exchange).algorithm,
        "floor_transport": floor_method(exchange).transport,
    }


def check_samples(repeat: int, rounds: int, warmup: int) -> None:
    """Raises InputError for numbers of samples that cannot be taken."""
    if repeat < 1 or warmup < 0:
        raise InputError(f"repeat {repeat}, warmup {warmup}: at least 1 and 0 are allowed")
    if not 1 <= rounds <= repeat:
        raise InputError(f"rounds {rounds}: 1 to {repeat} are allowed, as each has a sample or more of the {repeat}")


def names(what: str, chosen: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return the names that are chosen, of "all" all that are known. Raises InputError for an unknown one."""
    if ALL in chosen:
        return list(known)
    for name in chosen:
        if name not in known:
            raise InputError(unknown(what, name, known))
    return list(dict.fromkeys(chosen))


def transports_of(chosen: Sequence[str]) -> list[str]:
    """Return the transports that are chosen, of "all" those of arrays of the host. Raises InputError for others."""
    if ALL in chosen:
        return list(host_transports())
    found = names("transport", chosen, transport_names())
    if problems := host_problems(found):
        raise InputError(*problems)
    return found


def combine(
    exchange: Exchange, algorithms: Sequence[str], transports: Sequence[str], packings: Sequence[str]
) -> tuple[list[Method], list[Skipped]]:
    """Each algorithm with each transport and packing, and what of this does not go together, with the reason.

    Raises InputError where nothing goes together.
    """
    chosen: list[Method] = []
    skipped: list[Skipped] = []
    for method in combinations(algorithms, transports, packings):
        reason = exchange_refusal(exchange, method)
        if not reason:
            chosen.append(method)
        else:
            skipped.append({**asdict(method), "reason": reason})
    if not chosen:
        raise InputError(*dict.fromkeys(str(item["reason"]) for item in skipped))
    return chosen, skipped


def choose(exchange: Exchange, algorithms: Sequence[str] | None) -> tuple[list[str], list[Skipped]]:
    """The algorithms to measure, and those of "all" that this exchange does not allow, each with the reason.

    Raises InputError for a name that was given and is not allowed.
    """
    if algorithms is None:
        assert exchange.algorithm is not None
        return [exchange.algorithm], []
    chosen: list[str] = []
    skipped: list[Skipped] = []
    patterns = [schedule.pattern for schedule in exchange.schedules().values()]
    wanted = [
        (n, ALL in algorithms) for name in algorithms for n in (algorithm_names(patterns) if name == ALL else [name])
    ]
    for name, may_skip in dict.fromkeys(wanted):
        reason = refusal(exchange, name)
        if reason is None:
            chosen.append(name)
        elif may_skip:
            skipped.append({"algorithm": name, "transport": None, "packing": None, "reason": reason})
        else:
            raise InputError(reason)
    return chosen, skipped


def refusal(exchange: Exchange, algorithm: str) -> str | None:
    """Return why an algorithm cannot do an exchange; None if it can."""
    if algorithm == NATIVE:
        refusals = (native_refusal(schedule.pattern) for schedule in exchange.schedules().values())
        return next(filter(None, refusals), None)
    try:
        replace(exchange, algorithm=algorithm)
    except InputError as error:
        return str(error)
    return None


def floor_method(exchange: Exchange) -> Method:
    """The method with the minimum of memory traffic: one stage where there is one.

    Its transport packs all messages, also those that lie in one run of memory.
    """
    assert exchange.algorithm is not None
    algorithm = exchange.floor_algorithm
    if algorithm is None:
        return Method(exchange.algorithm, DEFAULT_TRANSPORT, DEFAULT_PACKING)
    return Method(algorithm, ALL_TO_ALL, DEFAULT_PACKING)
