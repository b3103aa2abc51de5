"""Nothing hangs, nothing is lost: watchdog, checksums, threads, long messages, and where time went."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

pytest.importorskip("mpi4py.MPI")

from tradewind import _core, launch
from tradewind.base.errors import PlanError

WAITED_FOR = {
    "isend-irecv": r"receiving from rank 1 \(tag 0, \d+ bytes\)",
    "sendrecv": r"receiving from rank 1 \(tag 0, \d+ bytes\)",
    "even-odd": r"sending to rank 1 \(tag 0, \d+ bytes\)",
    "persistent": r"receiving from rank 1 \(tag 0, \d+ bytes\)",
    "put-fence": "all ranks to reach the fence",
    "put-notify": "the put of rank 1, the readiness of rank 1",
    "shared": "rank 1 to have its message ready",
    "alltoallv": "MPI_Alltoallv",
    "neighbor": "MPI_Neighbor_alltoallv",
}


@pytest.mark.parametrize("transport", WAITED_FOR)
def test_watchdog_says_who_waits_for_whom(transport):
    first, other = launch.run(2, "mpi_safety:one_waits", {"transport": transport, "synchronous": True}, timeout_s=240)
    begin = r"rank 0, stage 0 of transposition from .*, burst: after 0\.5 s still waiting for "
    assert re.match(begin + WAITED_FOR[transport], first)
    assert float(re.search(r"\[(\d+\.\d) s\]", first)[1]) < 120
    assert "; then a plan that has failed cannot be used again: make a new one" in first
    assert other == ""


def test_ranks_that_wait_for_each_other_are_all_named():
    with pytest.raises(PlanError) as error:
        launch.run(2, "mpi_safety:all_wait", None, timeout_s=240)
    lines = str(error.value).splitlines()
    assert [line[:6] for line in lines] == ["rank 0", "rank 1"]
    assert all("after 1 s still waiting for receiving from rank" in line for line in lines)


def test_rank_that_is_gone_and_nobody_has_noticed():
    with pytest.raises(PlanError, match=r"rank 0, stage 0 of .*: after 1 s still waiting for .* rank 1"):
        launch.run(2, "mpi_safety:one_stops", None, timeout_s=240)


def test_checksums_find_what_changed_on_the_way():
    assert launch.run(2, "mpi_safety:changed_on_the_way", False, timeout_s=240) == ["", ""]
    for rank, text in enumerate(launch.run(2, "mpi_safety:changed_on_the_way", True, timeout_s=240)):
        assert text.startswith(f"rank {rank}, stage 0 of transposition")
        assert f"the message of rank {1 - rank} (tag 0, " in text
        assert "is not what was sent: the checksums of its two ends differ" in text


def test_two_plans_in_two_threads():
    assert launch.run(2, "mpi_safety:two_threads", None, timeout_s=240) == [1.0] * 4


THREAD = """
import threading, numpy as np, mpi4py
mpi4py.rc.thread_level = {level!r}
from tradewind import _core, mpi
cells = _core.BrickGatherScatter((2, 1, 1), 2, (1, 1, 1), [False] * 3, "add")
plan = mpi.plan(cells, mpi.MPI.COMM_WORLD, np.zeros(16))  # which calls a plan
def work():
    try:
        plan()
        print("called")
    except Exception as error:
        print(error)
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""


@pytest.mark.parametrize(
    ("level", "text"),
    [
        ("funneled", "a plan was made or called by another thread than the one that started MPI"),
        ("serialized", "called"),
        ("multiple", "called"),
    ],
)
def test_thread_level(level, text):
    code = THREAD.format(level=level)
    done = subprocess.run(
        [sys.executable, "-c", code], env=dict(os.environ), capture_output=True, text=True, timeout=240, check=True
    )
    assert done.stdout.startswith(text)


@pytest.mark.parametrize("transport", [entry.name for entry in _core.transports() if not entry.on_devices])
def test_time_is_recorded(transport):
    for rank, found in enumerate(launch.run(2, "mpi_safety:recorded", transport, timeout_s=240)):
        seconds, events = found["seconds"], found["events"]
        assert set(seconds) == {"pack", "post", "copy", "wait", "unpack"}
        for name, total in seconds.items():
            assert total == pytest.approx(sum(e[5] - e[4] for e in events if e[0] == name), abs=1e-9)
        assert all(found["begin"] <= e[4] <= e[5] <= found["end"] for e in events)
        assert 0 < sum(seconds.values()) <= found["end"] - found["begin"]
        packs = [e for e in events if e[0] == "pack"]
        if "alltoallw" not in transport:
            assert [e[1:4] for e in packs] == [[0, 1 - rank, 12 // 2 * 10 * 4 // 2 * 8]]


@pytest.mark.slow
@pytest.mark.parametrize("method", [("isend-irecv", "datatype"), ("isend-irecv", "buffer"), ("put-fence", "datatype")])
def test_messages_of_more_than_2_gib(method):
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if free < 20e9:
        pytest.skip(f"needs 20 GB of memory, {free / 1e9:.0f} are free")
    transport, packing = method
    payload = {"transport": transport, "packing": packing}
    assert launch.run(2, "mpi_safety:more_than_2_gib", payload, timeout_s=300) == ["", ""]
