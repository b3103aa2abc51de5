from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest
import xarray as xr

from tradewind.dataset.build import build_dataset, provenance, write_dataset, write_results
from tradewind.simulation import simulate
from tradewind.study.cases.case import Case
from tradewind.study.cases.environment import here
from tradewind.workload.exchange import Exchange

ENVIRONMENT = replace(here(), host="this-host")


def record(case: Case, result: dict[str, Any], time_s: float | None) -> dict[str, Any]:
    own = {"key": case.kind, "result": result, "time_s": time_s, "wall_s": 0.5, "layout_imbalance": 1.25}
    return {**case.labels, **own, "environment": ENVIRONMENT.as_dict(), "finished": "2026-01-01T00:00:00+00:00"}


@pytest.fixture
def records() -> list[dict[str, Any]]:
    exchange = Exchange("transpose", 4, grid=(20, 16, 12), split=(2, 2), algorithm="ring-1")
    options = {"machine": "torus-M", "routing": None, "packet": "1KiB", "seed": 1, "settings": {"link.latency": "1us"}}
    simulated = simulate(exchange, "torus-M", packet="1KiB", threads=1, settings=options["settings"])
    row = {"median_s": 3.0, "min_s": 2.0, "samples_s": [2.0, 3.0, 4.0], "bytes_per_s": 100.0}
    measured = {"results": [row], "floor_s": 1.0, "copy_bytes_per_s": 400.0, "ranks_per_core": 2.0}
    return [
        record(Case("s", "simulate", exchange, options), simulated, simulated["time_s"]),
        record(Case("m", "measure", exchange, {"repeat": 3}, native="native"), measured, 3.0),
        record(Case("v", "verify", exchange, {"transport": "sendrecv"}), {"ok": True}, None),
    ]


def test_netcdf_holds_every_number_with_units(records: list[dict[str, Any]], tmp_path: Path) -> None:
    attributes = provenance('title = "t"', "t", "a paper", 7, ENVIRONMENT)
    result = records[0]["result"]
    result["step_time_s"]["ice/ocean model"] = 5.0
    result["step_time_s"]["ice ocean\tmodel"] = 6.0
    write_results(records, attributes, tmp_path / "results.nc")
    assert [path.name for path in tmp_path.iterdir()] == ["results.nc"]
    with netCDF4.Dataset(tmp_path / "results.nc") as data:
        data.set_auto_mask(False)
        found = {name: variable[...] for name, variable in data.variables.items()}
        for name, variable in data.variables.items():
            assert {"units", "long_name"} <= set(variable.ncattrs()), name
        assert data["time"].units == "s"
        assert (data.study, data.seed, data.cpu) == ('title = "t"', 7, ENVIRONMENT.cpu)
        assert "tradewind" in data.versions
    assert found["case"].shape == (3,)
    np.testing.assert_array_equal(found["time"], [result["time_s"], 3.0, np.nan])
    np.testing.assert_array_equal(found["packet_hops"], [result["packet_hops"], np.nan, np.nan])
    np.testing.assert_array_equal(found["copy_rate"], [np.nan, 400.0, np.nan])
    np.testing.assert_array_equal(found["samples"][1], [2.0, 3.0, 4.0])
    assert np.isnan(found["samples"][0]).all()
    assert found["delay_count"][0].sum() == sum(result["delay"]["counts"]) > 0
    assert sum(found[f"time_{slab}"][0] for slab in ("xz", "xy", "yz")) == pytest.approx(result["time_s"])
    assert found["time_ice_ocean_model"][0] == 5.0
    assert found["time_ice_ocean_model_2"][0] == 6.0
    assert list(found["algorithm"]) == ["ring-1", "native", "ring-1"]
    assert list(found["machine"]) == ["torus-M", "", ""]
    assert list(found["split"]) == ["2x2"] * 3
    assert found["settings"][0] == "link.latency=1us"
    assert list(found["host"]) == ["this-host"] * 3


def test_the_file_is_the_one_that_xarray_would_write(tmp_path: Path) -> None:
    """By the library of NetCDF itself: dimensions, types, attributes and bytes of all variables."""
    cases = 600  # numbers of them are compressed
    described = {"units": "1", "long_name": "\u00e4ther"}
    dataset = xr.Dataset(
        {
            "time": ("case", np.where(np.arange(cases) % 7, np.arange(cases) / 3, np.nan), described),
            "sum": (("sample",), np.arange(3.0), described),
            "samples": (("case", "sample"), np.ones((cases, 3)), described),
            "delay_edge": (("case", "edge"), np.ones((cases, 0)), described),
            "host": ("case", np.array(["", "h\u00f6st"] * (cases // 2), object), described),
        },
        {
            "ranks": ("case", np.arange(cases, dtype=float), described),
            "none": ("case", np.array([""] * cases, object), described),
            "case": ("case", np.array([f"key {i}" for i in range(cases)], object), described),
        },
        {"title": "f\u00fcr alle\n", "source": "", "seed": 7, "study": "long " * 20_000},
    )
    write_dataset(dataset, tmp_path / "ours.nc")
    encoding = {name: {"dtype": "S1"} for name in ("host", "none", "case")}
    dataset.to_netcdf(tmp_path / "xarray.nc", engine="h5netcdf", encoding=encoding)
    assert stored(tmp_path / "ours.nc") == stored(tmp_path / "xarray.nc")
    with netCDF4.Dataset(tmp_path / "ours.nc") as data:
        packed = {name for name in data.variables if data[name].filters()["zlib"]}
        assert packed == {"case", "time", "samples", "ranks"}
    for engine in ("h5netcdf", "netcdf4"):
        with xr.open_dataset(tmp_path / "ours.nc", engine=engine) as opened:
            xr.testing.assert_identical(opened.load(), dataset)


def stored(path: Path) -> tuple[dict[str, Any], ...]:
    """Dimensions, variables and attributes of a file, as they lie there."""
    with netCDF4.Dataset(path) as data:
        data.set_auto_maskandscale(False)
        dimensions = {name: (len(each), each.isunlimited()) for name, each in data.dimensions.items()}
        variables = {
            name: (each.dimensions, str(each.dtype), each[...].tobytes(), attributes_of(each))
            for name, each in data.variables.items()
        }
        return dimensions, variables, attributes_of(data)


def attributes_of(what: Any) -> dict[str, str]:
    return {name: repr(what.getncattr(name)) for name in what.ncattrs()}


@pytest.mark.slow  # see test_open_results.py
def test_a_study_without_results_is_a_dataset_too(tmp_path: Path) -> None:
    write_dataset(build_dataset([], {"title": "t"}), tmp_path / "results.nc")
    with xr.open_dataset(tmp_path / "results.nc", engine="netcdf4") as data:
        assert data.sizes["case"] == 0
