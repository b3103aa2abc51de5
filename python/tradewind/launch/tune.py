"""Finding the fastest method for an exchange on the ranks of this machine, and keeping it in a tuning file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from tradewind.base.errors import InputError
from tradewind.base.names import unknown
from tradewind.launch import job
from tradewind.launch.quiet import warnings_of
from tradewind.method.memories import MEMORIES
from tradewind.workload.exchange import Exchange

Watch = job.Watch


def tune(
    exchange: Exchange,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    memories: Sequence[str] = MEMORIES,
    warmup: int = 3,
    trials: int = 20,
    give_up: float = 3.0,
    check: bool = True,
    timeout_s: float | None = None,
    watch: Watch | None = None,
) -> dict[str, Any]:
    """Tries the methods for each schedule of an exchange on MPI ranks; see `tradewind.launch.trials`.

    Once for each of `memories`: "private" arrays, and "shared" ones as `tradewind.empty` gives. Raises InputError
    for another one. The exchange's own algorithm does not matter; its repetitions are those of one sample. `check`
    compares the result with the reference before a method is measured. Starts the ranks, or is one of them if this
    process runs under MPI. `watch` is called now and then with the progress: ``tried``, ``methods`` and ``method``, the
    one that is tried.
    """
    exchange.require_arrays()
    if problems := [unknown("memory", memory, MEMORIES) for memory in memories if memory not in MEMORIES]:
        raise InputError(*problems)
    terms = {"include": include, "exclude": exclude, "warmup": warmup, "trials": trials, "give_up": give_up}
    payload = {"exchange": asdict(exchange), "terms": terms, "memories": list(memories), "check": check}
    payload["report"] = not job.is_rank()
    worker = "tradewind.launch.trials:tune_exchange"
    result: dict[str, Any] = job.on_ranks(exchange.ranks, worker, payload, timeout_s=timeout_s, watch=watch)
    samples = [row["samples_s"] for table in result["tuned"] for row in table["results"]]
    return {**result, "warnings": warnings_of(result, samples, "--trials 100")}
