"""Long traces replayed here and by SimGrid: ``python -m validation.simgrid.trace_speed [--calls 10000000] [--json]``.

The traces are made up, not recorded. In a step 64 ranks compute for a time that is drawn; in a *halo* they exchange
8 KiB with four neighbors, and sum up 8 bytes; in a *transposition* each sends 4 KiB to each other one, all at once, as
spectral models do. SimGrid gets them as time-independent traces, on hosts that one switch joins, with the same
bandwidth and latency. Times are of one core; those of SimGrid have reading the trace in them, ours are given without
and with reading it: as a trace of Tradewind, and as the same text. ``--steps halo`` does one of the two alone.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from tradewind.base.errors import TradewindError
from tradewind.replay.export import export_trace
from tradewind.replay.workload import TraceWorkload
from tradewind.simulation import prepare
from tradewind.trace.builder import RankBuilder, in_memory
from tradewind.trace.forms import Form
from tradewind.trace.model import NONE, Communicator, RankEvents, RankInfo, Trace
from tradewind.trace.read import open_trace
from tradewind.trace.write import save_trace
from validation.machines import CROSSBAR, machine
from validation.simgrid.trace_replay import replay_trace
from validation.table import parser, print_rows

SIDE = 8
"""Ranks in each of two directions."""
RANKS = SIDE * SIDE
CALLS = 10_000_000
HALO_BYTES = 8192
BLOCK_BYTES = 4096
COMPUTING_NS = 200_000


def halo(rank: int) -> RankBuilder:
    """Return the calls of a step with four neighbors."""
    y, x = divmod(rank, SIDE)
    neighbors = [y * SIDE + (x + 1) % SIDE, y * SIDE + (x - 1) % SIDE]
    neighbors += [(y + 1) % SIDE * SIDE + x, (y - 1) % SIDE * SIDE + x]
    return _exchange(rank, neighbors, HALO_BYTES).call("MPI_Allreduce", bytes=8, received=8)


def transposition(rank: int) -> RankBuilder:
    """Return the calls of a step with all other ranks."""
    return _exchange(rank, [(rank + away) % RANKS for away in range(1, RANKS)], BLOCK_BYTES)


def _exchange(rank: int, others: list[int], size: int) -> RankBuilder:
    builder = RankBuilder(rank).call("MPI_Init")
    for slot, other in enumerate(others):
        builder.call("MPI_Irecv", source=other, source_tag=0, received=size, request=slot)
    for slot, other in enumerate(others, start=len(others)):
        builder.call("MPI_Isend", peer=other, tag=0, bytes=size, request=slot)
    ended = [(slot, other, 0, size) for slot, other in enumerate(others)]
    ended += [(slot, NONE, NONE, 0) for slot in range(len(others), 2 * len(others))]
    return builder.call("MPI_Waitall", asked=range(2 * len(others)), ended=ended)


STEPS: dict[str, Callable[[int], RankBuilder]] = {"halo": halo, "transposition": transposition}


def long_trace(name: str, calls: int) -> Trace:
    """Return a trace of as many steps as have a number of calls."""
    random = np.random.default_rng(2026)
    events = {rank: _repeated(STEPS[name](rank).events(), calls // RANKS, random) for rank in range(RANKS)}
    infos = {rank: RankInfo(events=len(each)) for rank, each in events.items()}
    return in_memory(RANKS, infos, [Communicator(np.arange(RANKS, dtype=np.int32))], events)


def _repeated(one: RankEvents, calls: int, random: np.random.Generator) -> RankEvents:
    """Return a step again and again, with computing in front of each; the first call is none of it."""
    first, *step = one.order.tolist()
    steps = max(1, calls // len(step))
    order = np.concatenate([[first], np.tile(step, steps)]).astype(np.int32)
    gaps = np.zeros(len(order), np.int64)
    gaps[1 :: len(step)] = random.lognormal(np.log(COMPUTING_NS), 0.1, steps)
    times = np.cumsum(gaps)
    return RankEvents(**{**one.__dict__, "order": order, "begin_ns": times, "end_ns": times})


def timed(run: Callable[[], Any]) -> tuple[Any, float]:
    """Return a result, and the time of the processor that it took."""
    begin = time.process_time()
    result = run()
    return result, time.process_time() - begin


def compare(name: str, calls: int) -> dict[str, object]:
    """Return what both took."""
    trace = long_trace(name, calls)
    file = machine(CROSSBAR | {"nodes": RANKS}, latency="100ns", nic_latency="100ns")

    def replayed(of: Trace) -> dict[str, Any]:
        return prepare(TraceWorkload(of), file, buffers="unbounded", packet="message", threads=1).run()

    with TemporaryDirectory() as place:
        folder = Path(place)
        save_trace(trace, folder / "run.trace")
        export_trace(trace, folder / "run.ti", Form.TIME_INDEPENDENT)
        result, ours_s = timed(lambda: replayed(trace))
        _, with_reading_s = timed(lambda: replayed(open_trace(folder / "run.trace")))
        _, with_text_s = timed(lambda: replayed(open_trace(folder / "run.ti")))
        theirs = replay_trace(folder / "run.ti", trace.size, folder)
    return {
        "steps": name,
        "ranks": trace.size,
        "calls": len(trace),
        "messages": result["messages"],
        "ours s": result["time_s"],
        "SimGrid s": theirs.time_s,
        "ours took s": ours_s,
        "with reading s": with_reading_s,
        "with reading text s": with_text_s,
        "SimGrid took s": theirs.cpu_s,
    }


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--calls", type=int, default=CALLS, help=f"of each trace; {CALLS} unless named")
    options.add_argument("--steps", choices=STEPS, help="of one kind; of each unless named")
    asked = options.parse_args()
    try:
        rows = [compare(name, asked.calls) for name in STEPS if asked.steps in (None, name)]
    except TradewindError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    print_rows(rows, asked.json)


if __name__ == "__main__":
    main()
