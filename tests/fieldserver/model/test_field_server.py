"""Models of some ranks, from whose layouts fields come whole to their writers, in all ways to write."""

from __future__ import annotations

from itertools import count

import netCDF4
import pytest
import server_cases
import xarray
from output_plans import T, values
from server_cases import POINTS, SPECTRUM, whole

pytest.importorskip("mpi4py.MPI")
pytest.importorskip("eccodes")

from mpi4py import MPI

import tradewind as tw
from tradewind import launch
from tradewind.fieldserver.files.manifest import Manifest, check
from tradewind.fieldserver.model import field_server
from tradewind.fieldserver.plan.plan_file import load_plan

PLAN = """
folder = "{folder}"
durable = false
start = 2026-11-27T00:00:00
step = "60s"
{more}

[[sink]]
name = "messages"
format = "grib2"
path = "{{step}}.grib2"
packing = "ieee"
precision = "f8"

[[sink]]
name = "one_by_one"
format = "netcdf"
path = "nc/{{name}}-{{step}}.nc"

[[sink]]
name = "archive"
format = "zarr"
path = "run.zarr"

[[rule]]
fields = ["t", "q"]
sink = "messages"
every = 2

[[rule]]
sink = ["one_by_one", "archive"]

[field]
t = {{ grib = "t" }}
q = {{ grib = "q" }}
"""
FIELDS = {"t": (3, 96), "q": (1, POINTS), "vo": (2, (SPECTRUM + 1) * (SPECTRUM + 2)), "h": (2, POINTS)}


def read_back(folder, steps):
    """Compare every file with what was written."""
    store = xarray.open_zarr(folder / "run.zarr", chunks=None).load()
    assert store.sizes["time"] == len(steps)
    for place, step in enumerate(steps):
        for name, (levels, points) in FIELDS.items():
            wanted = whole(name, step, levels, points)
            with netCDF4.Dataset(folder / "nc" / f"{name}-{step}.nc") as data:
                assert (data[name][:].reshape(levels, points) == wanted).all(), (name, step)
            assert (store[name].values[place].reshape(levels, points) == wanted).all(), (name, step)
        path = folder / f"{step}.grib2"
        assert path.exists() == (step % 2 == 0)
        if path.exists():
            for name in ("t", "q"):
                filter = {"indexpath": "", "filter_by_keys": {"shortName": name}}
                grib = xarray.open_dataset(path, engine="cfgrib", backend_kwargs=filter)
                levels, points = FIELDS[name]
                wanted = whole(name, step, levels, points).astype("f4")
                assert (grib[name].values.reshape(levels, points) == wanted).all()


BY_LEVEL = """
folder = "{folder}"
durable = false
deal = "levels"
{more}

[[sink]]
name = "levels"
format = "netcdf"
path = "{{name}}/{{step}}-{{level:03}}.nc"

[[sink]]
name = "messages"
format = "grib2"
path = "{{level}}-{{step}}.grib2"
packing = "ieee"
precision = "f8"

[[sink]]
name = "whole"
format = "netcdf"
path = "{{name}}-{{step}}.nc"

[[rule]]
sink = ["levels", "whole"]

[[rule]]
sink = "messages"
fields = "t"

[field.t]
grib = "t"
"""


@pytest.mark.parametrize(
    ("ranks", "servers", "starts"),
    [(3, 2, False), *(pytest.param(*more, marks=pytest.mark.slow) for more in ((2, 0, False), (4, 2, True)))],
)
def test_levels_go_to_files_of_their_own(tmp_path, ranks, servers, starts):
    request = {"plan": BY_LEVEL.format(folder=tmp_path, more=""), "servers": servers, "steps": (0, 1), "starts": starts}
    figures = launch.run(ranks, "server_cases:run", request, timeout_s=240)
    for step in (0, 1):
        for name, (levels, points) in FIELDS.items():
            wanted = whole(name, step, levels, points)
            with xarray.open_dataset(tmp_path / f"{name}-{step}.nc", engine="netcdf4") as data:
                assert (data[name].values.reshape(levels, points) == wanted).all()
            for level in range(levels):
                with xarray.open_dataset(tmp_path / name / f"{step}-{level + 1:03}.nc", engine="netcdf4") as data:
                    assert (data[name].values.ravel() == wanted[level]).all()
                    assert data.level.values == [level + 1]
        for level in range(3):
            path = tmp_path / f"{level + 1}-{step}.grib2"
            grib = xarray.open_dataset(path, engine="cfgrib", backend_kwargs={"indexpath": ""})
            assert (grib.t.values.ravel() == whole("t", step, 3, 96)[level].astype("f4")).all()
            assert grib.hybrid == level + 1
    assert check(tmp_path) == []
    assert Manifest(tmp_path).steps() == [0, 1]
    files = [each["sinks"]["levels"]["files"] for each in figures["writers"]]
    assert sum(files) == 2 * (3 + 1 + 2 + 2)
    assert min(files) >= 4  # level 1 of four fields goes to one, 2 to the other, 3 to the first


SHARED = {"transport": "shared", "packing": "direct"}


@pytest.mark.parametrize(
    ("ranks", "servers"), [(3, 1), *(pytest.param(3, each, marks=pytest.mark.slow) for each in (0, 2, "threads"))]
)
def test_fields_go_from_the_arrays_of_the_model(tmp_path, ranks, servers):
    plan = PLAN.format(folder=tmp_path, more="")
    request = {"plan": plan, "servers": servers, "steps": (0, 1, 2, 5), "starts": True}
    launch.run(ranks, "server_cases:run", request, timeout_s=240)
    read_back(tmp_path, (0, 1, 2, 5))
    assert check(tmp_path) == []


@pytest.mark.parametrize(
    ("ranks", "servers", "more", "method"),
    [
        (2, "threads", "block = 1", None),
        (3, 2, 'deal = "names"', SHARED),
        pytest.param(1, 0, "", None, marks=pytest.mark.slow),
        pytest.param(3, 1, "block = 2\nthreads = 2", None, marks=pytest.mark.slow),
        pytest.param(3, 0, 'deal = "steps"', None, marks=pytest.mark.slow),
        pytest.param(4, 1, "", SHARED, marks=pytest.mark.slow),
    ],
)
def test_what_ranks_write_is_read_back(tmp_path, ranks, servers, more, method):
    steps = (0, 1, 2, 5)
    request = {
        "plan": PLAN.format(folder=tmp_path, more=more),
        "servers": servers,
        "steps": steps,
        "method": method,
    }
    figures = launch.run(ranks, "server_cases:run", request, timeout_s=240)
    read_back(tmp_path, steps)
    assert Manifest(tmp_path).steps() == list(steps)
    assert check(tmp_path) == []
    assert not list(tmp_path.rglob(".*"))
    assert 0 < figures["blocked_share"] <= 1
    assert sum(each["sinks"].get("archive", {}).get("files", 0) for each in figures["writers"]) == 16
    assert server_cases.POINTS == POINTS


def test_the_share_that_a_model_waits_is_that_of_its_time_loop(tmp_path, monkeypatch):
    """Neither of the set-up and the first step, nor of the end: a clock that a look at it moves by a second."""
    clock = count()
    monkeypatch.setattr(field_server, "perf_counter", lambda: float(next(clock)))
    text = PLAN.format(folder=tmp_path, more="").replace(', "q"]', "]").replace('q = { grib = "q" }\n', "")
    server = field_server.FieldServer(load_plan("plan.toml", text), MPI.COMM_SELF)
    server.define("t", tw.Blocks(tw.Grid(12, 8, 3), (1, 1)), T.geometry)
    set_up = [next(clock) for _ in range(1000)]
    for step in (0, 1, 2):
        server.write("t", values(T, step).reshape(3, 8, 12), step)
        server.end_step(step)
        computing = [next(clock) for _ in range(100)]
    server.close()
    found = server.figures
    assert (found["blocked_s"], found["blocked_in_loop_s"], found["loop_s"]) == (6, 4, 9 + 3 * len(computing))
    assert found["blocked_share"] == found["blocked_in_loop_s"] / found["loop_s"]
    assert found["total_s"] > found["loop_s"] + len(set_up)
    assert found["close_s"] >= 1
