"""Marks of events, and a picture that has them."""

from __future__ import annotations

import re

import pytest

from tradewind.base.errors import InputError
from tradewind.timeline import mark
from tradewind.timeline.model import Row, TimeLine, TraceEvent, Track
from tradewind.timeline.picture import picture


def line() -> TimeLine:
    """Two rows of a rank: a step, output, a step, input, and again."""
    names = ["step 0", "write", "step 1", "read", "step 2", "write"]
    events = [TraceEvent(name.split()[0], name, 100 * i, 100 * i + 90) for i, name in enumerate(names)]
    return TimeLine("a run", [Track(3, [Row("model", events), Row("writer", [TraceEvent("file", "file", 150, 290)])])])


def test_marks_are_those_of_the_next_events_of_their_names():
    found = line()
    mark(found, 3, {"A": "step", "B": "write", "C": "file", "D": "step", "E": "write"})
    marks = {event.mark: (event.name, event.begin_ns) for *_, event in found.events() if event.mark}
    assert marks == {
        "A": ("step 0", 0),
        "B": ("write", 100),
        "C": ("file", 150),
        "D": ("step 1", 200),
        "E": ("write", 500),
    }
    assert [event.details for *_, event in found.events() if event.mark == "A"] == [{"mark": "A"}]


@pytest.mark.parametrize(
    ("rank", "marks", "problem"),
    [
        (2, {"A": "step"}, "no rank 2 on the time line 'a run': it has [3]"),
        (3, {"A": "halo"}, "rank 3 has no event 'halo': A marks nothing"),
        (3, {"A": "read", "B": "file"}, "rank 3 has no event 'file' after A, at 3e-07 s: B marks nothing"),
    ],
)
def test_a_mark_without_an_event_is_refused(rank, marks, problem):
    with pytest.raises(InputError) as refused:
        mark(line(), rank, marks)
    assert str(refused.value) == problem


def test_marks_are_drawn_and_those_that_would_touch_together():
    found = line()
    crowd = [TraceEvent("step", f"short {i}", 600 + i, 601 + i) for i in range(3)]
    found.tracks[0].rows[0].events.extend(crowd)
    mark(found, 3, {"A": "step 0", "B": "file", "C": "short 0", "D": "short 1", "E": "short 2"})
    drawn = picture(found, ".svg").decode()
    texts = re.findall(r'mark: ([A-Z ]+)"[^>]*fill="black"', drawn)
    assert sorted(texts) == ["A", "B", "C D E"]
