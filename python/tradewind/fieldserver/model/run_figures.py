"""Figures of a whole run, on the first rank of the model."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from tradewind.fieldserver.model.opening import Opened
from tradewind.fieldserver.server.messages import from_json


def run_figures(
    opened: Opened, servers: int, total_s: float, waits: tuple[float, float, float, float]
) -> dict[str, Any]:
    """Return the figures of all ranks and servers, on the first rank, nothing on the others. Collective.

    `waits`: seconds of this rank in its time loop, blocked there, blocked at all, and in `close`.
    """
    assert opened.comm is not None
    assert opened.side is not None
    seconds = opened.comm.gather(waits)
    writers = opened.comm.gather([asdict(each.writer.figures) for each in opened.writers])
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
        "dropped_fields": opened.side.dropped,
        "taken_over": [
            {"server": number, "reason": reason, "by": f"server {by}" if by_server else f"rank {by} of the model"}
            for number, reason, by_server, by in opened.side.lost
        ],
        "writers": [*map(from_json, opened.side.server_figures), *(each for some in writers for each in some)],
    }
