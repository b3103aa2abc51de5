from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from tradewind.dataset.build import build_dataset, provenance, write_dataset
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
    write_dataset(build_dataset(records, attributes), tmp_path / "results.nc")
    assert [path.name for path in tmp_path.iterdir()] == ["results.nc"]
    with xr.open_dataset(tmp_path / "results.nc", engine="h5netcdf") as data:
        for name, variable in data.variables.items():
            assert {"units", "long_name"} <= set(variable.attrs), name
        result = records[0]["result"]
        assert data.sizes["case"] == 3
        np.testing.assert_array_equal(data.time, [result["time_s"], 3.0, np.nan])
        assert data.time.attrs["units"] == "s"
        np.testing.assert_array_equal(data.packet_hops, [result["packet_hops"], np.nan, np.nan])
        np.testing.assert_array_equal(data.copy_rate, [np.nan, 400.0, np.nan])
        np.testing.assert_array_equal(data.samples[1], [2.0, 3.0, 4.0])
        assert np.isnan(data.samples[0]).all()
        assert data.delay_count[0].sum() == sum(result["delay"]["counts"]) > 0
        steps = [float(data[f"time_{slab}"][0]) for slab in ("xz", "xy", "yz")]
        assert sum(steps) == pytest.approx(result["time_s"])
        assert list(data.algorithm.values) == ["ring-1", "native", "ring-1"]
        assert list(data.machine.values) == ["torus-M", "", ""]
        assert list(data.split.values) == ["2x2"] * 3
        assert data.settings.values[0] == "link.latency=1us"
        assert list(data.host.values) == ["this-host"] * 3
        assert data.attrs["study"] == 'title = "t"'
        assert data.attrs["seed"] == 7
        assert "tradewind" in data.attrs["versions"]
        assert data.attrs["cpu"] == ENVIRONMENT.cpu


@pytest.mark.slow  # see test_open_results.py
def test_a_study_without_results_is_a_dataset_too(tmp_path: Path) -> None:
    write_dataset(build_dataset([], {"title": "t"}), tmp_path / "results.nc")
    with xr.open_dataset(tmp_path / "results.nc", engine="netcdf4") as data:
        assert data.sizes["case"] == 0
