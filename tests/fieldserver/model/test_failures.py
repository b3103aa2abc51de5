"""Servers that stop, ranks that are killed, disks that are full: nothing that was promised is lost or half there."""

from __future__ import annotations

import random

import numpy as np
import pytest
import xarray
from server_cases import whole

pytest.importorskip("mpi4py.MPI")
pytest.importorskip("eccodes")

from test_field_server import PLAN as ALL_FIELDS
from test_field_server import read_back

from tradewind import launch
from tradewind.base.errors import InputError, PlanError, WriteError
from tradewind.fieldserver.files.manifest import Manifest, check

PLAN = """
folder = "{folder}"
durable = false
{more}

[[sink]]
name = "history"
format = "netcdf"
path = "{{step}}.nc"

[[rule]]
sink = "history"
"""


SHORT_S = 2
"""Patience where the server that is lost is the only one: it must come back within three times as long."""
PATIENCE_S = 5
"""Patience of models that must not lose a server which is well, and which a busy machine may stop for a while."""


def steps_there(folder):
    """The steps of the manifest, all of which are right."""
    steps = Manifest(folder).steps()
    assert check(folder) == []
    for step in steps:
        with xarray.open_dataset(folder / f"{step}.nc", engine="netcdf4") as found:
            assert (found.t.values.reshape(3, -1) == whole("t", step, 3, 96)).all()
    return steps


def with_trouble(folder, ranks, servers, trouble, *, steps=8, goes_on=True):
    """A run of which the last server is in trouble from step 3 on; returns who has taken over."""
    out = folder / "out"
    patience_s = SHORT_S if servers == 1 else PATIENCE_S
    plan = PLAN.format(folder=out, more=f'patience = "{patience_s}s"\ndeal = "steps"')
    request = {"plan": plan, "servers": servers, "steps": list(range(steps)), "at": 3, "goes_on": goes_on}
    request |= {"trouble": trouble, "go": str(folder / "go")}
    figures = launch.run(ranks, "server_cases:in_trouble", request, timeout_s=240)
    assert steps_there(out) == list(range(steps))
    assert not list(out.rglob(".*"))
    return [(each["server"], each["by"], each["reason"]) for each in figures["taken_over"]]


def test_the_model_writes_for_a_server_that_has_stopped(tmp_path):
    ((server, by, _),) = with_trouble(tmp_path, 2, 1, "stops")
    assert (server, by) == (0, "rank 0 of the model")


@pytest.mark.parametrize(
    ("ranks", "trouble", "words"),
    [
        (3, "stops", f" for {PATIENCE_S} s"),
        (3, "raises", "KeyError"),
        pytest.param(3, "slow", f"it gave no sign of life for {PATIENCE_S} s", marks=pytest.mark.slow),
        pytest.param(4, "stops", f" for {PATIENCE_S} s", marks=pytest.mark.slow),
        pytest.param(4, "raises", "KeyError", marks=pytest.mark.slow),
    ],
)
@pytest.mark.slow
def test_another_server_writes_for_one_that_is_in_trouble(tmp_path, ranks, trouble, words):
    ((server, by, reason),) = with_trouble(tmp_path, ranks, 2, trouble)
    assert (server, by) == (1, "server 0")
    assert words in reason


@pytest.mark.slow
def test_a_step_whose_memory_was_used_again_does_not_look_whole(tmp_path):
    plan = """
    folder = "{folder}"
    durable = false
    block = 1
    queue = "{queue}B"
    patience = "{patience}s"
    [[sink]]
    name = "history"
    format = "netcdf"
    path = "{{name}}-{{step}}.nc"
    [[rule]]
    sink = "history"
    """.format(folder=tmp_path / "out", queue=8 * 64 * 32 * 8, patience=PATIENCE_S)
    request = {"plan": plan, "points": (64, 32), "fields": 8}
    found = launch.run(2, "server_cases:stopped_in_a_step_larger_than_the_queue", request, timeout_s=240)
    assert found == "WriteError: step 0 is not whole: server 0 was lost with fields of it"
    assert Manifest(tmp_path / "out").steps() == [1]
    assert check(tmp_path / "out") == []
    assert sorted(path.name for path in (tmp_path / "out").glob("*.nc")) == [f"t{number}-1.nc" for number in range(8)]


@pytest.mark.slow
def test_fields_without_a_copy_are_lost_with_their_server_alone_when_the_array_was_given_back(tmp_path):
    plan = PLAN.format(folder=tmp_path / "out", more=f'patience = "{PATIENCE_S}s"')
    request = {"plan": plan, "go": str(tmp_path / "go")}
    errors = launch.run(3, "server_cases:started_from_an_array", request, timeout_s=240)
    assert [each for each in errors if each] == ["WriteError: step 1 is not whole: server 0 was lost with fields of it"]
    assert steps_there(tmp_path / "out") == [0, 2, 3]


@pytest.mark.parametrize("place", ["define", "plan", "start", "input", "end"])
@pytest.mark.slow
def test_a_server_that_stops_within_what_it_does_with_the_model(tmp_path, place):
    values = np.arange(3 * 128 * 256, dtype=float).reshape(1, 3, 128, 256)
    xarray.Dataset({"t": (("time", "level", "y", "x"), values)}).to_netcdf(tmp_path / "in.nc", engine="netcdf4")
    patience_s = PATIENCE_S if place == "end" else SHORT_S
    plan = PLAN.format(folder=tmp_path / "out", more=f'patience = "{patience_s}s"')
    request = {"plan": plan, "place": place, "input": str(tmp_path / "in.nc")}
    found = launch.run(3, "server_cases:stopped_within", request, timeout_s=240)
    if place == "end":
        assert found["close"].startswith("PlanError: server 0 does not answer")
        assert found["taken_over"] == []
    else:
        assert found["close"] == ""
        ((server, by),) = [(each["server"], each["by"]) for each in found["taken_over"]]
        assert (server, by) == (0, "rank 0 of the model")
    if place == "input":
        assert found["read"] == [0.0, values[0, :, :64].max()]
    assert Manifest(tmp_path / "out").steps() == [0, 1, 2]
    assert check(tmp_path / "out") == []
    for step in range(3):
        with xarray.open_dataset(tmp_path / "out" / f"{step}.nc", engine="netcdf4") as data:
            assert (data.t.values == step).all()


@pytest.mark.slow
def test_a_server_that_never_comes_back_ends_the_job_with_all_steps_written(tmp_path):
    plan = PLAN.format(folder=tmp_path, more=f'patience = "{SHORT_S}s"')
    request = {"plan": plan, "servers": 1, "steps": list(range(5)), "at": 2, "goes_on": False}
    request |= {"trouble": "stops", "go": str(tmp_path / "go")}
    with pytest.raises(PlanError, match="server 0 does not answer: others have written its fields"):
        launch.run(2, "server_cases:in_trouble", request, timeout_s=240)
    assert steps_there(tmp_path) == list(range(5))


def killed(folder, seed, servers=1):
    """A run of 3 ranks of which one is killed, and another that goes on."""
    drawn = random.Random(seed)
    plan = ALL_FIELDS.format(folder=folder, more='existing = "continue"')
    steps = list(range(12))
    request = {"plan": plan, "servers": servers, "steps": steps, "folder": str(folder)}
    death = {"rank": drawn.randrange(3), "moment": drawn.randrange(1, 3 * len(steps))}
    with pytest.raises(PlanError):
        launch.run(3, "server_cases:killed", request | death, timeout_s=240)
    there = Manifest(folder).steps()
    assert there == steps[: len(there)]
    assert check(folder) == []
    end = max(len(there) + 2, _times(folder / "run.zarr"))  # the server of the store may have been ahead of the other
    launch.run(3, "server_cases:run", request | {"steps": list(range(len(there), end))}, timeout_s=240)
    read_back(folder, list(range(end)))
    assert check(folder) == []


def _times(store):
    """The number of steps that a store shows."""
    if not (store / "zarr.json").exists():
        return 0
    with xarray.open_zarr(store, chunks=None) as found:
        return found.sizes.get("time", 0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_runs_go_on_after_ranks_were_killed(tmp_path, seed):
    killed(tmp_path, 100 + seed, servers=seed % 3)


def test_the_model_hears_of_a_full_disk_and_the_files_before_are_whole(tmp_path):
    plan = PLAN.format(folder=tmp_path, more="")
    request = {"plan": plan, "servers": 1, "steps": list(range(40)), "maximum_bytes": 9_000}
    with pytest.raises(WriteError, match=r"cannot write output file .*nc: File too large"):
        launch.run(2, "server_cases:on_a_small_disk", request, timeout_s=240)
    assert steps_there(tmp_path) == [0, 1]
    assert sorted(path.name for path in tmp_path.glob("*.nc")) == ["0.nc", "1.nc"]


def test_a_folder_with_a_run_is_refused(tmp_path):
    plan = ALL_FIELDS.format(folder=tmp_path, more="")
    request = {"plan": plan, "servers": 0, "steps": [0]}
    launch.run(1, "server_cases:run", request, timeout_s=240)
    with pytest.raises(InputError, match=r"holds steps 0\.\.0 of a run"):
        launch.run(1, "server_cases:run", request, timeout_s=240)


@pytest.mark.parametrize("servers", [1, 2])
@pytest.mark.slow
def test_a_server_that_fails_when_all_is_written_asks_nothing_of_others_that_end(tmp_path, servers):
    """The other one has been ordered to close, so it could not confirm that it reads what was to be read."""
    plan = f'patience = "2s"\n{PLAN.format(folder=tmp_path / "out", more="")}'
    request = {"plan": plan, "servers": servers, "inputs": ["a.nc", "b.nc", "c.nc", "d.nc"]}
    found = launch.run(1 + servers, "server_cases:troubled_at_the_end", request, timeout_s=240)
    assert found["taken_over"] == []
    assert Manifest(tmp_path / "out").steps() == [0]
