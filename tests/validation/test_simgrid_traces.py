"""SimGrid replays the traces that are written for it, with the same messages; and what it records can be read."""

import subprocess
from collections import Counter

import pytest
from validation.simgrid.trace_replay import replay_trace, smpirun, write_platform

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.replay.calls import calls_of
from tradewind.replay.export import export_trace
from tradewind.replay.message_tags import SEND
from tradewind.trace.builder import TraceBuilder
from tradewind.trace.counts import counts
from tradewind.trace.forms import Form
from tradewind.trace.model import NONE
from tradewind.trace.read import open_trace

PROGRAM = """
#include <mpi.h>
int main(int argc, char** argv) {
    int rank, size;
    double mine[100] = {0}, other[100], sum;
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int step = 0; step < 5; ++step) {
        MPI_Irecv(other, 100, MPI_DOUBLE, (rank + size - 1) % size, 3, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(mine, 100, MPI_DOUBLE, (rank + 1) % size, 3, MPI_COMM_WORLD, &requests[1]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Waitall(1, &requests[1], MPI_STATUSES_IGNORE);
        MPI_Allreduce(mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Sendrecv(mine, 10, MPI_DOUBLE, (rank + 1) % size, 4, other, 10, MPI_DOUBLE, (rank + size - 1) % size, 4,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Gather(mine, 2, MPI_INT, other, 2, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Bcast(mine, 7, MPI_BYTE, 1, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
"""


@pytest.fixture(autouse=True)
def simgrid(monkeypatch, tmp_path):
    try:
        smpirun()
    except InputError as error:
        pytest.skip(str(error))
    monkeypatch.chdir(tmp_path)


def stepping(ranks, steps):
    """Neighbors in a ring; an allreduce that goes on meanwhile, which SimGrid's form has as messages."""
    builder = TraceBuilder(ranks)
    for rank in range(ranks):
        calls = builder.rank(rank).call("MPI_Init")
        for step in range(steps):
            calls.call("MPI_Iallreduce", bytes=16, received=16, request=2, gap_ns=50_000 + 1000 * step)
            calls.call("MPI_Irecv", source=(rank - 1) % ranks, source_tag=3, received=800, request=0)
            calls.call("MPI_Isend", peer=(rank + 1) % ranks, tag=3, bytes=800 + rank, request=1)
            calls.call("MPI_Wait", asked=[0], ended=[(0, (rank - 1) % ranks, 3, 800)], gap_ns=20_000)
            calls.call("MPI_Waitall", asked=[1, 2], ended=[(1, NONE, NONE, 0), (2, NONE, NONE, 0)])
        calls.call("MPI_Finalize", gap_ns=30_000)
    return builder.trace()


def test_simgrid_replays_the_same_messages_and_computing(tmp_path):
    trace = stepping(4, 3)
    export_trace(trace, tmp_path / "run.ti", Form.TIME_INDEPENDENT)
    calls = calls_of(trace).calls
    replayed = replay_trace(tmp_path / "run.ti", 4, tmp_path, messages=True)
    sent = [row[5] for rank in range(4) for row in calls.table(rank).tolist() if row[0] == SEND]
    assert Counter(replayed.sizes) == Counter(sent)
    assert (len(sent), sum(sent)) == (calls.messages, calls.bytes)
    free_s = _core.free_network_s(calls)
    assert free_s < replayed.time_s < free_s + 100e-6


@pytest.mark.slow
def test_what_simgrid_records_is_read(tmp_path):
    (tmp_path / "program.c").write_text(PROGRAM)
    subprocess.run(["smpicc", "program.c", "-o", "program"], check=True, capture_output=True)
    options = [*write_platform(tmp_path, 4), "-trace-ti", "--cfg=smpi/host-speed:1Gf"]
    subprocess.run([smpirun(), *options, "./program"], check=True, capture_output=True)
    trace = open_trace(tmp_path / "smpi_simgrid.txt")
    assert (trace.size, trace.problems) == (4, ())
    total = counts(trace).groupby("call")[["calls", "bytes"]].sum()
    found = {name: tuple(row) for name, row in total.iterrows()}
    assert found["MPI_Isend"] == (20, 16000)
    assert found["MPI_Sendrecv"] == (4, 320)
    assert found["MPI_Allreduce"] == (20, 160)
    assert found["MPI_Gather"] == (4, 32)
    assert found["MPI_Bcast"] == (4, 7)
    calls = calls_of(trace).calls
    assert not calls.unmatched
    export_trace(trace, tmp_path / "again.ti", Form.TIME_INDEPENDENT)
    first = replay_trace(tmp_path / "smpi_simgrid.txt", 4, tmp_path)
    assert replay_trace(tmp_path / "again.ti", 4, tmp_path).time_s == pytest.approx(first.time_s, rel=0.05)
