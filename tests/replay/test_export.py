"""Traces in other forms hold the same messages, dependencies and computing: read back, their calls are the same."""

import os
from itertools import groupby

import pytest
from recorded_exchange import trace_of
from validation.machines import all_to_all

from tradewind.base.errors import InputError
from tradewind.replay.calls import calls_of
from tradewind.replay.export import export_trace, form_named
from tradewind.replay.message_tags import COMPUTE, WAIT, MessageTags
from tradewind.trace.builder import TraceBuilder
from tradewind.trace.forms import Form
from tradewind.trace.model import NONE
from tradewind.trace.read import open_trace

TEXT_FORMS = {Form.GOAL: "run.goal", Form.TIME_INDEPENDENT: "run.ti"}


def stepping(ranks=4, steps=3):
    """Neighbors in a ring, collective calls of all ranks and of some, blocking and not, persistent requests."""
    builder = TraceBuilder(ranks)
    halves = [builder.communicator(range(first, ranks, 2)) for first in (0, 1)]
    for rank in range(ranks):
        calls = builder.rank(rank).call("MPI_Init")
        east, west = (rank + 1) % ranks, (rank - 1) % ranks
        calls.call("MPI_Send_init", peer=east, tag=1, bytes=24, request=7)
        for step in range(steps):
            calls.call("MPI_Irecv", source=west, source_tag=3, received=80, request=0, gap_ns=1000 + 10 * rank + step)
            calls.call("MPI_Isend", peer=east, tag=3, bytes=80, request=1)
            calls.call("MPI_Iallreduce", bytes=8, received=8, request=2, gap_ns=5)
            calls.call("MPI_Wait", asked=[0], ended=[(0, west, 3, 80)], gap_ns=300)
            calls.call("MPI_Bcast", peer=1, bytes=40 if rank == 1 else 0, received=0 if rank == 1 else 40, gap_ns=7)
            calls.call("MPI_Waitall", asked=[1, 2], ended=[(1, NONE, NONE, 0), (2, NONE, NONE, 0)])
            calls.call("MPI_Allgather", communicator=halves[rank % 2], bytes=16, received=32)
            calls.call("MPI_Start", asked=[7])
            calls.call("MPI_Recv", source=west, source_tag=1, received=24)
            calls.call("MPI_Wait", asked=[7], ended=[(7, NONE, NONE, 0)])
            calls.call("MPI_Alltoallv", bytes=6, received=6, blocks=[0, 1, 2, 3], gap_ns=11)
        calls.call("MPI_Barrier").call("MPI_Finalize", gap_ns=77)
    return builder.trace()


def out_of_order():
    """Messages of two ranks that overtake each other, by tags, and waits in the other order."""
    builder = TraceBuilder(2)
    first, second = builder.rank(0), builder.rank(1)
    for slot, tag in enumerate((1, 2, 3)):
        first.call("MPI_Isend", peer=1, tag=tag, bytes=10 * tag, request=slot)
    for slot, tag in enumerate((2, 1, 3)):
        second.call("MPI_Irecv", source=0, source_tag=tag, received=10 * tag, request=slot)
    for slot in (2, 1, 0):
        for calls in (first, second):
            calls.call("MPI_Wait", asked=[slot], ended=[(slot, NONE, NONE, 0)], gap_ns=9)
    return builder.trace()


def done(calls, rank):
    """Return what a rank does, with computations in a row as one, and waits in a row in any order."""
    table = calls.table(rank).tolist()
    found = []
    for kind, group in groupby(table, key=lambda row: row[0]):
        rows = list(group)
        if kind == COMPUTE:
            found.append((kind, sum(row[5] for row in rows)))
        elif kind == WAIT:
            found.append((kind, sorted(row[2] for row in rows)))
        else:
            found += [(kind, row[2], row[3], row[5]) for row in rows]
    return found


def accessing(*calls):
    """Calls of two ranks on a window, each of which accesses the other."""
    builder = TraceBuilder(2)
    window = builder.window()
    for rank in range(2):
        builder.rank(rank).call("MPI_Win_create", created=window)
        for name, fields in calls:
            builder.rank(rank).call(name, window=window, **{"peer": 1 - rank, **fields})
    return builder.trace()


FENCE, PUT = ("MPI_Win_fence", {}), ("MPI_Put", {"bytes": 80})
TRACES = {
    "puts": lambda: accessing(FENCE, PUT, PUT, FENCE),
    "steps": stepping,
    "out of order": out_of_order,
    "pairwise": lambda: trace_of(next(iter(all_to_all(5, "pairwise", 1000).schedules().values())), 8),
}


@pytest.mark.parametrize("form", TEXT_FORMS)
@pytest.mark.parametrize("name", TRACES)
def test_calls_are_the_same_when_they_are_read_back(form, name, tmp_path):
    trace = TRACES[name]()
    path = tmp_path / TEXT_FORMS[form]
    written = export_trace(trace, path, form)
    before, after = calls_of(trace).calls, calls_of(read := open_trace(path)).calls
    assert read.problems == ()
    assert (written["messages"], written["bytes"]) == (before.messages, before.bytes) == (after.messages, after.bytes)
    assert written["not_replayed"]["unmatched"] == 0
    for rank in range(trace.size):
        assert done(after, rank) == done(before, rank), rank


def test_collective_calls_that_a_cut_rank_lacks_are_not_written(tmp_path):
    builder = TraceBuilder(2)
    for rank, (ending, steps) in enumerate((("aborted", 3), ("killed", 2))):
        builder.rank(rank).ending = ending
        for _ in range(steps):
            builder.rank(rank).call("MPI_Allreduce", bytes=8, received=8)
    written = export_trace(builder.trace(), tmp_path / "cut.ti", Form.TIME_INDEPENDENT)
    assert written["not_replayed"] == {"calls": {}, "bytes": {}, "unmatched": 0, "not_known": 2}
    for rank in (0, 1):
        actions = (tmp_path / "cut.ti_files" / f"rank-{rank}.txt").read_text().splitlines()
        assert [action for action in actions if "allreduce" in action] == [f"{rank} allreduce 8 0"] * 2


@pytest.mark.parametrize("form", TEXT_FORMS)
def test_replies_to_accesses_are_refused(form, tmp_path):
    for function, calls in (
        ("MPI_Get", [FENCE, ("MPI_Get", {"received": 80}), FENCE]),
        ("MPI_Win_unlock", [("MPI_Win_lock", {}), PUT, ("MPI_Win_unlock", {})]),
    ):
        with pytest.raises(InputError, match=f"rank 0: {function} needs a reply of its target"):
            export_trace(accessing(*calls), tmp_path / TEXT_FORMS[form], form)
    assert not list(tmp_path.iterdir())


def test_actions_that_were_read_are_written_again(tmp_path):
    """Those of blocking collective calls of all ranks, too; and GOAL's text is the same once it has been read."""
    for form, name in TEXT_FORMS.items():
        for folder in ("first", "second"):
            (tmp_path / folder).mkdir(exist_ok=True)
        export_trace(stepping(), tmp_path / "first" / name, form)
        export_trace(open_trace(tmp_path / "first" / name), tmp_path / "second" / name, form)
    first, second = tmp_path / "first", tmp_path / "second"
    ranks = [f"run.ti_files/rank-{rank}.txt" for rank in range(4)]
    for file in ("run.goal", *ranks):
        assert (first / file).read_text() == (second / file).read_text()
    actions = [line.split()[1] for line in (first / ranks[0]).read_text().splitlines() if line[0] != "#"]
    assert {
        name: actions.count(name) for name in ("init", "bcast", "allreduce", "allgather", "barrier", "finalize")
    } == {
        **{"init": 1, "bcast": 3, "allreduce": 0, "allgather": 0, "barrier": 1, "finalize": 1},
    }


@pytest.mark.parametrize(
    ("base", "values", "action"),
    [
        ("Barrier", {}, "barrier"),
        ("Bcast", {"peer": 0, "bytes": 8}, "bcast 8 0"),
        ("Reduce", {"peer": 1, "bytes": 8}, "reduce 8 0 1"),
        ("Allreduce", {"bytes": 8, "received": 8}, "allreduce 8 0"),
        ("Scan", {"bytes": 8, "received": 8}, "scan 8 0"),
        ("Exscan", {"bytes": 8, "received": 8}, "exscan 8 0"),
        ("Gather", {"peer": 1, "bytes": 8}, "gather 8 8 1"),
        ("Scatter", {"peer": 0, "bytes": 16, "received": 8}, "scatter 8 8 0"),
        ("Allgather", {"bytes": 8, "received": 16}, "allgather 8 8"),
        ("Allgatherv", {"bytes": 6, "received": 16}, "allgather 8 8"),
        ("Alltoall", {"bytes": 16, "received": 16}, "alltoall 8 8"),
        ("Reduce_scatter", {"bytes": 16, "received": 6, "blocks": [6, 10]}, "reducescatter 6 10 0"),
        ("Reduce_scatter_block", {"bytes": 16, "received": 8}, "reducescatter 8 8 0"),
    ],
)
def test_actions_of_collective_calls(base, values, action, tmp_path):
    builder = TraceBuilder(2)
    for rank in range(2):
        builder.rank(rank).call(f"MPI_{base}", **values)
    export_trace(builder.trace(), tmp_path / "run.ti", Form.TIME_INDEPENDENT)
    lines = (tmp_path / "run.ti_files" / "rank-0.txt").read_text().splitlines()
    assert [line for line in lines if line[0] != "#"] == ["0 init", f"0 {action}", "0 finalize"]


def actions_of(path, rank):
    """The actions of a rank, without comments."""
    lines = (path.parent / f"{path.name}_files" / f"rank-{rank}.txt").read_text().splitlines()
    return [line.split()[1] for line in lines if line[0] != "#"]


@pytest.mark.parametrize("base", ["Gather", "Scatter"])
def test_all_ranks_keep_a_collective_call(base, tmp_path):
    """Also where its root has the bytes of all ranks, which are more than the form holds."""
    builder, size = TraceBuilder(2), 1_500_000_000
    for rank in range(2):
        of_root = 0 if rank else 2 * size
        ends = {"bytes": size, "received": of_root} if base == "Gather" else {"bytes": of_root, "received": size}
        builder.rank(rank).call(f"MPI_{base}", peer=0, **ends)
    export_trace(builder.trace(), tmp_path / "run.ti", Form.TIME_INDEPENDENT)
    assert [actions_of(tmp_path / "run.ti", rank)[1] for rank in range(2)] == [base.lower()] * 2


def test_a_collective_call_of_unknown_ranks_is_left_out(tmp_path):
    """One of a communicator that was made in front of the recording."""
    builder = TraceBuilder(2)
    for rank in range(2):
        builder.rank(rank).call("MPI_Barrier", communicator=NONE)
    result = export_trace(builder.trace(), tmp_path / "run.ti", Form.TIME_INDEPENDENT)
    assert actions_of(tmp_path / "run.ti", 0) == ["init", "finalize"]
    assert result["not_replayed"]["calls"] == {"MPI_Barrier": 2}


def test_calls_with_ranks_of_other_programs_are_left_out():
    """As with those that were spawned: messages, collective calls, and windows."""
    builder = TraceBuilder(2)
    merged = builder.communicator([NONE, 0, 1], "MPI_Intercomm_merge")
    window = builder.window(merged)
    for rank in range(2):
        calls = builder.rank(rank)
        calls.call("MPI_Win_create", communicator=merged, created=window)
        calls.call("MPI_Allreduce", communicator=merged, bytes=8, received=8)
        calls.call("MPI_Isend", communicator=merged, peer=NONE, bytes=24, tag=0, request=0)
        calls.call("MPI_Wait", communicator=NONE, asked=[0], ended=[(0, NONE, NONE, 0)])
        calls.call("MPI_Put", communicator=merged, window=window, peer=1 - rank, bytes=40)
        calls.call("MPI_Win_fence", communicator=merged, window=window)
    left = calls_of(builder.trace()).left
    assert left.calls == dict.fromkeys(("MPI_Win_create", "MPI_Allreduce", "MPI_Isend", "MPI_Put", "MPI_Win_fence"), 2)
    assert sum(left.bytes.values()) == 2 * (16 + 24 + 40)


def test_names_of_files_may_have_any_bytes(tmp_path):
    for name in ("Läufe.ti", os.fsdecode(b"l\xe4uft.ti")):
        export_trace(stepping(), tmp_path / name, Form.TIME_INDEPENDENT)
        assert open_trace(tmp_path / name).size == 4


def test_an_export_that_fails_leaves_no_mixture(tmp_path):
    """The old trace stays where the new one cannot be written; one that is not finished has no list of files."""
    path = tmp_path / "run.ti"
    export_trace(stepping(), path, Form.TIME_INDEPENDENT)
    before = {file: file.read_bytes() for file in (path, *(tmp_path / "run.ti_files").iterdir())}
    builder = TraceBuilder(2)
    builder.rank(0).call("MPI_Recv", source=1, source_tag=0, received=1 << 31)
    builder.rank(1).call("MPI_Send", peer=0, tag=0, bytes=1 << 31)
    with pytest.raises(InputError, match="a message of 2147483648 bytes"):
        export_trace(builder.trace(), path, Form.TIME_INDEPENDENT)
    assert before == {file: file.read_bytes() for file in before}
    (tmp_path / "run.ti_files" / "rank-2.txt").unlink()
    (tmp_path / "run.ti_files" / "rank-2.txt").mkdir()
    with pytest.raises(InputError, match=r"rank-2\.txt"):
        export_trace(stepping(), path, Form.TIME_INDEPENDENT)
    with pytest.raises(InputError):
        open_trace(path)


def test_tags_are_as_few_as_the_order_needs():
    calls = calls_of(out_of_order()).calls
    assert MessageTags(calls).of_receives(1).tolist() == [1, 0, 0]
    assert sorted(MessageTags(calls, by_waits=True).of_receives(1).tolist()) == [0, 1, 2]
    assert not any(MessageTags(calls_of(stepping()).calls).of_receives(rank).any() for rank in range(4))


def test_threads_and_long_messages(tmp_path):
    """Calls that overlap in several threads are messages; SimGrid counts bytes as an int of C."""
    builder = TraceBuilder(2)
    for rank in range(2):
        builder.rank(rank).call("MPI_Barrier", thread=rank)
    written = export_trace(builder.trace(), tmp_path / "run.ti", Form.TIME_INDEPENDENT)
    assert written["not_replayed"]["unmatched"] == 0
    assert "barrier" not in (tmp_path / "run.ti_files" / "rank-0.txt").read_text()
    builder = TraceBuilder(2)
    builder.rank(0).call("MPI_Send", peer=1, tag=0, bytes=1 << 31)
    builder.rank(1).call("MPI_Recv", source=0, source_tag=0, received=1 << 31)
    with pytest.raises(
        InputError, match="rank 0: a message of 2147483648 bytes: SimGrid's form holds up to 2147483647"
    ):
        export_trace(builder.trace(), tmp_path / "run.ti", Form.TIME_INDEPENDENT)


def test_form_by_name_and_by_suffix(tmp_path):
    assert form_named(None, tmp_path / "a.goal") is Form.GOAL
    assert form_named("ti", tmp_path / "a.goal") is Form.TIME_INDEPENDENT
    with pytest.raises(InputError, match="unknown form of traces 'gaol'; did you mean 'goal'"):
        form_named("gaol", tmp_path / "a.goal")
    with pytest.raises(InputError, match=r"a.x: which form\? name it \(trace, goal, ti\)"):
        form_named(None, tmp_path / "a.x")
