"""The time line of ranks with their servers: kinds of events, clocks, and the first part of a long one."""

from __future__ import annotations

from tradewind.fieldserver.server.time_line import Rows, first_part, time_line
from tradewind.timeline.clock import Clock

MODEL = Rows({"model": [("step 1", 10.0, 11.0), ("write t 1", 11.0, 11.5), ("end step 1", 11.5, 11.75)]}, [])
SERVER = Rows(
    {
        "model": [],
        "server": [("collect 2", 111.25, 111.5)],
        "writer": [("write t 1", 111.5, 113.0), ("finish 1", 113.0, 113.5)],
        "reader": [("read in.nc", 112.5, 113.0)],
    },
    [(111.5, 800), (113.5, 0)],
)


def test_rows_of_ranks_and_servers_on_one_clock():
    line = time_line([MODEL, SERVER], [Clock(), Clock(-100.0)], "a run")
    assert [[row.name for row in track.rows] for track in line.tracks] == [["model"], ["server", "writer", "reader"]]
    found = [(row.name, event.kind, event.begin_ns, event.end_ns) for _, row, event in line.events()]
    assert found == [
        ("model", "step", 0, 10**9),
        ("model", "hand over", 10**9, 1_500_000_000),
        ("model", "hand over", 1_500_000_000, 1_750_000_000),
        ("server", "collect", 1_250_000_000, 1_500_000_000),
        ("writer", "encode and write", 1_500_000_000, 3 * 10**9),
        ("writer", "let files appear", 3 * 10**9, 3_500_000_000),
        ("reader", "read ahead", 2_500_000_000, 3 * 10**9),
    ]
    (waiting,) = line.counters
    assert waiting.values == [(0, 0.0), (1_500_000_000, 800.0), (3_500_000_000, 0.0)]


def test_a_picture_shows_the_first_part_of_a_long_run():
    events = [(f"step {n}", float(n), n + 0.5) for n in range(5000)]
    line = time_line([Rows({"model": events}, [])], [Clock()], "a run")
    shown = first_part(line)
    assert len(list(shown.events())) == 4000
    assert shown.title == "a run, the first 4e+03 s"
    assert first_part(shown) is shown
