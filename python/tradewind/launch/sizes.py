"""Measuring one exchange with messages of many sizes, as the OSU benchmarks do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tradewind.base.errors import InputError, gathered
from tradewind.base.units import byte_count
from tradewind.launch import job
from tradewind.launch.benchmark import check_samples, choose, combine, exchange_payload, names, transports_of
from tradewind.launch.quiet import warnings_of
from tradewind.launch.samples import with_intervals
from tradewind.method.method import DEFAULT_PACKING, DEFAULT_TRANSPORT, packing_names
from tradewind.workload.exchange import Exchange
from tradewind.workload.registry import pattern_named

SAMPLE_S = 1e-4
"""Seconds of a sample at least: of short messages it is of several exchanges in a row."""
MAX_BYTES = 2**31
MAX_SIZES = 100
_ALLOWED = "FIRST:LAST, doubled each time, or a comma list is allowed, like 8:64MiB or 8,1KiB,64KiB"


def parse_sizes(text: str) -> list[int]:
    """Return the sizes of ``8:64MiB`` (8, 16, 32 ... bytes) or ``8,1KiB,64KiB``. Raises InputError."""
    first, colon, last = text.partition(":")
    if not colon:
        sizes = [_size(text, each) for each in text.split(",")]
    else:
        low, high = _size(text, first), _size(text, last)
        if low > high:
            raise InputError(f"sizes {text!r}: the first is larger than the last; {_ALLOWED}")
        sizes = [low << doubled for doubled in range((high // low).bit_length())]
    if len(sizes) > MAX_SIZES:
        raise InputError(f"sizes {text!r}: {len(sizes)} sizes; at most {MAX_SIZES} are allowed")
    return list(dict.fromkeys(sizes))


def _size(text: str, part: str) -> int:
    """Return the bytes of a size; of a number alone, as the OSU benchmarks print them."""
    try:
        size = int(part) if part.strip().isdecimal() else byte_count(part)
    except InputError as error:
        raise InputError(f"sizes {text!r}: {error}; {_ALLOWED}") from None
    if not 1 <= size <= MAX_BYTES:
        raise InputError(f"sizes {text!r}: {size} bytes; 1 to {MAX_BYTES} are allowed")
    return size


def bench_sizes(
    pattern: str,
    ranks: int,
    sizes: Sequence[int],
    algorithms: Sequence[str] | None = None,
    transports: Sequence[str] = (DEFAULT_TRANSPORT,),
    packings: Sequence[str] = (DEFAULT_PACKING,),
    *,
    repeat: int = 20,
    rounds: int = 1,
    warmup: int = 3,
    check: bool = True,
    watchdog_s: float = 0.0,
    timeout_s: float | None = None,
    watch: job.Watch | None = None,
    options: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Measure an exchange of a pattern with messages of each of `sizes` bytes, by all methods, in one job.

    As `tradewind.launch.bench`, but for grid and split, which follow from the size (`Exchange.sized`). `options`: of
    the pattern. A sample is of as many exchanges in a row as take 0.1 ms, and the time that of one. Returns ``sizes``:
    for each of them ``message_bytes`` and what `bench` returns; and beside it what they share. Raises InputError.
    """
    check_samples(repeat, rounds, warmup)
    chosen = transports_of(transports), names("packing", packings, packing_names())
    problems: list[str] = []
    payloads, skipped = [], []
    for size in sizes:
        with gathered(problems):
            exchange = _exchange(pattern, ranks, size, options or {})
            exchange.require_arrays()
            found, without = choose(exchange, algorithms)
            methods, refused = combine(exchange, found, *chosen)
            payloads.append({"message_bytes": size, **exchange_payload(exchange, methods)})
            skipped.append(without + refused)
    if problems:
        raise InputError(*dict.fromkeys(problems))
    payload = {"sizes": payloads, "sample_s": SAMPLE_S, "repeat": repeat, "rounds": rounds, "warmup": warmup}
    payload |= {"check": check, "watchdog_s": watchdog_s, "timeline": None}
    payload["report"] = watch is not None and not job.is_rank()
    result = job.on_ranks(ranks, "tradewind.launch.measure:measure_sizes", payload, timeout_s=timeout_s, watch=watch)
    measured = [
        {**each, "results": with_intervals(each["results"]), "skipped": without + each["skipped"]}
        for each, without in zip(result["sizes"], skipped, strict=True)
    ]
    samples = [row["samples_s"] for each in measured for row in each["results"]]
    return {"pattern": pattern, **result, "sizes": measured, "warnings": warnings_of(result, samples)}


def _exchange(pattern: str, ranks: int, size: int, options: Mapping[str, Any]) -> Exchange:
    sized = pattern_named(pattern).sized(size, ranks, options)
    return Exchange(pattern, ranks, **{**options, **sized})
