"""Input that a server reads ahead of a model, in the order of the source's time line."""

from __future__ import annotations

import numpy as np
import pytest
import xarray
from server_cases import whole

pytest.importorskip("mpi4py.MPI")
pytest.importorskip("eccodes")

from tradewind import launch

PLAN = """
folder = "{folder}"
durable = false

[[sink]]
name = "first"
format = "grib2"
path = "a-{{step}}.grib2"

[[sink]]
name = "second"
format = "grib2"
path = "b-{{step}}.grib2"

[[sink]]
name = "third"
format = "netcdf"
path = "c-{{step}}.nc"

[[rule]]
sink = ["first", "second", "third"]
"""


def inputs(folder, count=3):
    """Input files, which another library has written."""
    paths = []
    for number in range(count):
        values = whole("t", number, 3, 96).reshape(1, 3, 8, 12)
        paths.append(str(folder / f"input-{number}.nc"))
        xarray.Dataset({"t": (("time", "level", "latitude", "longitude"), values)}).to_netcdf(
            paths[-1], engine="netcdf4"
        )
    return paths


def test_another_server_reads_for_one_that_has_stopped(tmp_path):
    request = {"plan": f'patience = "5s"\n{PLAN.format(folder=tmp_path / "out")}', "inputs": inputs(tmp_path, 4)}
    found = launch.run(3, "server_cases:reading_from_a_stopped_server", request, timeout_s=240)
    assert found["right"] == [True] * 4
    assert [(each["server"], each["by"]) for each in found["taken_over"]] == [(1, "server 0")]


def test_the_order_of_the_time_line(tmp_path):
    paths = inputs(tmp_path)
    request = {"plan": PLAN.format(folder=tmp_path / "out"), "inputs": paths}
    found = launch.run(3, "server_cases:time_line", request, timeout_s=240)
    assert found["read"] == [[True, True, True]] * 2
    (server,) = found["figures"]["writers"]
    at = {name: (begin, end) for name, begin, end in found["model"]}
    reads = {name.removeprefix("read "): (begin, end) for name, begin, end in server["read_events"]}
    sends = {name: (begin, end) for name, begin, end in server["receive_events"]}
    writes = [event for event in server["events"] if event[0] == "finish 0"]
    collects = [event for event in server["receive_events"] if event[0].startswith("collect")]
    first, second, third = paths
    # A, 1, 2: the model asks, and waits for the confirmation; then both files are read.
    asked = [event for event in found["model"] if event[0] == "prefetch"]
    assert asked[0][2] < at[f"read t of {first}"][0]
    assert asked[0][1] < reads[second][1]
    assert reads[first][1] <= reads[second][0]
    # B, 3: both are sent.
    assert reads[second][1] < sends[f"send t of {second}"][1]
    assert sends[f"send t of {second}"][0] < at["write t 0"][0]  # its end, as the server sees it, may come later
    # C, D, 4: after the step the output is collected, that of all three files.
    assert sends[f"send t of {second}"][1] < collects[0][1]
    assert at["write t 0"][0] < collects[0][1]
    # E, 5, 6: to store and to read ahead are asked for; the server writes, then reads.
    assert at["end step 0"][0] < asked[1][1]
    assert collects[0][1] < writes[0][2] <= reads[third][0]
    # F, 7: the input is sent when it is asked for. G, H, 8: a step, and output again.
    assert reads[third][1] < sends[f"send t of {third}"][1]
    assert at[f"read t of {third}"][1] <= at["write t 1"][0]
    assert sends[f"send t of {third}"][1] <= collects[1][1]
    assert sorted(path.name for path in (tmp_path / "out").glob("*-*")) == [
        f"{letter}-{step}.{'nc' if letter == 'c' else 'grib2'}" for letter in "abc" for step in range(2)
    ]
    assert np.isfinite(found["figures"]["blocked_s"])
