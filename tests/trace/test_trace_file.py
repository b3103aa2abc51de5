"""Files of traces: what is written is read, also of a file that is cut off; others are refused with a reason."""

import lzma
import os
import struct
from dataclasses import replace

import numpy as np
import pytest

from tradewind.base.errors import InputError
from tradewind.trace.blocks import Reader, decode_times, encode_times
from tradewind.trace.builder import TraceBuilder, in_memory
from tradewind.trace.model import ANY, NONE, RankInfo
from tradewind.trace.read import open_trace
from tradewind.trace.sites import Site
from tradewind.trace.write import join, save_trace


def halo(steps, ranks=3):
    """Neighbors in a ring exchange in each step; times are drawn. Two threads, a communicator and a window."""
    random = np.random.default_rng(2026)
    builder = TraceBuilder(ranks, ["./model"])
    half = builder.communicator([2, 0])
    window = builder.window()
    for rank in range(ranks):
        each = builder.rank(rank)
        double = each.type(8)
        each.call("MPI_Win_create", created=window, bytes=96)
        if rank != 1:
            each.call("MPI_Comm_split", created=half)
            each.call("MPI_Allreduce", communicator=half, bytes=8, received=8, type=double, thread=1, gap_ns=100)
        east, west = (rank + 1) % ranks, (rank - 1) % ranks
        for _ in range(steps):
            gap, wait = random.lognormal(8, 0.1, 2).astype(int).tolist()
            each.call("MPI_Irecv", source=ANY, source_tag=0, received=80, request=0, gap_ns=gap, duration_ns=90)
            each.call(
                "MPI_Isend",
                peer=east,
                tag=0,
                bytes=80,
                request=1,
                type=double,
                gap_ns=40,
                duration_ns=400,
                site=each.site("/opt/model", 64 + rank, "ab12"),
            )
            each.call("MPI_Waitall", asked=[0, 1], ended=[(0, west, 0, 80), (1, NONE, NONE, 0)], duration_ns=wait)
        each.call("MPI_Alltoallv", bytes=24, received=24, blocks=[8] * ranks)
        each.counted["MPI_File_open"] = (2, 0.25)
    return builder.trace()


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "run.trace"
    save_trace(halo(100), path)
    return path


def test_what_is_written_is_read(saved):
    written, read = halo(100), open_trace(saved)
    assert (read.size, read.command, read.problems) == (3, ("./model",), ())
    assert [each.members.tolist() for each in read.communicators] == [[0, 1, 2], [2, 0]]
    assert read.windows[0].communicator == 0
    assert read.infos[2].counted == {"MPI_File_open": (2, 0.25)}
    for rank in range(3):
        before, after = written.events(rank), read.events(rank)
        assert np.array_equal(before.operations, after.operations)
        assert np.array_equal(before.order, after.order)
        assert np.array_equal(before.ended, after.ended)
        assert np.array_equal(before.blocks, after.blocks)
        assert np.array_equal(before.types, after.types)
        assert after.sites == before.sites == [Site("/opt/model", 64 + rank, "ab12")]
        np.testing.assert_allclose(after.end_ns - after.begin_ns, before.end_ns - before.begin_ns, rtol=1 / 256)


def test_the_order_of_threads_is_written_and_read(tmp_path):
    builder = TraceBuilder(2)
    for rank in (0, 1):
        builder.rank(rank).call("MPI_Barrier").call("MPI_Barrier", thread=1)
    trace = builder.trace()
    overtaken = np.array([0, 1], np.int32)
    events = {0: replace(trace.events(0), overtakers=overtaken), 1: trace.events(1)}
    infos = {0: RankInfo(thread_level="multiple", events=2), 1: RankInfo(thread_level="serialized", events=2)}
    save_trace(in_memory(2, infos, trace.communicators, events), tmp_path / "run.trace")
    read = open_trace(tmp_path / "run.trace")
    assert [read.events(rank).overtakers.tolist() for rank in (0, 1)] == [[0, 1], [0, 0]]
    assert [part.overtakers.tolist() for part in read.parts(0, 1)] == [[0], [1]]


def test_ranks_of_other_programs(tmp_path):
    """A communicator may have more ranks that were spawned than the program has."""
    groups = [NONE, NONE, 0, 1, NONE], [NONE] * 5
    builder = TraceBuilder(2)
    builder.communicator(groups[0], "MPI_Intercomm_merge", remote=np.array(groups[1], np.int32))
    save_trace(builder.trace(), tmp_path / "run.trace")
    world, found = open_trace(tmp_path / "run.trace").communicators
    assert (found.members.tolist(), found.remote.tolist()) == groups
    assert (world.is_whole, found.is_whole) == (True, False)


def test_parts_are_the_whole(saved):
    trace = open_trace(saved)
    parts = list(trace.parts(0, events=100))
    assert [part.first for part in parts] == [0, 100, 200, 300]
    assert np.array_equal(np.concatenate([part.begin_ns for part in parts]), trace.events(0).begin_ns)


def test_places_beyond_4_gigabytes(saved, tmp_path):
    """A block that readers do not know, and skip, is that long; the file has a hole there, and takes no room."""
    data, path = saved.read_bytes(), tmp_path / "long.trace"
    unknown, stored = 99, 2**32 - 1
    with path.open("wb") as file:
        file.write(data[:16] + struct.pack("<4sBBBBIIII", b"TWTB", unknown, 0, 1, 0, 0, stored, stored, 0))
        file.seek(stored, os.SEEK_CUR)
        file.write(data[16:])
    assert path.stat().st_size > 2**32
    trace = open_trace(path)
    assert trace.problems == ()
    assert len(trace) == len(open_trace(saved))


def test_a_long_loop_takes_little_more_room(tmp_path):
    """The order of the calls takes almost none; gaps and durations are kept, in less than 4 bytes per event."""
    sizes = []
    for steps in (100, 1000):
        save_trace(halo(steps, ranks=1), tmp_path / "run.trace")
        sizes.append((tmp_path / "run.trace").stat().st_size)
    assert (sizes[1] - sizes[0]) / (3 * 900) < 2.5
    order = [halo(steps, ranks=1).events(0).order.astype("<u4").tobytes() for steps in (100, 1000)]
    assert len(lzma.compress(order[1], preset=1)) < 2 * len(lzma.compress(order[0], preset=1))


def test_what_is_whole_of_a_file_that_is_cut_off_is_used(saved, tmp_path):
    """Wherever it ends: an error in front of the first rank, else a trace that names what is missing."""
    data = saved.read_bytes()
    description = Reader(saved).by_rank[0][0]
    described = description.at + description.stored
    events = set()
    for length in range(16, len(data), 97):
        (tmp_path / "cut.trace").write_bytes(data[:length])
        if length < described:
            with pytest.raises(InputError, match="is cut off before the first rank is described"):
                open_trace(tmp_path / "cut.trace")
            continue
        trace = open_trace(tmp_path / "cut.trace")
        assert trace.problems
        events.add(sum(len(trace.events(rank)) for rank in trace.ranks))
    assert {0, 304, 304 + 302, 304 + 302 + 304} >= events
    assert len(events) > 2


def of_ranks(trace, *ranks):
    return replace(trace, infos={rank: trace.infos[rank] for rank in ranks})


def test_ranks_that_are_missing(tmp_path):
    save_trace(of_ranks(halo(2), 0, 2), tmp_path / "t")
    assert open_trace(tmp_path / "t").problems == ("1 of 3 ranks are missing: 1",)


@pytest.mark.parametrize("begun", [b"", b"tradewind"])
def test_a_rank_that_has_written_nothing_is_missing(begun, tmp_path):
    """As one that was killed, or whose disk was full, once its file was made."""
    folder, joined = tmp_path / "ranks", tmp_path / "joined.trace"
    folder.mkdir()
    (folder / "rank-1.part").write_bytes(begun)
    with pytest.raises(InputError, match=r"no files of ranks \(rank-\*.part\), or they are empty"):
        open_trace(folder)
    save_trace(of_ranks(halo(2), 0, 2), folder / "rank-0.part")
    join(folder, joined, (), "")
    for path in (folder, joined):
        assert open_trace(path).problems == ("1 of 3 ranks are missing: 1",)


def test_refused(saved, tmp_path):
    other = tmp_path / "other.trace"
    other.write_text("no trace, but longer than a signature")
    with pytest.raises(InputError, match=r"other.trace: not a trace"):
        open_trace(other)
    data = bytearray(saved.read_bytes())
    data[16 + 6] = 2
    other.write_bytes(data)
    with pytest.raises(InputError, match="a trace of version 2: up to 1 are allowed; update Tradewind"):
        open_trace(other)
    data = bytearray(saved.read_bytes())
    data[16 + 24 + 3] ^= 255
    other.write_bytes(data)
    with pytest.raises(InputError, match="the block at byte 40 is damaged: its checksum differs"):
        open_trace(other)
    with pytest.raises(InputError, match="this folder has no files of ranks"):
        open_trace(tmp_path)
    with pytest.raises(InputError, match="cannot read trace"):
        open_trace(tmp_path / "none")


def test_codes_of_times():
    times = np.concatenate([np.arange(5000), np.geomspace(1, 1e15, 3000).astype(np.int64)])
    decoded = decode_times(encode_times(times))
    assert np.array_equal(decoded[:256], times[:256])
    assert np.all(np.abs(decoded - times) <= times / 256)
    assert np.array_equal(decode_times(encode_times(decoded)), decoded)
