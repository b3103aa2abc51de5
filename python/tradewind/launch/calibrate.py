"""Measuring the machine that ranks run on, for a machine file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.base.files import write_atomically
from tradewind.base.names import unknown
from tradewind.launch import job
from tradewind.machine.calibration import SPREAD_LIMIT, Calibration, calibrated, refusals
from tradewind.machine.calibration_file import text_of
from tradewind.method.method import packing_names, transport_names

ALL = "all"
SIZES = tuple(2**i for i in (13, 16, 18, 20, 22, 24))
"""Bytes of the messages."""
RUNS = (8, 24, 64, 512, 4096)
"""Bytes of the runs of memory in which they lie."""
MIN_SAMPLES = 3
"""Samples of a round."""

Watch = job.Watch


def calibrate(
    ranks: int,
    *,
    transports: Sequence[str] = (ALL,),
    packings: Sequence[str] = (ALL,),
    largest: int = SIZES[-1],
    repeat: int = 20,
    rounds: int = 4,
    warmup: int = 2,
    ranks_per_node: int = 0,
    limit: float = SPREAD_LIMIT,
    kernels: bool = True,
    force: bool = False,
    timeout_s: float | None = None,
    watch: Watch | None = None,
) -> Calibration:
    """Measure, on pairs of `ranks` MPI ranks, how transports carry messages, and what copies take.

    Within nodes, and between them where ranks run on several. `largest` bytes of a message; `repeat`: maximum
    number of samples of each, in `rounds` (or fewer, of three samples or more each, whose spread shows a busy machine);
    in each round all is measured with new plans. Of each figure the best round counts.
    `kernels`: also the rates of the dwarfs' loops on one core, and on all at the same time, in some 60 seconds.
    `ranks_per_node`: takes every group of that many consecutive ranks for a node; 0: the real nodes.
    Starts the ranks, or where this process is one of them, is one (rank 0 has the calibration, and others an equal
    one). Raises InputError where samples lie further apart than `limit` (a fraction of their median, the middle half of
    them), or where ranks share a core, unless forced.
    """
    problems = [
        text
        for good, text in (
            (ranks >= 2, f"ranks {ranks}: pairs are measured, so 2 or more are needed"),
            (repeat >= 1 and warmup >= 0, f"repeat {repeat}, warmup {warmup}: at least 1 and 0 are allowed"),
            (rounds >= 1, f"rounds {rounds}: at least 1 is allowed"),
            (largest >= SIZES[0], f"largest message {largest} B: {SIZES[0]} B or more are allowed"),
            (limit >= 0, f"limit {limit}: 0 or more is allowed"),
            (ranks_per_node >= 0, f"ranks per node {ranks_per_node}: 0 or more are allowed"),
            (not ranks_per_node or ranks % ranks_per_node == 0, f"{ranks_per_node} do not divide {ranks} ranks"),
        )
        if not good
    ]
    problems += _unknown("transport", transports, transport_names())
    problems += _unknown("packing", packings, packing_names())
    if problems:
        raise InputError(*problems)
    rounds = min(rounds, max(repeat // MIN_SAMPLES, 1))
    payload = {
        "methods": methods(transports, packings),
        "sizes": [size for size in SIZES if size <= largest],
        "runs": list(RUNS),
        "repeat": repeat,
        "rounds": rounds,
        "warmup": warmup,
        "kernels": kernels,
        "ranks_per_node": ranks_per_node,
        "report": not job.is_rank(),
    }
    worker = "tradewind.launch.probe:probe"
    result = job.on_ranks(ranks, worker, payload, timeout_s=timeout_s, watch=watch)
    calibration = calibrated(result, repeat, rounds)
    if not force and (found := refusals(calibration, limit)):
        raise InputError(*found)
    return calibration


def methods(transports: Sequence[str], packings: Sequence[str]) -> list[list[str]]:
    """Each transport with each packing that it goes with. Raises InputError where nothing goes together."""
    found = [
        [entry.name, packing]
        for entry in _core.transports()
        for packing in entry.packings
        if (ALL in transports or entry.name in transports) and (ALL in packings or packing in packings)
    ]
    if not found:
        raise InputError(f"none of {', '.join(transports)} goes with packing {', '.join(packings)}")
    return found


def _unknown(what: str, names: Sequence[str], known: Sequence[str]) -> list[str]:
    return [unknown(what, name, known) for name in names if name not in (ALL, *known)]


def write(calibration: Calibration, path: Path, files: Mapping[str, float | None] | None = None) -> None:
    """Writes the machine file, with the rates `files` of `probe_files.measure_files`.

    Raises InputError where it cannot be written."""
    write_atomically(path, text_of(calibration, path.stem, files).encode(), "machine file")
