"""`verify trace`, `simulate trace` and `advise trace` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import run_tradewind

from tradewind.trace.builder import TraceBuilder
from tradewind.trace.model import ANY, NONE
from tradewind.trace.write import save_trace


@pytest.fixture(scope="module")
def head_to_head(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two ranks send before they receive; one puts, which is not replayed."""
    builder = TraceBuilder(2)
    window = builder.window()
    for rank in (0, 1):
        calls = builder.rank(rank).call("MPI_Init")
        site = calls.site("/opt/model", 0x40) if rank == 1 else NONE
        calls.call("MPI_Send", gap_ns=1000, peer=1 - rank, tag=0, bytes=2000, site=site)
        calls.call("MPI_Recv", source=1 - rank, source_tag=0, received=2000)
    builder.rank(0).call("MPI_Put", peer=1, bytes=64, window=window)
    path = tmp_path_factory.mktemp("traces") / "head.trace"
    save_trace(builder.trace(), path)
    return path


def test_what_needs_buffers_has_exit_code_1(head_to_head: Path) -> None:
    done = run_tradewind("verify", "trace", str(head_to_head), "--json")
    found = json.loads(done.out)
    assert (done.code, found["eager_limit"], found["not_replayed"]) == (1, 2000, {"MPI_Put": 1})
    printed = " ".join(run_tradewind("verify", "trace", str(head_to_head)).out.split())
    assert "hangs unless messages of up to 1.95 KiB are buffered (2000 bytes)" in printed
    assert "rank 0, call 1 (MPI_Send): to send 1.95 KiB to rank 1" in printed
    assert "rank 1, call 1 (MPI_Send in model+0x40): to send 1.95 KiB to rank 0" in printed
    assert "not checked: 1 MPI_Put" in printed


def test_other_matchings_and_requests_that_nobody_waits_for_are_named(tmp_path: Path) -> None:
    builder = TraceBuilder(3)
    first = builder.rank(0)
    first.call("MPI_Recv", source=ANY, source_tag=0, received=8, ended=[(NONE, 2, 0, 8)])
    first.call("MPI_Irecv", source=1, source_tag=0, received=8, request=0)
    first.call("MPI_Wait", asked=[0], ended=[(0, 1, 0, 8)])
    builder.rank(1).call("MPI_Isend", peer=0, tag=0, bytes=8, request=0)
    builder.rank(2).call("MPI_Send", peer=0, tag=0, bytes=8)
    path = tmp_path / "any.trace"
    save_trace(builder.trace(), path)
    done = run_tradewind("verify", "trace", str(path))
    printed = " ".join(done.out.split())
    assert done.code == 1
    assert "never waited for: rank 1, call 0 (MPI_Isend)" in printed
    assert "the program hangs whatever is buffered: rank 0, call 0 (MPI_Recv) takes the message of rank 1" in printed
    assert "rank 0, call 2 (MPI_Wait): to receive" in printed


def test_a_trace_that_is_cut_is_not_verified(tmp_path: Path) -> None:
    builder = TraceBuilder(2)
    for rank, ending in enumerate(("killed", "full")):
        builder.rank(rank).ending = ending
    builder.rank(0).call("MPI_Send", peer=1, tag=0, bytes=8)
    path = tmp_path / "cut.trace"
    save_trace(builder.trace(), path)
    done = run_tradewind("verify", "trace", str(path))
    printed = " ".join(done.out.split())
    assert done.code == 1
    assert "as far as it was recorded: the program ends" in printed
    assert "rank 0, call 0 (MPI_Send): it was killed" in printed
    assert "rank 1, without a call: its disk was full" in printed
    assert "the other ends of 1 sends and receives would stand there" in printed
    found = json.loads(run_tradewind("verify", "trace", str(path), "--json").out)
    assert (found["cut_ranks"], len(found["problems"])) == (2, 2)
    replayed = run_tradewind("simulate", "trace", str(path), "--machine", "fugaku").out
    assert "warning: 1 sends and receives, also of collective calls, are not replayed" in " ".join(replayed.split())


def test_a_replay_is_of_the_changed_program(head_to_head: Path) -> None:
    options = ["--machine", "fugaku", "--merge", "4KiB", "--overlap", "both"]
    printed = " ".join(run_tradewind("simulate", "trace", str(head_to_head), *options).out.split())
    assert "messages merged up to 4 KiB, overlap of both" in printed


def test_a_replay_names_causes_and_what_it_leaves_out(head_to_head: Path) -> None:
    found = json.loads(run_tradewind("simulate", "trace", str(head_to_head), "--machine", "fugaku", "--json").out)
    assert (found["trace"], found["messages"], found["bytes"]) == ("head.trace", 2, 4000)
    assert found["not_replayed"]["bytes"] == {"MPI_Put": 64}
    printed = " ".join(run_tradewind("simulate", "trace", str(head_to_head), "--machine", "fugaku").out.split())
    assert "warning: not replayed: 1 MPI_Put (64 B)" in printed
    assert "made of computing 1 us" in printed
    assert "critical path over 2 ranks: computing" in printed


def test_a_replay_draws_its_time_line_beside_the_recorded_run(head_to_head: Path, tmp_path: Path) -> None:
    file = tmp_path / "both.pftrace"
    options = ["--timeline", str(file), "--timeline-ranks", "1"]
    done = run_tradewind("simulate", "trace", str(head_to_head), "--machine", "fugaku", *options)
    assert f"time line: {file}" in done.out
    content = file.read_bytes()
    assert all(
        name in content for name in (b"rank 1", b"recorded", b"replay", b"critical path", b"MPI_Recv", b"model+0x40")
    )
    assert b"rank 0" not in content


def test_advice_is_a_table_of_what_was_tried(head_to_head: Path) -> None:
    done = run_tradewind("advise", "trace", str(head_to_head), "--machine", "fugaku")
    assert "placement random" in done.out
    assert "if messages took no time" in " ".join(done.out.split())


def test_bad_input_is_one_error(tmp_path: Path, head_to_head: Path) -> None:
    none = tmp_path / "none.trace"
    for file, options, text in (
        (none, [], str(none)),
        (head_to_head, ["--computing", "-1"], "computing scaled by -1"),
        (head_to_head, ["--allreduce", "rinq"], "ring"),
        (head_to_head, ["--merge", "4 apples"], "a size"),
        (head_to_head, ["--overlap", "wait"], "overlap 'wait'"),
    ):
        done = run_tradewind("simulate", "trace", str(file), "--machine", "fugaku", *options)
        assert done.code == 2
        assert text in " ".join(done.err.split())


def test_a_trace_is_exported_and_read_back(head_to_head: Path, tmp_path: Path) -> None:
    for name in ("run.goal", "run.ti", "run.trace"):
        done = run_tradewind("export", "trace", str(head_to_head), "-o", str(tmp_path / name), "--json")
        found = json.loads(done.out)
        assert (done.code, found["ranks"], found["form"]) == (0, 2, name.partition(".")[2])
        again = json.loads(run_tradewind("verify", "trace", str(tmp_path / name), "--json").out)
        assert (again["eager_limit"], again["messages"]) == (2000, 2)
    printed = run_tradewind("export", "trace", str(head_to_head), "-o", str(tmp_path / "run.goal")).out
    assert "2 ranks, 2 messages, 3.91 KiB" in printed
    assert "warning: not replayed: 1 MPI_Put (64 B)" in " ".join(printed.split())


def test_what_is_missing_of_a_trace_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "cut.goal").write_text("num_ranks 1\nrank 0 {\ncalc 7\n")
    done = run_tradewind("verify", "trace", str(tmp_path / "cut.goal"))
    assert done.code == 0
    assert "cut.goal is cut off at line 3, within rank 0" in " ".join(done.err.split())
    done = run_tradewind("export", "trace", str(tmp_path / "cut.goal"), "-o", str(tmp_path / "a.x"))
    assert done.code == 2
    assert "which form?" in done.err


def test_patterns_are_written_as_a_file_that_scales(tmp_path: Path) -> None:
    builder = TraceBuilder(4)
    for rank in range(4):
        calls = builder.rank(rank).call("MPI_Barrier")
        for _ in range(3):
            calls.call("MPI_Allreduce", gap_ns=5000, bytes=800, received=800)
    save_trace(builder.trace(), tmp_path / "sums.trace")
    command = ["show", "trace", str(tmp_path / "sums.trace"), "-o", str(tmp_path / "sums.toml")]
    found = json.loads(run_tradewind(*command, "--json").out)
    assert (found["steps"], found["explained"]["share_of_bytes"]) == (3, 1.0)
    assert found["not_explained"] == [{"call": "MPI_Barrier", "why": "no pattern", "bytes_each": 0, "messages": 4}]
    printed = " ".join(run_tradewind(*command).out.split())
    assert "75.0 % of 16 messages and 100.0 % of 9.38 KiB are in these steps; a rank computes" in printed
    assert "not in them: 4 MPI_Barrier of 0 B: no pattern" in printed
    proved = run_tradewind("verify", "program", str(tmp_path / "sums.toml"), "--ranks", "64", "--json")
    assert json.loads(proved.out)["messages"] == 3 * 64 * 6


def test_no_pattern_is_no_file(tmp_path: Path, head_to_head: Path) -> None:
    done = run_tradewind("show", "trace", str(head_to_head), "-o", str(tmp_path / "none.toml"), "--grid", "8x8x0")
    assert (done.code, "grid 8x8x0: 1 or more" in done.err) == (2, True)
    builder = TraceBuilder(1)
    builder.rank(0).call("MPI_Init")
    save_trace(builder.trace(), tmp_path / "empty.trace")
    done = run_tradewind("show", "trace", str(tmp_path / "empty.trace"), "-o", str(tmp_path / "none.toml"))
    assert (done.code, "no pattern was recognised" in " ".join(done.err.split())) == (2, True)
