"""The cost of recording MPI programs: ``python benchmarks/record.py [-- COMMAND]``.

Time per call, of calls that need no other rank, with and without the recorder in turns; bytes per event of a program
whose two ranks exchange halos; and of a command that is named, such as ``mpiexec -n 2 lmp -in in.lj``, the share of its
run time that recording takes, in pairs of runs. Run it on an idle machine.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tradewind.launch.record import environment, record
from tradewind.trace.model import Trace

SOURCES = Path(__file__).parent / "recorder"
GOAL_NS = 150
"""Time that a call takes longer, at most."""
GOAL_BYTES = 4
"""Bytes per event, at most."""
GOAL_SHARE = 0.01
"""Share of the run time of a program, at most."""
PAIRS = 7
STEPS = 5000
KINDS = ("probe", "receive, send and wait", "sum")


def _compiled(name: str, folder: Path) -> Path:
    program = folder / Path(name).stem
    mpicc = Path(sys.executable).parent / "mpicc"
    subprocess.run([mpicc, "-O2", SOURCES / name, "-o", program], check=True)
    return program


def _rounds(program: Path, variables: dict[str, str]) -> list[list[float]]:
    run = subprocess.run([program], env=os.environ | variables, check=True, capture_output=True, text=True)
    return [[float(value) for value in line.split()] for line in run.stdout.splitlines()]


def time_per_call(folder: Path) -> None:
    """Print how much longer calls take, by kind: the median of pairs of runs."""
    program = _compiled("calls.c", folder)
    plain: list[list[float]] = []
    recorded: list[list[float]] = []
    for pair in range(PAIRS):
        ranks = folder / f"ranks-{pair}"
        ranks.mkdir()
        plain += _rounds(program, {})
        recorded += _rounds(program, environment(ranks))
    for kind, without, with_it in zip(KINDS, zip(*plain, strict=True), zip(*recorded, strict=True), strict=True):
        more = [b - a for a, b in zip(without, with_it, strict=True)]
        print(
            f"{kind}: {statistics.median(without):.0f} ns per call, recorded {statistics.median(with_it):.0f}: "
            f"{statistics.median(more):.0f} more, {min(more):.0f}..{max(more):.0f} (goal: {GOAL_NS})"
        )


def bytes_per_event(folder: Path) -> None:
    """Print the room that the trace of a loop takes, and of one of ten times the steps."""
    program = _compiled("halo.c", folder)
    traces = []
    for steps in (STEPS // 10, STEPS):
        path = folder / f"halo-{steps}.trace"
        trace, _ = record(["mpiexec", "-n", "2", str(program), str(steps)], path)
        traces.append((trace, path.stat().st_size))
        print(f"halo, {steps} steps: {_room(trace, traces[-1][1])}")
    (short, small), (long, large) = traces
    print(f"each further event: {(large - small) / (len(long) - len(short)):.2f} bytes")


def _room(trace: Trace, size: int) -> str:
    return f"{len(trace)} events, {size / len(trace):.2f} bytes per event (goal: {GOAL_BYTES})"


def share_of(command: Sequence[str], folder: Path) -> None:
    """Print the share of a command's run time that recording takes: the median of pairs of runs."""

    def timed(run: Callable[[], object]) -> float:
        begin = time.perf_counter()
        run()
        return time.perf_counter() - begin

    pairs = []
    ranks = folder / "ranks"
    for pair in range(PAIRS):
        ranks = folder / f"command-{pair}"
        ranks.mkdir()
        variables = os.environ | environment(ranks)
        plain = timed(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))
        recorded = timed(lambda env=variables: subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=env))
        pairs.append(recorded / plain - 1)
    print(
        f"{' '.join(command)}: {100 * statistics.median(pairs):.2f} % longer, "
        f"{100 * min(pairs):.1f}..{100 * max(pairs):.1f} in {PAIRS} pairs (goal: {100 * GOAL_SHARE:.0f} %)"
    )


def main(arguments: Sequence[str]) -> None:
    """Run all, and of a command behind ``--`` its share."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        time_per_call(folder)
        bytes_per_event(folder)
        if arguments:
            share_of(arguments[arguments[0] == "--" :], folder)


if __name__ == "__main__":
    main(sys.argv[1:])
