"""SimGrid's time-independent traces become traces: every action that it replays, and errors that name the line."""

import re

import pytest

from tradewind.base.errors import InputError
from tradewind.trace.action_arguments import TYPE_BYTES
from tradewind.trace.model import ANY, NONE
from tradewind.trace.read import open_trace


def read(tmp_path, text):
    (tmp_path / "a.txt").write_text(text)
    return open_trace(tmp_path / "a.txt")


def rows(trace, rank, *columns):
    """Return the calls of a rank between MPI_Init and MPI_Finalize."""
    return list(trace.table(rank)[["call", *columns]].iloc[1:-1].itertuples(index=False, name=None))


def test_requests_are_found_by_sender_receiver_and_tag(tmp_path):
    trace = read(
        tmp_path,
        "# a comment\n0 init\n1 init\n0 compute 1e3\n0 isend 1 5 100\n0 isend 1 5 200\n0 compute 2.5\n0 wait 0 1 5\n"
        "0 sleep 1e-6\n0 waitall 2\n1 irecv 0 5 -1\n1 compute 1000\n1 test 0 1 5\n1 compute 5000\n1 test 0 1 5\n"
        "1 wait 0 1 5\n1 recv -555 -444 200 6\n"
        "0 finalize\n1 finalize\n",
    )
    assert trace.problems == ()
    columns = ("bytes", "request", "gap_ns")
    assert rows(trace, 0, *columns) == [
        ("MPI_Isend", 100, 0, 1000),
        ("MPI_Isend", 200, 1, 0),
        ("MPI_Waitall", 0, NONE, 2),
        ("MPI_Waitall", 0, NONE, 1000),
    ]
    assert trace.events(0).asked.tolist() == [0, 1]
    assert rows(trace, 1, "source", "source_tag", "received", "gap_ns") == [
        ("MPI_Irecv", 0, 5, 0, 0),
        ("MPI_Waitall", NONE, NONE, 0, 6000),
        ("MPI_Recv", ANY, ANY, 200, 0),
    ]


def test_sizes_are_counts_of_datatypes(tmp_path):
    trace = read(tmp_path, "0 init\n0 send 0 0 10\n0 send 0 0 10 1\n0 init 1\n0 send 0 0 10\n0 allreduce 3 0 26\n")
    assert [row[1] for row in rows(trace, 0, "bytes")] == [10, 40, 80, 48]
    assert len(TYPE_BYTES) == 60


def test_what_is_rounded_away_is_computed_later(tmp_path):
    trace = read(tmp_path, "0 init\n" + "0 compute 0.4\n0 barrier\n" * 10)
    assert trace.table(0)["gap_ns"].sum() == 4


@pytest.mark.parametrize(
    ("action", "name", "given", "obtained", "blocks"),
    [
        ("bcast 10 1 0", "MPI_Bcast", [0, 80, 0], [80, 0, 80], []),
        ("bcast 10", "MPI_Bcast", [10, 0, 0], [0, 10, 10], []),
        ("reduce 10 0 1 0", "MPI_Reduce", [80, 80, 80], [0, 80, 0], []),
        ("allreduce 10 0", "MPI_Allreduce", [10] * 3, [10] * 3, []),
        ("scan 10 0 1", "MPI_Scan", [40] * 3, [40] * 3, []),
        ("exscan 10 0 1", "MPI_Exscan", [40] * 3, [40] * 3, []),
        ("gather 10 10 1 0 0", "MPI_Gather", [80] * 3, [0, 240, 0], []),
        ("gather 10 1 0 0", "MPI_Gather", [80] * 3, [0, 0, 0], []),
        ("scatter 10 10 1 0 0", "MPI_Scatter", [0, 240, 0], [80] * 3, []),
        ("allgather 10 20 0 1", "MPI_Allgather", [80] * 3, [240] * 3, []),
        ("alltoall 10 20 0 1", "MPI_Alltoall", [240] * 3, [240] * 3, []),
        ("alltoallv 60 1 2 3 60 3 3 3 0 1", "MPI_Alltoallv", [48] * 3, [36] * 3, [8, 16, 24]),
        ("allgatherv 10 10 20 30 0 0", "MPI_Allgatherv", [80] * 3, [480] * 3, []),
        ("gatherv 10 10 20 30 1 0 0", "MPI_Gatherv", [80] * 3, [0, 480, 0], []),
        ("scatterv 10 20 30 10 0 6 6", "MPI_Scatterv", [60, 0, 0], [10] * 3, [10, 20, 30]),
        ("reducescatter 10 20 30 0 0", "MPI_Reduce_scatter", [480] * 3, [80, 160, 240], [80, 160, 240]),
    ],
)
def test_collective_calls(action, name, given, obtained, blocks, tmp_path):
    trace = read(tmp_path, "".join(f"{rank} {action}\n" for rank in range(3)))
    found = [rows(trace, rank, "bytes", "received") for rank in range(3)]
    assert found == [[(name, *each)] for each in zip(given, obtained, strict=True)]
    assert trace.events(0).blocks.tolist() == blocks


def test_a_reduction_computes_behind_its_messages(tmp_path):
    trace = read(tmp_path, "0 allreduce 10 500\n0 barrier\n")
    assert trace.table(0)["gap_ns"].tolist() == [0, 0, 500, 0]


def test_other_sends_and_what_moves_nothing(tmp_path):
    trace = read(
        tmp_path,
        "0 comm_size 2\n0 Ssend 1 0 1\n0 bsend 1 0 1\n0 ISsend 1 0 1\n0 ibsend 1 0 1\n0 sendRecv 4 1 8 1 6 6\n"
        "0 location a.c 7\n0 testall\n1 comm_dup\n",
    )
    assert [name for name, *_ in rows(trace, 0)] == [
        *("MPI_Ssend", "MPI_Bsend", "MPI_Issend", "MPI_Ibsend", "MPI_Sendrecv")
    ]
    assert rows(trace, 0, "bytes", "received", "peer", "source")[-1] == ("MPI_Sendrecv", 4, 8, 1, 1)


def test_a_list_of_files_of_ranks_is_found_from_where_it_lies(tmp_path):
    """SimGrid names files as seen from where it ran, in a folder that has the list's name."""
    folder = tmp_path / "run.txt_files"
    folder.mkdir()
    for rank in range(2):
        (folder / f"0_rank-{rank}.txt").write_text(f"{rank} init\n{rank} barrier\n")
    for place in ("run.txt_files", str(folder), "elsewhere/run.txt_files"):
        (tmp_path / "run.txt").write_text(f"{place}/0_rank-0.txt\n{place}/0_rank-1.txt\n")
        assert len(open_trace(tmp_path / "run.txt")) == 6
    (tmp_path / "run.txt").write_text(f"{folder}/0_rank-0.txt\n{folder}/0_rank-7.txt\n")
    with pytest.raises(InputError, match=r"run.txt:2: there is no file .*0_rank-7.txt"):
        open_trace(tmp_path / "run.txt")


def test_a_file_that_is_cut_off_and_ranks_that_are_missing(tmp_path):
    trace = read(tmp_path, "0 init\n2 init\n0 barrier\n0 barr")
    assert trace.problems[0].endswith("a.txt is cut off at line 4")
    assert trace.problems[1] == "1 of 3 ranks are missing: 1"
    assert rows(trace, 0) == [("MPI_Barrier",)]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("0 waitAny 3", "unknown action of SimGrid 'waitAny'; did you mean 'wait'?"),
        ("0", "unknown action of SimGrid ''"),
        ("0 send 2 0 8", "rank '2': 0 to 1 are allowed"),
        ("0 send -1 0 8", "rank '-1': 0 to 1 are allowed"),
        ("0 send 1 0", "no size: it is argument 3 of the action"),
        ("0 send 1 0 1.5", "size '1.5': 0 to 999999999999999999 are allowed"),
        ("0 send 1 0 1e400", "size '1e400': a number is allowed"),
        (f"0 send 1 0 {'9' * 5000}", "0 to 999999999999999999 are allowed"),
        ("0 send 1 0 999999999999999999 14", "15999999999999999984 bytes in one call: up to 999999999999999999"),
        ("0 isend 1 0 ٣", "size '٣': 0 to 9999"),
        ("0 alltoall 999999999999999999 1", "1999999999999999998 bytes in one call: up to 999999999999999999"),
        ("0 send 1 0 8 60", "datatype '60': 0 to 59 are allowed"),
        ("0 compute", "amount : a time from 0 to 31 years is allowed"),
        ("0 compute -1", "amount -1: a time from 0 to 31 years is allowed"),
        ("0 compute nan", "amount 'nan': a number is allowed"),
        ("0 alltoallv 10 1 2 10 1", "no count: it is argument 6 of the action"),
        ("x init", "rank 'x': 0 to 16777215 are allowed"),
    ],
)
def test_refused(line, text, tmp_path):
    with pytest.raises(InputError, match=f"a.txt:3: .*{re.escape(text)}"):
        read(tmp_path, f"0 init\n1 init\n{line}\n")
