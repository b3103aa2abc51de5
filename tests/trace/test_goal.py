"""Schedules in GOAL's text form become traces: all that its grammar has, and errors that name the line."""

import re

import pytest
from recorded_exchange import trace_of
from validation.machines import all_to_all

from tradewind.base.errors import InputError
from tradewind.replay.calls import calls_of
from tradewind.replay.export import export_trace
from tradewind.trace.forms import Form
from tradewind.trace.model import ANY
from tradewind.trace.read import open_trace

EVERYTHING = """// made by hand
/* a comment
   of two lines */ num_ranks 3

rank 0 {
l1: calc 100
big_1: send 800b to 1 tag 7 cpu 0 nic 1
big_1 requires l1
l3: recv 16 b from 2 tag 0 nic 1
l3 irequires big_1
send 4b to 2
l4: calc 50 cpu 0
l4 requires l3
}
rank 2 { // the order of ranks is free
a:send 16b to 0 tag 0
b: recv 4b from 0
}

rank 1 {
l1: recv 800b from 0 tag 7
}
"""


def read(tmp_path, text):
    (tmp_path / "a.goal").write_text(text)
    return open_trace(tmp_path / "a.goal")


def calls(trace, rank):
    events = trace.events(rank)
    return [(events.call(number).name, int(gap)) for number, gap in zip(events.order, gaps(events), strict=True)]


def gaps(events):
    return [begin - end for begin, end in zip(events.begin_ns, [0, *events.end_ns], strict=False)]


def test_all_of_the_grammar(tmp_path):
    trace = read(tmp_path, EVERYTHING)
    assert (trace.size, trace.problems) == (3, ())
    assert calls(trace, 0) == [
        ("MPI_Init", 0),
        ("MPI_Isend", 100),
        ("MPI_Irecv", 0),
        ("MPI_Isend", 0),
        ("MPI_Waitall", 0),
        ("MPI_Waitall", 50),
        ("MPI_Finalize", 0),
    ]
    table = trace.table(0)
    assert table[["peer", "tag", "bytes", "request"]].iloc[1].tolist() == [1, 7, 800, 0]
    assert table[["source", "source_tag", "received", "request"]].iloc[2].tolist() == [2, 0, 16, 1]
    assert table[["peer", "tag", "bytes", "request"]].iloc[3].tolist() == [2, 0, 4, 2]


def test_a_rank_waits_in_front_of_what_requires_a_message_and_not_before(tmp_path):
    trace = read(
        tmp_path,
        "num_ranks 2\nrank 0 {\na: recv 1b from 1\nc: calc 9\nd: calc 5\nd requires a\n}\nrank 1 {\nsend 1b to 0\n}",
    )
    assert calls(trace, 0)[1:] == [("MPI_Irecv", 0), ("MPI_Waitall", 9), ("MPI_Finalize", 5)]


def test_an_operation_may_depend_on_one_further_down(tmp_path):
    chain = "a: send 1b to 1\nb: calc 7\nc: recv 1b from 1\na requires b\nb requires c\n"
    trace = read(tmp_path, f"num_ranks 2\nrank 0 {{\n{chain}}}\nrank 1 {{\ns: send 1b to 0\nr: recv 1b from 0\n}}\n")
    assert [name for name, _ in calls(trace, 0)] == [
        *("MPI_Init", "MPI_Irecv", "MPI_Waitall", "MPI_Isend", "MPI_Waitall", "MPI_Finalize"),
    ]
    assert trace.table(0)["gap_ns"].iloc[3] == 7


def test_a_tree_of_messages_depends_on_the_one_above(tmp_path):
    """As LogGOPSim's example of a broadcast: several operations require the same receive, which is no problem."""
    sends = "".join(f"l{n}: send 1b to {n} tag 0\nl{n} requires l1\n" for n in (2, 3))
    ends = "".join(f"rank {n} {{\nl1: recv 1b from 1 tag 0\n}}\n" for n in (2, 3))
    trace = read(
        tmp_path,
        f"num_ranks 4\nrank 0 {{\nl1: send 1b to 1 tag 0\n}}\nrank 1 {{\nl1: recv 1b from 0 tag 0\n{sends}}}\n{ends}",
    )
    assert trace.problems == ()
    assert [name for name, _ in calls(trace, 1)].count("MPI_Waitall") == 2


def test_operations_that_do_not_wait_for_each_other_begin_when_they_can(tmp_path):
    """Rank 0 would wait for the second message first if it went by the file, and rank 1 for a reply to the first."""
    first = "a: recv 1b from 1 tag 1\nb: recv 1b from 1 tag 2\nc: send 1b to 1 tag 3\nc requires b\n"
    first += "d: send 1b to 1 tag 4\nd requires a\n"
    second = (
        "a: send 1b to 0 tag 1\nb: recv 1b from 0 tag 4\nc: calc 5\nc requires b\nd: send 1b to 0 tag 2\n"
        "d requires c\ne: recv 1b from 0 tag 3\n"
    )
    trace = read(tmp_path, f"num_ranks 2\nrank 0 {{\n{first}}}\nrank 1 {{\n{second}}}\n")
    assert trace.problems == ()
    sends = trace.table(0)[["call", "tag"]].iloc[1:].itertuples(index=False, name=None)
    assert [tag for call, tag in sends if call == "MPI_Isend"] == [4, 3]
    assert calls_of(trace).calls.unmatched == []
    assert calls_of(trace).eager_limit == 0


def test_processors_compute_side_by_side(tmp_path):
    """Rank 0 computes from 0 to 30 and from 0 to 20; then from 30 on, while it waits for nothing."""
    calcs = "a: calc 30 cpu 0\nb: calc 20 cpu 1\nc: send 1b to 1\nc requires b\nd: calc 10 cpu 0\n"
    trace = read(tmp_path, f"num_ranks 2\nrank 0 {{\n{calcs}}}\nrank 1 {{\nrecv 1b from 0\n}}\n")
    assert calls(trace, 0) == [("MPI_Init", 0), ("MPI_Isend", 20), ("MPI_Waitall", 20), ("MPI_Finalize", 0)]


def test_receives_of_any_message_take_those_of_the_walk(tmp_path):
    receives = "a: recv 8b from -1 tag -1\nb: recv 8b from 2 tag -1\nc: recv 8b from -1 tag 0\nd: calc 1\n"
    receives += "".join(f"d requires {label}\n" for label in "abc")
    sends = "rank 1 {\na: calc 10\nb: send 3b to 0 tag 0\nb requires a\n}\nrank 2 {\nsend 4b to 0\na: calc 20\n"
    sends += "b: send 5b to 0\nb requires a\n}\n"
    trace = read(tmp_path, f"num_ranks 3\nrank 0 {{\n{receives}}}\n{sends}")
    ended = trace.events(0).ended[["source", "tag", "bytes"]].tolist()
    assert ended == [(2, 0, 4), (2, 0, 5), (1, 0, 3)]
    assert trace.table(0)[["source", "source_tag"]].iloc[1].tolist() == [ANY, ANY]


def test_operations_whose_messages_never_come_are_kept(tmp_path):
    rank = "a: recv 1b from -1\nb: calc 5\nb requires a\nc: send 2b to 1\nc requires b\n"
    trace = read(tmp_path, f"num_ranks 2\nrank 0 {{\n{rank}}}\nrank 1 {{\n}}\n")
    assert len(trace.problems) == 1
    assert "1 ranks, as rank 0, wait for messages that are not sent: 2 operations" in trace.problems[0]
    assert [name for name, _ in calls(trace, 0)] == [
        *("MPI_Init", "MPI_Irecv", "MPI_Waitall", "MPI_Isend", "MPI_Waitall", "MPI_Finalize")
    ]


@pytest.mark.parametrize("seed", range(3))
def test_a_walk_and_the_file_agree_where_all_waits_for_each_other(seed, tmp_path):
    """Schedules of exchanges in turn, as a replay writes them, and with one more rank that forces a walk."""
    trace = trace_of(next(iter(all_to_all(4 + seed, "pairwise", 100).schedules().values())), 8)
    export_trace(trace, tmp_path / "run.goal", Form.GOAL)
    text = (tmp_path / "run.goal").read_text().replace(f"num_ranks {4 + seed}", f"num_ranks {5 + seed}")
    (tmp_path / "walked.goal").write_text(f"{text}\nrank {4 + seed} {{\ncalc 1 cpu 0\ncalc 1 cpu 1\n}}\n")
    plain, walked = open_trace(tmp_path / "run.goal"), open_trace(tmp_path / "walked.goal")
    for rank in range(4 + seed):
        assert calls(walked, rank) == calls(plain, rank)


def test_what_is_whole_of_a_file_that_is_cut_off(tmp_path):
    trace = read(tmp_path, "num_ranks 3\nrank 0 {\nl1: send 8b to 1\n}\nrank 1 {\nl1: recv 8b from 0\n")
    assert trace.problems[0].endswith("a.goal is cut off at line 6, within rank 1")
    assert trace.problems[1] == "1 of 3 ranks are missing: 2"
    assert [name for name, _ in calls(trace, 1)] == ["MPI_Init", "MPI_Irecv", "MPI_Waitall", "MPI_Finalize"]


@pytest.mark.parametrize("end", ["l2: re", "l2: send 8b to 1"])
def test_a_statement_that_is_cut_off_is_left_out(end, tmp_path):
    """It may be whole, or one to rank 15."""
    trace = read(tmp_path, f"num_ranks 2\nrank 1 {{\n}}\nrank 0 {{\nl1: calc 5\n{end}")
    assert trace.problems == (f"{tmp_path / 'a.goal'} is cut off at line 6, within rank 0",)
    assert calls(trace, 0) == [("MPI_Init", 0), ("MPI_Finalize", 5)]
    assert read(tmp_path, "num_ranks 1\nrank 0 {\ncalc 5\n}").problems == ()


@pytest.mark.parametrize(
    ("body", "line", "text"),
    [
        ("l1: sned 8b to 1", 3, "'l1: sned 8b to 1' is no statement of GOAL"),
        ("l1: send 8b from 1", 3, "'send from': 'send to' and 'recv from' are allowed"),
        ("l1: send 8b to 2", 3, "rank '2': 0 to 1 are allowed"),
        ("l1: send 8b to 1 tag 4294967295", 3, "tag '4294967295': 0 to 2147483647 are allowed"),
        ("l1: calc 1\nl1: calc 1", 4, "label 'l1' is there already in rank 0"),
        ("l1: calc 1\nl1 requires l2", 4, "label 'l2' is not there yet in rank 0"),
        ("a: calc 1\nb: calc 1\na requires b\nb requires a\n}", 7, "2 operations depend on each other in a circle"),
        (f"l1: calc {'9' * 5000}", 3, "0 to 999999999999999999 are allowed"),
        ("\n".join(["calc 900000000000000000"] * 11) + "\n}", 14, "rank 0 computes for more than 292 years"),
        ("rank 1 {", 3, "'rank 1 {' is no statement of GOAL"),
        ("}\nrank 0 {", 4, "rank 0 is there already"),
        ("}\nrank 2 {", 4, "rank '2': 0 to 1 are allowed"),
        ("}\nnum_ranks 1", 4, "'num_ranks' is there already"),
    ],
)
def test_refused(body, line, text, tmp_path):
    with pytest.raises(InputError, match=f"a.goal:{line}: .*{re.escape(text)}"):
        read(tmp_path, f"num_ranks 2\nrank 0 {{\n{body}\n")


def test_refused_without_ranks(tmp_path):
    with pytest.raises(InputError, match=r"a\.goal:1: a rank in front of 'num_ranks N'"):
        read(tmp_path, "rank 0 {\n}\n")
    with pytest.raises(InputError, match="number of ranks '99999999': 1 to 16777216 are allowed"):
        read(tmp_path, "num_ranks 99999999\n")
    with pytest.raises(InputError, match="no rank of 2"):
        read(tmp_path, "num_ranks 2\n")
