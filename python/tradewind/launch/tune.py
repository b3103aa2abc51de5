"""Finding the fastest way to carry out an exchange on the ranks of this machine, and keeping it in a tuning file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from tradewind.exchange import Exchange
from tradewind.launch import job

Watch = job.Watch


def tune(
    exchange: Exchange,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    warmup: int = 3,
    trials: int = 20,
    give_up: float = 3.0,
    check: bool = True,
    timeout_s: float | None = None,
    watch: Watch | None = None,
) -> dict[str, Any]:
    """Tries the ways to carry out each schedule of an exchange on MPI ranks; see `tradewind.launch.trials`.

    The exchange's own algorithm does not matter; its repetitions are those of one sample. `check` compares what arrives
    with the reference answer before a way is measured. Starts the ranks, or where this process is one of them, is one.
    `watch` is told now and then how far they are: ``tried``, ``ways`` and the ``way`` that is tried.
    """
    exchange.require_arrays()
    terms = {"include": include, "exclude": exclude, "warmup": warmup, "trials": trials, "give_up": give_up}
    payload = {"exchange": asdict(exchange), "terms": terms, "check": check, "tell": not job.is_rank()}
    worker = "tradewind.launch.trials:tune_exchange"
    answer: dict[str, Any] = job.on_ranks(exchange.ranks, worker, payload, timeout_s=timeout_s, watch=watch)
    return answer
