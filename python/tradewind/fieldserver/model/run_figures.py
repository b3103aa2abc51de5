"""Figures of a whole run, on the first rank of the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from tradewind.fieldserver.model.model_side import ModelSide


def run_figures(
    side: ModelSide,
    answers: Sequence[dict[str, Any]],
    servers: int,
    total_s: float,
    waits: tuple[float, float, float, float],
) -> dict[str, Any]:
    """Return the figures of all ranks and servers, on the first rank, nothing on the others. Collective.

    `answers`: figures of the servers. `waits`: seconds of this rank in its
    time loop, blocked there, blocked at all, and in `close`.
    """
    seconds = side.comm.gather(waits)
    writers = side.comm.gather([asdict(writer.figures) for _, writer in side.writers])
    if seconds is None or writers is None:
        return {}
    loop_s, blocked_in_loop_s, blocked_s, close_s = (max(each) for each in zip(*seconds, strict=True))
    return {
        "servers": servers,
        "total_s": total_s,
        "loop_s": loop_s,
        "blocked_s": blocked_s,
        "blocked_in_loop_s": blocked_in_loop_s,
        "blocked_share": blocked_in_loop_s / loop_s if loop_s else 0.0,
        "close_s": close_s,
        "dropped_fields": side.dropped,
        "taken_over": [each.as_dict() for each in side.lost],
        "writers": [*answers, *(each for some in writers for each in some)],
    }
