"""Runs of many steps: memory and time of a step stay as they are."""

from __future__ import annotations

import pytest
from slow_tests import slow

pytest.importorskip("mpi4py.MPI")
pytest.importorskip("eccodes")

from tradewind import launch

PLAN = """
folder = "{folder}"
durable = false

[[sink]]
name = "steps"
format = "grib2"
path = "{{step}}.grib2"

[[rule]]
sink = "steps"
every = {every}
"""
MIB = 2**20


@pytest.mark.parametrize(
    ("servers", "every", "ends_all", "steps"),
    [(0, 2**31 - 1, False, 24_000), *slow((0, 50, True, 100_000), ("threads", 50, True, 100_000))],
)
def test_memory_and_time_of_a_step_do_not_grow(tmp_path, servers, every, ends_all, steps):
    """The first part fills what keeps the events of a time line."""
    plan = PLAN.format(folder=tmp_path / "out", every=every)
    moments = [steps // 2, 3 * steps // 4, steps]
    request = {"plan": plan, "servers": servers, "ends_all": ends_all, "moments": moments}
    half, later, end = launch.run(1, "server_cases:long_run", request, timeout_s=300)
    # A leak grows all the time; pages that the system joins to a huge one grow memory once, by 2 MiB.
    growth = min(later["bytes"] - half["bytes"], end["bytes"] - later["bytes"])
    assert growth < 0.75 * MIB, (half, later, end)
    if steps > 50_000:  # else a moment of the machine is a large part of it
        assert end["seconds"] - later["seconds"] < 1.5 * (later["seconds"] - half["seconds"])
