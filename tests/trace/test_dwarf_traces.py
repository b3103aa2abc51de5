"""Every dwarf: its patterns, its program and the trace of a run have the same messages."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

import pytest
from dwarf_sizes import SIZES
from trace_cells import OWN, PROGRAMS

import tradewind as tw
from tradewind import _core
from tradewind.dwarfs import DWARFS, from_plain
from tradewind.trace.model import Trace
from tradewind.workload.program import ProgramWorkload

pytestmark = [pytest.mark.slow, pytest.mark.ranks]
RANKS = 3
REQUESTS = {name: {**SIZES[name], "ranks": RANKS, "transport": "isend-irecv"} for name in DWARFS}
Messages = Counter[tuple[int, int, int]]
"""Messages by sender, receiver and bytes."""


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    """A run of all dwarfs, one after another."""
    path = tmp_path_factory.mktemp("dwarfs") / "run.trace"
    program = [sys.executable, PROGRAMS / "dwarf_steps.py", json.dumps(REQUESTS)]
    command = [sys.executable, "-m", "tradewind", "record", "-o", path, "--", OWN / "mpiexec", "-n", str(RANKS)]
    subprocess.run([*command, *program], check=True, capture_output=True, timeout=300)
    return tw.open_trace(path)


def of_run(trace: Trace, name: str) -> Messages:
    """Return the messages between the two barriers of a dwarf."""
    messages = Messages()
    for rank in trace.ranks:
        table = trace.table(rank)
        communicator = table[table["call"] == "MPI_Comm_dup"]["created"].iloc[0]
        barriers = table.index[(table["call"] == "MPI_Barrier") & (table["communicator"] == communicator)]
        first = 2 * list(REQUESTS).index(name)
        step = table.loc[barriers[first] : barriers[first + 1]]
        sends = step[(step["peer"] >= 0) & (step["bytes"] > 0)]
        messages.update((rank, peer, size) for peer, size in sends[["peer", "bytes"]].itertuples(index=False))
    return messages


def exchanges(program: ProgramWorkload) -> Iterator[tuple[_core.Schedule, int, int]]:
    """Yield the schedule of each exchange, the bytes of a point, and how often it takes place."""
    if program.groups:
        yield from ((each.core, each.bytes_per_point, program.times(each)) for each in program.exchanges)
        return
    for part in program.parts():
        if part.schedule is not None:
            yield part.schedule, program.bytes_per_point, part.times


def of_program(program: ProgramWorkload) -> Messages:
    messages = Messages()
    for schedule, size, times in exchanges(program):
        for rank in range(RANKS):
            for stage in range(schedule.stages):
                for message in schedule.sends(rank, stage):
                    if message.count and message.peer != rank:
                        messages[rank, message.peer, message.count * size] += times
    return messages


@pytest.mark.parametrize("name", DWARFS)
def test_pattern_program_and_trace_have_the_same_messages(name: str, trace: Trace) -> None:
    """A proof of the program's schedules counts those of the patterns, whose points each have to arrive once."""
    dwarf = from_plain(name, REQUESTS[name])
    proved = dwarf.verify()
    found = of_run(trace, name)
    assert found == of_program(dwarf.program())
    assert proved["messages"] == found.total()
    assert proved["bytes"] == sum(size * times for (*_, size), times in found.items())
