"""A queue that is full: the model waits, fields go to a local disk, or files are given up and counted."""

from __future__ import annotations

import numpy as np
import pytest
import xarray
from server_cases import whole

pytest.importorskip("mpi4py.MPI")

from tradewind import launch
from tradewind.base.errors import InputError
from tradewind.fieldserver.files.manifest import Manifest, check, read_manifest

PLAN = """
folder = "{folder}"
durable = false
queue = "{queue}"
when_full = "{policy}"
spill = "{spill}"

[[sink]]
name = "archive"
format = "netcdf"
path = "{{step}}.nc"

[[rule]]
sink = "archive"
"""
POINTS = (64, 32)
STEP_BYTES = 64 * 32 * 8
STEPS = list(range(12))


def run(folder, policy, *, stalls, queue=6 * STEP_BYTES, points=POINTS, steps=STEPS):
    (folder / "spilled").mkdir()
    text = PLAN.format(folder=folder / "out", policy=policy, queue=f"{queue}B", spill=folder / "spilled")
    request = {"plan": text, "stalls": stalls, "points": points, "steps": steps, "go": str(folder / "go")}
    return launch.run(2, "server_cases:with_a_stalled_writer", request, timeout_s=240)


def read_back(folder, steps):
    for step in steps:
        with xarray.open_dataset(folder / "out" / f"{step}.nc", engine="netcdf4") as found:
            values = step + np.arange(64 * 32) / (64 * 32)
            assert (found.t.values.ravel() == values).all()


def test_a_model_that_waits_loses_nothing(tmp_path):
    figures = run(tmp_path, "block", stalls=False)
    assert Manifest(tmp_path / "out").steps() == STEPS
    read_back(tmp_path, STEPS)
    (writer,) = figures["writers"]
    assert 0 < writer["peak_queue_bytes"] <= 6 * STEP_BYTES


def test_what_is_spilled_is_written_later(tmp_path):
    figures = run(tmp_path, "spill", stalls=True)
    assert Manifest(tmp_path / "out").steps() == STEPS
    read_back(tmp_path, STEPS)
    (writer,) = figures["writers"]
    assert writer["spilled_bytes"] >= 6 * STEP_BYTES
    assert not list((tmp_path / "spilled").iterdir())


def test_what_is_dropped_is_counted(tmp_path):
    figures = run(tmp_path, "drop", stalls=True)
    folder = tmp_path / "out"
    assert Manifest(folder).steps() == STEPS
    assert check(folder) == []
    dropped = [step for step in STEPS if read_manifest(folder, step)["dropped"]]
    assert len(dropped) == figures["dropped_fields"] > 0
    assert read_manifest(folder, dropped[0])["dropped"] == {f"{dropped[0]}.nc": 1}
    assert not any((folder / f"{step}.nc").exists() for step in dropped)
    assert dropped[0] >= 3  # half of a queue of six is for blocks
    read_back(tmp_path, sorted(set(STEPS) - set(dropped)))


def test_a_queue_that_is_too_small_is_an_error(tmp_path):
    with pytest.raises(InputError, match="half of the queue"):
        run(tmp_path, "block", stalls=False, queue=STEP_BYTES)


@pytest.mark.slow
def test_memory_stays_within_the_queue(tmp_path):
    points, queue = (1000, 500), 64 * 2**20
    figures = run(tmp_path, "block", stalls=False, queue=queue, points=points, steps=list(range(40)))
    written = 40 * 1000 * 500 * 8
    assert written > 2 * queue
    libraries = 40 * 2**20  # those that write files are loaded on the way
    assert max(figures["grown"]) <= queue + libraries


@pytest.mark.parametrize(("form", "ways"), [("netcdf", [0, 1, "threads"]), ("zarr", [1])])
@pytest.mark.slow
def test_more_arrays_than_blocks_that_may_be_under_way(tmp_path, form, ways):
    """Blocks of arrays that are not waited for yet make room, when their fields are in a file."""
    path = "{step}.nc" if form == "netcdf" else "run.zarr"
    plan = f"""
folder = "FOLDER"
durable = false

[[sink]]
name = "history"
format = "{form}"
path = "{path}"

[[rule]]
sink = "history"
"""
    request = {"plan": plan, "folder": str(tmp_path), "servers": ways, "many": 70}
    found = launch.run(2, "server_cases:many_arrays", request, timeout_s=120)
    assert found == {str(way): [0, 1] for way in ways}
    for servers in found:
        assert check(tmp_path / servers) == []
        store = tmp_path / servers / path.format(step=1)
        read = xarray.open_dataset(store, engine={"netcdf": "netcdf4"}.get(form, form))
        for number in (0, 63, 64, 69):
            assert (read[f"f{number}"].values[-1].reshape(3, -1) == whole("t", number, 3, 96)).all()
