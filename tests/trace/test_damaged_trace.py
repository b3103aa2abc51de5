"""Damaged traces are one error, and never take more memory than their header may ask for."""

import json
import lzma
import tracemalloc
import zlib
from io import BytesIO

import numpy as np
import pytest

from tradewind.base.errors import InputError
from tradewind.launch.record import join_folder
from tradewind.trace.blocks import _HEADER, SIGNATURE, Coding, Kind, Reader, write
from tradewind.trace.builder import TraceBuilder
from tradewind.trace.calls import CALLS, NUMBERS
from tradewind.trace.read import STORED, open_trace
from tradewind.trace.write import save_trace

DESCRIPTION = {
    **{"rank": 0, "size": 2, "host": "a", "library": "b", "abi": "mpich", "thread_level": "single", "begin_ns": 0},
    "calls": [call.name for call in CALLS],
}
WORLD = {"communicator": 0, "parent": -1, "call": "", "members": [[0, 2]]}
RANGES = "ranges of ranks below 2, or of -1 for ranks of other programs, is allowed"
BARRIER = {"call": NUMBERS["MPI_Barrier"], "communicator": 0}


def operations(**fields):
    """Return the content of a block with one operation."""
    stored = np.zeros(1, STORED)
    for name, value in fields.items():
        stored[name] = value
    return np.array([1, 0, 0, 0], "<u4").tobytes() + stored.tobytes()


def trace_of(tmp_path, *changed, **contents):
    """Write a trace of one rank with one event; `contents` replace those of its blocks, `changed` come behind them."""
    plain = {
        "rank": DESCRIPTION,
        "definitions": WORLD,
        "operations": operations(**BARRIER),
        "order": np.zeros(1, "<u4").tobytes(),
        "gaps": np.full(1, 100, "<u2").tobytes(),
        "durations": np.full(1, 50, "<u2").tobytes(),
        "end": {"ending": "finalized", "end_sync_ns": 0, "counted": {}},
    }
    file = BytesIO()
    file.write(SIGNATURE)
    for name, content in (plain | contents).items():
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        write(file, Kind[name.upper()], 0, data, Coding.PLAIN)
    for block in changed:
        file.write(block)
    path = tmp_path / "run.trace"
    path.write_bytes(file.getvalue())
    return path


def block(kind, coding, stored, raw):
    return _HEADER.pack(b"TWTB", kind, coding, 1, 0, 0, len(stored), raw, zlib.adler32(stored)) + stored


def test_it_is_whole_where_nothing_is_changed(tmp_path):
    events = open_trace(trace_of(tmp_path)).events(0)
    assert (events.begin_ns.tolist(), events.end_ns.tolist()) == ([100], [150])


MIB = 1 << 20
BOMB = zlib.compress(bytes(64 * MIB))
WIDE = lzma.compress(b"x", format=lzma.FORMAT_XZ, filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 512 * MIB}])


@pytest.mark.parametrize(
    ("damaged", "text"),
    [
        (block(Kind.ORDER, Coding.XZ, b"", (1 << 32) - 4), "asks for 4294967292 bytes: up to 8388608 are allowed"),
        (block(Kind.ORDER, Coding.ZLIB, BOMB, 4 * MIB), "does not hold the 4194304 bytes that its header names"),
        (block(Kind.ORDER, Coding.XZ, WIDE, 1), "Memory usage limit exceeded"),
        (block(Kind.ORDER, Coding.ZLIB, b"no zlib", 8), "is damaged: Error -3 while decompressing data"),
        (block(Kind.ORDER, Coding.XZ, b"this is no xz", 16), "is damaged: Input format not supported by decoder"),
        (block(Kind.ORDER, Coding.ZLIB, zlib.compress(bytes(8))[:-4], 8), "does not hold the 8 bytes"),
        (block(Kind.ORDER, Coding.PLAIN, bytes(4096), 4), "asks for 4096 bytes"),
        (block(Kind.ORDER, 9, bytes(4), 4), "has the coding 9: 0 to 3 are allowed"),
        (block(Kind.ORDER, Coding.PLAIN, bytes(5), 5), "ends within a number"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_blocks_that_ask_for_what_they_do_not_have(damaged, text, tmp_path):
    rest = [block(kind, Coding.PLAIN, bytes(2), 2) for kind in (Kind.GAPS, Kind.DURATIONS)]
    path = trace_of(tmp_path, damaged, *rest)
    tracemalloc.start()
    with pytest.raises(InputError, match=f"run.trace: the block at byte [0-9]+ .*{text}"):
        open_trace(path).events(0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 12 * MIB


def test_times_of_other_events(tmp_path):
    path = trace_of(tmp_path, gaps=bytes(4))
    with pytest.raises(InputError, match="it has other events"):
        open_trace(path).events(0)
    for coding in (Coding.PLAIN, Coding.BY_OPERATION):
        stored = bytes(6) if coding == Coding.PLAIN else zlib.compress(bytes(6))
        more = [block(Kind.ORDER, Coding.PLAIN, bytes(4), 4), block(Kind.GAPS, coding, stored, 6)]
        path = trace_of(tmp_path, *more, block(Kind.DURATIONS, Coding.PLAIN, bytes(2), 2))
        with pytest.raises(InputError, match=r"it has other events|it does not have the times"):
            open_trace(path).events(0)
    with pytest.raises(InputError, match="it has times of centuries"):
        open_trace(trace_of(tmp_path, gaps=b"\xff\xff")).events(0)
    long = np.full(1, (56 << 7) - 1, "<u2").tobytes()
    three = [block(kind, Coding.PLAIN, data, len(data)) for kind, data in ((5, bytes(4)), (6, long), (7, long))] * 2
    with pytest.raises(InputError, match="rank 0: its calls take longer than 292 years"):
        open_trace(trace_of(tmp_path, *three, gaps=long, durations=long)).events(0)


def test_calls_are_overtaken_by_events_that_are_there(tmp_path):
    for overtakers, text in ((np.ones(1, "<u4"), "overtaken by more than there are"), (np.zeros(2, "<u4"), "other")):
        with pytest.raises(InputError, match=text):
            open_trace(trace_of(tmp_path, overtakers=overtakers.tobytes())).events(0)


@pytest.mark.parametrize(
    ("contents", "text"),
    [
        ({"rank": b"{"}, "description of rank 0: not JSON"),
        ({"rank": b"[" * 100_000}, "description of rank 0: not JSON"),
        ({"rank": b"\xff"}, "description of rank 0: not JSON"),
        ({"rank": [1]}, r"description of rank 0: \[1\]: an object is allowed"),
        ({"rank": DESCRIPTION | {"size": 1 << 40}}, "'size' is 1099511627776: a number from 1 to 16777216 is allowed"),
        ({"rank": DESCRIPTION | {"rank": 1}}, "rank 0 is described as 1 of 2"),
        ({"rank": DESCRIPTION | {"host": 7}}, "'host' is 7: a text is allowed"),
        ({"rank": {"rank": 0}}, "no 'size', which is a number from 1 to 16777216"),
        ({"end": {"counted": {"a": [1]}}}, "'counted' is .*: calls and nanoseconds by name is allowed"),
        ({"definitions": b"{}\n"}, "definition 1: no 'communicator', which is a whole number"),
        ({"definitions": WORLD | {"members": [[0, 2_000_000_000]]}}, RANGES),
        ({"definitions": WORLD | {"members": [[0, 2]] * 9}}, RANGES),
        ({"definitions": WORLD | {"members": [[-1, 2_000_000_000]]}}, RANGES),
        ({"definitions": WORLD | {"members": [[-2, 1]]}}, RANGES),
        ({"definitions": WORLD | {"sources": [9]}}, "'sources' is .*: a list of a number from -2 to 1s is allowed"),
        (
            {"definitions": {"window": 0, "communicator": 3, "call": ""}},
            "window 0 has a communicator",
        ),
        ({"definitions": {"type": 0, "size": 1 << 70, "extent": 8, "derived": 0}}, "a whole number is allowed"),
        ({"operations": operations(call=9999)}, "rank 0: an operation has a function that is not named"),
        ({"operations": operations(**BARRIER | {"communicator": (1 << 31) - 1})}, "names communicator 2147483647"),
        ({"operations": operations(**BARRIER, asked=1)}, "the lists of its operations do not fit: asked"),
        ({"operations": operations(**BARRIER)[:-1]}, "a block of operations is damaged: it has 95 bytes"),
        ({"operations": b"no"}, "a block of operations is damaged: it has 2 bytes"),
        ({"operations": np.full(4, (1 << 32) - 1, "<u4").tobytes()}, "a block of operations is damaged"),
        ({"operations": operations(**BARRIER, site=1)}, "an operation has call site 1, which is not described"),
        ({"sites": {"site": 2, "object": 0, "offset": 64}}, "line 1 of its call sites: 'site' is 2: 1 is allowed"),
        ({"sites": {"site": 1, "object": 7, "offset": 64}}, "'object' is 7, which no line before it describes"),
        ({"sites": {"site": 1, "object": 0, "offset": -1}}, "'offset' is -1: a number from 1 to [0-9]+ is allowed"),
        ({"sites": {"object": 0, "path": 7, "build_id": ""}}, "'path' is 7: a text is allowed"),
        ({"sites": b"["}, "line 1 of its call sites: not JSON"),
        ({"order": np.full(1, 7, "<u4").tobytes()}, "an event has an operation that is missing"),
    ],
)
def test_contents_that_cannot_be(contents, text, tmp_path):
    path = trace_of(tmp_path, **contents)
    with pytest.raises(InputError, match=f"run.trace: .*{text}"):
        open_trace(path).events(0)


def test_ranks_of_different_programs(tmp_path):
    """Joined, they are an error, too, and stay."""
    folder = tmp_path / "ranks"
    folder.mkdir()
    for rank, size in ((0, 2), (1, 3)):
        save_trace(TraceBuilder(size).trace(), tmp_path / "run.trace")
        reader = Reader(tmp_path / "run.trace")
        with (folder / f"rank-{rank}.part").open("wb") as file:
            file.write(SIGNATURE)
            for each in reader.by_rank[rank]:
                if each.kind not in (Kind.GAPS, Kind.DURATIONS, Kind.ORDER):
                    write(file, Kind(each.kind), rank, reader.content(each), Coding.PLAIN)
    for made in (lambda: open_trace(folder), lambda: join_folder(folder, tmp_path / "joined.trace")):
        with pytest.raises(InputError, match="ranks of programs of 2 and of 3 ranks: one program is allowed"):
            made()
    assert len(list(folder.iterdir())) == 2


def test_clocks_that_go_at_other_rates(tmp_path):
    end = {"ending": "finalized", "counted": {}}
    other = DESCRIPTION | {"rank": 1, "host": "other"}
    file = BytesIO()
    for kind, content in ((Kind.RANK, other), (Kind.DEFINITIONS, WORLD), (Kind.END, end | {"end_sync_ns": 1000})):
        write(file, kind, 1, json.dumps(content).encode(), Coding.PLAIN)
    trace = open_trace(trace_of(tmp_path, file.getvalue(), end=end | {"end_sync_ns": 1_000_000}))
    with pytest.raises(InputError, match="rank 1: the clock of host 'other' goes 1000 times as fast"):
        trace.events(1)


def test_a_long_trace_is_read_in_the_memory_of_a_short_one(tmp_path):
    """Part by part: three blocks of events, and twelve."""
    order = np.zeros(1 << 18, "<u4")
    some = np.random.default_rng(1).integers(0, 1 << 12, len(order)).astype("<u2").tobytes()
    peaks = []
    for repeats in (3, 12):
        file = BytesIO()
        for _ in range(repeats):
            write(file, Kind.ORDER, 0, order.tobytes(), Coding.XZ)
            write(file, Kind.GAPS, 0, some, Coding.PLAIN)
            write(file, Kind.DURATIONS, 0, some, Coding.PLAIN)
        path = trace_of(tmp_path, file.getvalue())
        del file
        tracemalloc.start()
        trace = open_trace(path)
        assert sum(len(part) for part in trace.parts(0, 1 << 18)) == 1 + repeats * len(order) == len(trace)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]
