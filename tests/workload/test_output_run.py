"""Output beside a model's steps: simulated times against sums by hand, order, no deadlock."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from tradewind.base.errors import InputError
from tradewind.simulation import simulate
from tradewind.verification.order import check_order
from tradewind.workload.output_run import OutputRun

POINTS, STEPS, INTERVALS, FIELDS = 24 * 20 * 12, 4, 5, 3
ENCODE, DISK, POINT_S = 1e7, 5e6, 1e-6
RATES = {"files.encode_rate": "10MB/s", "files.compress_rate": "20MB/s", "files.disk_bandwidth": "5MB/s"}
VALUES = POINTS * FIELDS
ENCODE_S, DISK_S = VALUES * 8 / ENCODE, VALUES * 2 / DISK
RUN: dict[str, Any] = {"grid": (24, 20, 12), "ranks": 8, "point_time": "1us", "fields": FIELDS, "dtype": "f8"}
RUN |= {"bits": 16, "compress": 1.0, "steps_between": STEPS, "intervals": INTERVALS}


def run(**changed: Any) -> OutputRun:
    return OutputRun(**{**RUN, **changed})


def times(asked: OutputRun) -> tuple[float, float, dict[str, float]]:
    """The time of the run, that in which the model does not compute, and the ends of steps."""
    result = simulate(asked.program(), "nec-sx6", settings=RATES, ranks_per_node=3)
    return result["time_s"], asked.derived(result)["blocked_s"], result["step_end_s"]


def test_without_output_a_run_is_the_work_of_its_busiest_rank():
    time_s, blocked_s, _ = times(run(way="none", ranks=7))  # 7 x 1: four points of x at most
    assert time_s == pytest.approx(INTERVALS * STEPS * 4 * 20 * 12 * POINT_S, rel=1e-3)
    assert blocked_s < 1e-3


def test_in_place_the_model_waits_for_its_writer():
    time_s, blocked_s, _ = times(run(way="in place", writers=1))
    assert blocked_s == pytest.approx(INTERVALS * (ENCODE_S + DISK_S), rel=0.01)
    assert time_s == pytest.approx(INTERVALS * STEPS * POINTS * POINT_S / 8 + blocked_s)


def test_writers_share_encoding_and_not_the_disk():
    _, levels_s, _ = times(run(way="in place", writers=4))
    assert levels_s == pytest.approx(INTERVALS * (ENCODE_S / 4 + DISK_S), rel=0.01)
    _, rows_s, _ = times(run(way="collective", writers=4))
    assert rows_s == pytest.approx(levels_s, rel=0.01)
    _, uneven_s, _ = times(run(way="collective", writers=8))  # 3 of 20 rows each: one has as much as 20 / 3 would
    assert uneven_s == pytest.approx(INTERVALS * 3 / 20 * 8 * (ENCODE_S / 8 + DISK_S), rel=0.01)


def test_servers_that_keep_up_cost_the_model_their_ranks_and_no_wait():
    asked = run(way="servers", servers=2, threads=4, steps_between=200)
    time_s, blocked_s, ends = times(asked)
    work_s = INTERVALS * 200 * POINTS / 6 * POINT_S
    assert asked.work_s == pytest.approx(work_s)
    assert blocked_s < 0.01 * work_s
    assert ends["model: end"] < ends[f"writers: write {INTERVALS - 1}"] + work_s
    assert time_s == pytest.approx(work_s, rel=0.01)


@pytest.mark.parametrize("queue", [1, 2, 3])
def test_late_servers_block_the_model_as_soon_as_the_queue_is_full(queue):
    time_s, blocked_s, _ = times(run(way="servers", servers=2, queue=queue))
    write_s, step_s = ENCODE_S / 2 + DISK_S, POINTS / 6 * POINT_S
    assert time_s == pytest.approx(step_s + INTERVALS * write_s, rel=0.01)
    # The last output leaves when the one `queue` before it is written, and the other steps of its interval follow.
    ends_s = STEPS * step_s + (INTERVALS - queue) * write_s
    assert blocked_s == pytest.approx(ends_s - INTERVALS * STEPS * step_s, rel=0.02)


def test_threads_slow_the_model_while_they_write():
    plain = run(way="threads", writers=1, steps_between=400)
    slowed = run(way="threads", writers=1, steps_between=400, slowdown=0.5)
    difference_s = times(slowed)[0] - times(plain)[0]
    assert difference_s == pytest.approx(INTERVALS * 0.5 * (ENCODE_S + DISK_S), rel=0.05)
    always = times(run(way="threads", writers=1, slowdown=0.5))[2]["model: slower 0"]
    assert always >= 1.5 * STEPS * POINTS / 8 * POINT_S  # they write all the time, and slow it no more than that


def test_the_order_is_that_of_hirlam():
    _, _, ends = times(run(way="servers", servers=2, input_fields=2, queue=1, intervals=3, steps_between=400))
    order = ("model: ask to read ahead", "writers: read 0", "writers: read 1", "model: input 1", "model: first step 0")
    order += ("writers: collect 0", "writers: write 0", "writers: read 2", "model: steps 0", "model: first step 1")
    order += ("writers: collect 1", "writers: write 1", "writers: read 3", "model: steps 1", "writers: collect 2")
    assert all(ends[before] <= ends[after] for before, after in pairwise(order))


@pytest.mark.parametrize("way", ["none", "in place", "collective", "threads", "servers"])
@pytest.mark.parametrize("input_fields", [0, 2])
def test_no_order_of_steps_can_deadlock(way, input_fields):
    servers = {"servers": 3} if way == "servers" else {"writers": 2}
    for queue in (1, 2, 3):
        check_order(run(way=way, input_fields=input_fields, queue=queue, **servers).program(), [])


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"way": "server"}, "did you mean 'servers'"),
        ({"way": "servers", "servers": 8}, "8 servers of 8 ranks"),
        ({"way": "servers", "servers": 37, "ranks": 60}, "37 writers of 36 levels of 3 fields"),
        ({"way": "in place", "writers": 9}, "9 writers of 8 ranks"),
        ({"way": "collective", "writers": 21, "ranks": 24}, "21 writers of 20 rows"),
        ({"way": "none", "ranks": 31}, "31 ranks of the model: no split"),
        ({"way": "none", "grid": (0, 1, 1)}, "grid 0x1x1"),
        ({"way": "none", "point_time": "1000s"}, "s of work"),
        ({"way": "in place", "writers": 1, "fields": 2**30}, "too many points"),
    ],
)
def test_what_cannot_be_is_said(changed, expected):
    asked = run(**changed)
    assert expected in "; ".join(asked.problems())
    with pytest.raises(InputError):
        asked.program()


def test_missing_rates_are_named():
    with pytest.raises(InputError, match=r"no files\.encode_rate"):
        simulate(run(way="threads", writers=1, slowdown=0.1).program(), "nec-sx6")
