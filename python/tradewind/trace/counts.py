"""Calls, bytes and time of a trace by MPI function."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from tradewind.trace.calls import CALLS, Form, Kind
from tradewind.trace.model import RankEvents, Trace

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray


def counts(trace: Trace) -> pd.DataFrame:
    """Return a table with a row per rank and MPI function: calls, bytes, received bytes, seconds in it.

    `recorded` is False for functions that are only counted. The bytes of a receive that another call ends, such as
    MPI_Wait, stand in the row of that call.
    """
    import pandas as pd

    rows = []
    for rank in trace.ranks:
        totals: dict[str, NDArray[np.float64]] = defaultdict(lambda: np.zeros(4))
        for part in trace.parts(rank):
            calls = part.operations["call"]
            times = np.bincount(part.order, part.end_ns - part.begin_ns, minlength=len(calls))
            repeats = np.bincount(part.order, minlength=len(calls))
            sent, received = part.operations["bytes"], _received_bytes(part)
            for call in np.unique(calls):
                of = calls == call
                values = repeats[of].sum(), repeats[of] @ sent[of], repeats[of] @ received[of], times[of].sum()
                totals[CALLS[call].name] += values
        for name, (count, sent, received, time) in totals.items():
            rows.append((rank, name, int(count), int(sent), int(received), time / 1e9, True))
        for name, (count, seconds) in trace.infos[rank].counted.items():
            rows.append((rank, name, count, 0, 0, seconds, False))
    return pd.DataFrame(rows, columns=["rank", "call", "calls", "bytes", "received", "seconds", "recorded"])


_ENDS = np.array([call.kind in (Kind.WAIT, Kind.TEST) for call in CALLS])
_RECEIVES_LATER = np.array(
    [call.kind in (Kind.RECEIVE, Kind.SENDRECV) and call.form is not Form.BLOCKING for call in CALLS]
)


def _received_bytes(part: RankEvents) -> NDArray[np.int64]:
    """Return, for each operation, the bytes that the rank has when it returns: those of receives that ended in it."""
    calls = part.operations["call"]
    sums = np.concatenate([[0], np.cumsum(part.ended["bytes"])])
    begin, end = part.operations["ended"].T
    at_once = np.where(_RECEIVES_LATER[calls], 0, part.operations["received"])
    return np.asarray(at_once + np.where(_ENDS[calls], sums[end] - sums[begin], 0), np.int64)
