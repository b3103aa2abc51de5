"""Wrong calls of a model: each raises an error, and the run goes on."""

from __future__ import annotations

import json

import numpy as np
import pytest
import xarray
from server_cases import whole
from wrong_calls import CALLS, INPUT, OK

pytest.importorskip("mpi4py.MPI")
pytest.importorskip("eccodes")

from test_field_server import PLAN

from tradewind import launch
from tradewind.fieldserver.files.manifest import Manifest, check

WORDS = {
    "plans": "InputError: rank 1 has another plan file than rank 0",
    "servers": "InputError: 2 servers of 2 ranks: 0..1 are allowed",
    "way": "InputError: servers 'many': a number, or 'threads', is allowed",
    "unknown": "InputError: unknown field 'tt'; did you mean 't'?",
    "transport": "InputError: unknown transport 'nope'",
    "fence": "InputError: hand-over by transport 'put-fence': its fences would hold a server",
    "algorithm": "InputError: method: algorithm 'ring': 'burst' of layouts",
    "spill": "InputError: cannot write spilled fields ",
    "element": "InputError: unknown element type \"<class 'numpy.int32'>\"",
    "turned": "InputError: field t: (12, 8, 3) of float64: (3, 8, 12) of f8 is this rank's part",
    "mask": "InputError: field t: an array without a mask is allowed",
    "level": "InputError: field q has 2 levels, and its layout 1: name one of level 0..1",
    "level range": "InputError: field q: level 2: 0..1 is allowed",
    "name alone": "InputError: prefetch 'in.nc': a list of names of files is allowed",
    "no names": "InputError: prefetch 3: the name of a file",
    "input 0": "No such file",
    "input 1": "it begins as b'no input'",
    "input 2": "field t has 1 levels of 96 points, and the model asks for 3 of 96",
    "input 3": "elsewhere.nc: field t: point 0 of its grid is at latitude 0, longitude 30, and that of the model",
    "closed": "PlanError: the field server is closed",
}


KINDS = {INPUT: "InputError: ", OK: ""}
SINKS = """
folder = "{folder}"
durable = false

[[sink]]
name = "history"
format = "netcdf"
path = "{{name}}/{{step:03}}.nc"

[[rule]]
sink = "history"
"""


def test_wrong_calls_are_answered_as_in_other_languages(tmp_path):
    request = {"plan": SINKS.format(folder=tmp_path)}
    for found in launch.run(3, "wrong_calls_model:wrong_calls", request, timeout_s=120):
        assert list(found) == list(CALLS)
        for case, (kind, words) in CALLS.items():
            assert found[case].startswith(KINDS[kind]), (case, found[case])
            assert words in found[case], (case, found[case])
    assert Manifest(tmp_path).steps() == [2]


def test_a_model_is_told_what_is_wrong(tmp_path):
    (tmp_path / "text").write_text("no input at all")
    levels = {"t": (("time", "level", "y", "x"), np.zeros((1, 1, 8, 12)))}
    xarray.Dataset(levels).to_netcdf(tmp_path / "small.nc", engine="netcdf4")
    rows = {"latitude": np.arange(8.0), "longitude": 30 + np.arange(12.0)}
    elsewhere = xarray.Dataset({"t": (("level", "latitude", "longitude"), np.zeros((3, 8, 12)))}, rows)
    elsewhere.to_netcdf(tmp_path / "elsewhere.nc", engine="netcdf4")
    inputs = [str(tmp_path / name) for name in ("missing", "text", "small.nc", "elsewhere.nc")]
    folder = tmp_path / "out"
    text = PLAN.format(folder=folder, more="")
    spill = PLAN.format(folder=folder, more=f'when_full = "spill"\nspill = "{tmp_path / "text" / "no folder"}"')
    found = launch.run(2, "server_cases:refusals", {"plan": text, "inputs": inputs, "spill": spill}, timeout_s=240)
    wrong = {key: found[key] for key, words in WORDS.items() if words not in found[key]}
    assert wrong == {}
    # All that was right in between is there, also from the server that was given an order that makes no sense.
    (lost,) = json.loads(found["taken over"])
    assert (lost["server"], lost["reason"].partition(":")[0]) == (0, "KeyError")
    assert Manifest(folder).steps() == [4, 6]
    assert check(folder) == []
    store = xarray.open_zarr(folder / "run.zarr", chunks=None)
    assert (store.t.values[0].reshape(3, -1) == whole("t", 4, 3, 96)).all()
    assert (store.q.values[0].reshape(2, -1) == whole("t", 4, 3, 96)[0]).all()
    assert (store.t.values[1] == store.t.values[0]).all()


DEFINED_LATE = """
folder = "FOLDER"
durable = false

[[sink]]
name = "own"
format = "netcdf"
path = "{name}-{step}.nc"

[[sink]]
name = "other"
format = "netcdf"
path = "x-{step}.nc"

[[rule]]
sink = "own"

[[rule]]
fields = "t"
sink = "other"
"""


def test_a_field_that_is_defined_after_the_first_write_meets_no_file_of_others(tmp_path):
    request = {"plan": DEFINED_LATE, "folder": str(tmp_path)}
    found = launch.run(2, "server_cases:defined_late", request, timeout_s=60)
    words = "goes to the file that sink"
    assert set(found) == {"0", "1"}
    for servers, text in found.items():
        assert words in text
        assert check(tmp_path / servers) == []
        files = sorted(path.name for path in (tmp_path / servers).glob("*.nc"))
        assert files == ["t-0.nc", "u-0.nc", "x-0.nc"]
