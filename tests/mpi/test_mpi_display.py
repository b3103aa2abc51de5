"""Plans in a notebook."""

from __future__ import annotations

import pytest

pytest.importorskip("mpi4py.MPI")

from tradewind import launch


def test_a_plan_is_a_table_of_what_its_rank_sends():
    rows = launch.run(2, "plan_table:rows", None, timeout_s=240)
    times = {name: rows.pop(name) for name in list(rows) if name.startswith("time of ")}
    assert rows == {
        "exchange": "halo of width 1, periodic in x, sweep",
        "transport": "isend-irecv",
        "packing": "buffer",
        "sent by this rank per call": "2 messages, 128 B",
        "state": "not started",
    }
    assert {"time of pack", "time of wait"} <= times.keys()
