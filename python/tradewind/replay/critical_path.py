"""The critical path of a replay: what its time is made of, by rank and call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind import _core
from tradewind.replay.row import COMPUTING

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHOWN = 20
"""Ranks and calls that a result names."""
COLUMNS = ("rank", "call", "label", "is_message", "begin_ps", "end_ps", "peer")
"""Columns of a path: see ``_core.critical_path``."""


def path_of(result: _core.SimulationResult) -> dict[str, NDArray[np.int64]]:
    """Return the pieces of the path in order of time, as columns; each begins where the one before it ends."""
    return dict(zip(COLUMNS, _core.critical_path(result).T, strict=True))


def critical_path(labels: Sequence[str], result: _core.SimulationResult) -> dict[str, Any]:
    """Return what is on the path, back from the end of the last rank, from 0 to the time of the replay.

    `labels`: those of the calls, see ``_core.Calls.labels``.

    - ``computing_s``, ``calls_s`` (in MPI functions), ``messages_s`` (on their way), which add up to the time;
    - ``ranks``: how many ranks it visits;
    - ``parts``: what takes longest: ``rank``, ``call`` (the function, or computing), ``time_s`` of the rank in it,
      ``messages_s`` that messages which this call sends are on their way, and ``pieces``, how often the path has it;
    - ``other_s``: all parts that are not named.
    """
    path = path_of(result)
    seconds = (path["end_ps"] - path["begin_ps"]) * 1e-12
    message, computes = path["is_message"] == 1, path["label"] == COMPUTING
    keys, of_key = np.unique(path["rank"] * len(labels) + path["label"], return_inverse=True)
    own, sent = (np.bincount(of_key, np.where(which, seconds, 0.0), len(keys)) for which in (~message, message))
    pieces = np.bincount(of_key, minlength=len(keys))
    order = np.argsort(-(own + sent), kind="stable")
    named, others = order[:SHOWN], order[SHOWN:]
    return {
        "computing_s": float(seconds[computes].sum()),
        "calls_s": float(seconds[~computes & ~message].sum()),
        "messages_s": float(seconds[message].sum()),
        "ranks": len(np.unique(path["rank"])),
        "parts": [
            {
                "rank": int(keys[i] // len(labels)),
                "call": labels[int(keys[i] % len(labels))],
                "time_s": float(own[i]),
                "messages_s": float(sent[i]),
                "pieces": int(pieces[i]),
            }
            for i in named
        ],
        "other_s": float((own + sent)[others].sum()),
    }
