"""Programs of others: a trace has the calls and bytes that a library of PMPI counts beside it, and is replayed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from command_line import run_tradewind
from other_programs import PROGRAMS_OF_OTHERS, Mpi
from trace_cells import PROGRAMS

import tradewind as tw
from tradewind.replay.buffering import verify_trace
from tradewind.replay.workload import TraceWorkload
from tradewind.trace.counts import counts
from tradewind.trace.model import Trace

pytestmark = [pytest.mark.slow, pytest.mark.ranks]
ENVIRONMENT = ("MPI_Init", "MPI_Init_thread", "MPI_Finalize")
Counts = dict[tuple[int, str], tuple[int, int]]


def counter(mpi: Mpi, folder: Path) -> Path:
    """Return the library that counts calls, compiled with the header of an MPI library, and not linked to it."""
    part, library = folder / "count_calls.o", folder / "count_calls.so"
    subprocess.run([*mpi.compiler, "-fPIC", "-O1", "-c", PROGRAMS / "count_calls.c", "-o", part], check=True)
    subprocess.run(["gcc", "-shared", part, "-o", library], check=True)
    return library


def record(command: list[str], variables: Mapping[str, str], library: Path, folder: Path) -> None:
    """Record a command into `run.trace` of a folder, with a library in front of the recorder."""
    tradewind = [sys.executable, "-m", "tradewind", "record", "-o", "run.trace", "--"]
    preloaded = ["sh", "-c", f'LD_PRELOAD={library}:$LD_PRELOAD exec "$@"', "sh"]
    (folder / "counts").mkdir()
    environment = {**os.environ, **variables, "TRADEWIND_COUNTS": str(folder / "counts")}
    done = subprocess.run(
        [*tradewind, *preloaded, *command], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr


def counted(folder: Path) -> Counts:
    """Return calls and bytes by rank and function, as the library has counted them."""
    lines = [line.split() for file in (folder / "counts").iterdir() for line in file.read_text().splitlines()]
    assert len(lines) >= 4  # two functions on each of two ranks: NetPIPE has few
    return {(int(rank), name): (int(calls), int(size)) for rank, name, calls, size in lines}


def traced(trace: Trace) -> Counts:
    table = counts(trace)
    rows = table[table["recorded"] & ~table["call"].isin(ENVIRONMENT)].itertuples()
    return {(row.rank, row.call): (row.calls, row.bytes) for row in rows}


@pytest.mark.parametrize("name", PROGRAMS_OF_OTHERS)
def test_is_recorded_verified_and_replayed(name: str, tmp_path: Path) -> None:
    program = PROGRAMS_OF_OTHERS[name]
    command, variables = program.run(tmp_path)
    record(command, variables, counter(program.mpi, tmp_path), tmp_path)
    path = tmp_path / "run.trace"
    trace = tw.open_trace(path)
    assert trace.problems == ()
    assert traced(trace) == counted(tmp_path)

    found = verify_trace(trace)
    assert (found["order"], found["unmatched"], found["not_replayed"]) == ([], [], {})
    assert found["eager_limit"] == program.eager_limit

    result = tw.simulate(TraceWorkload(trace), "fugaku")
    computing = result["calls"]["computing"]
    assert 0 < computing["maximum_s"] <= result["time_s"]
    assert sum(result["causes"].values()) == pytest.approx(result["time_s"])
    assert result["messages"] == found["messages"]

    done = run_tradewind("advise", "trace", path, "--machine", "fugaku", "--ranks-per-node", "2", "--json")
    advice = json.loads(done.out)
    saves = {each["change"]: each["saves_s"] for each in advice["changes"]}
    assert 0 < saves["cores twice as fast"] <= 0.5001 * advice["time_s"]
