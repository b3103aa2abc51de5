"""Cases of a results.nc are found by what they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from tradewind.base.data import data_folder
from tradewind.base.errors import InputError
from tradewind.dataset import open_results
from tradewind.dataset.build import build_dataset, write_dataset
from tradewind.dataset.results import indexed
from tradewind.study.cases.case import Case
from tradewind.study.cases.environment import here
from tradewind.study.model.labels import LABELS
from tradewind.workload.exchange import Exchange


def record(algorithm: str, ranks: int, machine: str) -> dict[str, Any]:
    exchange = Exchange("transpose", ranks, grid=(40, 40, 40), slab="xz", split=(ranks, 1), algorithm=algorithm)
    case = Case("s", "simulate", exchange, {"machine": machine, "seed": 1, "settings": {}})
    seconds = ranks + (0.5 if algorithm == "ring-1" else 0.25)
    own = {"key": f"{algorithm} {ranks} {machine}", "result": {"time_s": seconds}, "time_s": seconds, "wall_s": 1.0}
    return {**case.labels, **own, "layout_imbalance": 1.0, "environment": here().as_dict()}


CASES = [
    (algorithm, ranks, machine)
    for machine in ("torus-M", "dragonfly-MM")
    for algorithm in ("ring-1", "bruck")
    for ranks in (4, 8, 20)
]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with few of the variables: h5netcdf takes long for each."""
    file = tmp_path_factory.mktemp("dataset") / "results.nc"
    whole = build_dataset([record(*case) for case in CASES], {"title": "t"})
    some = ("kind", "exchange", "time")
    write_dataset(whole.drop_vars([name for name in whole.data_vars if name not in some]), file)
    return file


@pytest.fixture(scope="module")
def opened(path: Path) -> xr.Dataset:
    return open_results(path)


def keys(results: xr.Dataset) -> list[str]:
    return [str(key) for key in np.atleast_1d(results["key" if "key" in results else "case"].values)]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"algorithm": "ring-1", "ranks": 8}, ["ring-1 8 torus-M", "ring-1 8 dragonfly-MM"]),
        ({"algorithm": "ring-1", "ranks": 8, "machine": "torus-M"}, ["ring-1 8 torus-M"]),
        ({"machine": "torus-M", "ranks": [4, 20], "algorithm": "bruck"}, ["bruck 4 torus-M", "bruck 20 torus-M"]),
        (
            {"machine": "torus-M", "ranks": slice(5, None)},
            [f"{a} {r} torus-M" for a in ("ring-1", "bruck") for r in (8, 20)],
        ),
        ({"ranks": slice(None, 4), "algorithm": ["bruck"]}, ["bruck 4 torus-M", "bruck 4 dragonfly-MM"]),
        ({"ranks": slice(5, 7)}, []),
    ],
)
def test_cases_by_their_labels(opened: xr.Dataset, wanted: dict[str, Any], expected: list[str]) -> None:
    found = opened.sel(wanted)
    assert keys(found) == expected
    assert found.time.dims == ("case",)
    for label in wanted:
        assert label in found.coords


@pytest.mark.filterwarnings("error")
def test_what_xarray_does_with_labels(opened: xr.Dataset) -> None:
    ring, bruck = (opened.time.sel(algorithm=name) for name in ("ring-1", "bruck"))
    np.testing.assert_allclose((ring / bruck).values, [(n + 0.5) / (n + 0.25) for n in (4, 8, 20)] * 2)
    assert opened.ranks.dtype == np.int64
    assert opened.groupby("machine").mean().time.sel(machine="torus-M") == np.mean([4.5, 8.5, 20.5, 4.25, 8.25, 20.25])
    table = opened.time.to_series()
    assert table.xs(("ring-1", 8, "torus-M"), level=["algorithm", "ranks", "machine"]).item() == 8.5
    assert keys(opened.isel(case=[3]).sel(ranks=4)) == ["bruck 4 torus-M"]


def test_units_are_texts_also_of_one_letter(opened: xr.Dataset) -> None:
    assert (opened.time.attrs["units"], opened.attrs["title"]) == ("s", "t")


def test_a_label_that_no_case_has(opened: xr.Dataset) -> None:
    for wanted in ({"ranks": 5}, {"ranks": [4, 5]}, {"algorithm": "ring-1", "ranks": 5}):
        with pytest.raises(KeyError, match=r"no case has ranks 5 \(known: 4, 8, 20\)"):
            opened.sel(wanted)
    with pytest.raises(KeyError, match=r"no case has algorithm 'ring' \(known: bruck, ring-1\)"):
        opened.sel(algorithm="ring")
    with pytest.raises(KeyError, match=r"no case has algorithm 'ring' "):
        opened.sel(algorithm=np.array(["ring"], dtype=object))
    with pytest.raises(KeyError, match=r"no case has algorithm 'bruck' \(known: ring-1\)"):
        opened.sel(algorithm=["ring-1"]).sel(algorithm=["bruck"])


@pytest.mark.filterwarnings("error")
def test_labels_are_coordinates_where_xarray_alone_opens_the_file(path: Path) -> None:
    with xr.open_dataset(path, engine="h5netcdf") as data:
        assert set(LABELS) < set(data.coords)
        assert not set(LABELS) & set(data.data_vars)
        both = data.isel(case=(data.algorithm == "ring-1") & (data.ranks == 8))
        assert keys(both) == ["ring-1 8 torus-M", "ring-1 8 dragonfly-MM"]
        one = data.set_xindex("algorithm").sel(algorithm="ring-1").set_xindex("ranks").sel(ranks=8)
        assert keys(one) == keys(both)


@pytest.mark.slow
def test_files_that_were_written_before_labels_were_coordinates(path: Path, tmp_path: Path) -> None:
    with xr.open_dataset(path, engine="h5netcdf") as data:
        old = data.load().reset_coords([*LABELS]).drop_encoding()
    assert set(LABELS) < set(old.data_vars)
    write_dataset(old, tmp_path / "old.nc")
    xr.testing.assert_identical(open_results(tmp_path / "old.nc"), open_results(path))


def test_kept_results_can_be_opened() -> None:
    found = open_results(data_folder("studies") / "results" / "packets.nc").sel(algorithm="ring-4", ranks=[100, 1000])
    assert set(found.ranks.values) == {100, 1000}


def test_a_study_without_results(tmp_path: Path) -> None:
    """With a few of the variables: where there is no case, h5netcdf looks at all of them for each of them."""
    some = ("case", "kind", "exchange", "algorithm", "ranks", "time")
    whole = build_dataset([], {"title": "t"})
    write_dataset(whole.drop_vars([name for name in whole.variables if name not in some]), tmp_path / "none.nc")
    found = open_results(tmp_path / "none.nc")
    assert found.sizes["case"] == 0
    assert found.time.shape == (0,)


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "other.nc").write_bytes(b"no NetCDF")
    with pytest.raises(InputError, match="cannot be read as the NetCDF file of a study"):
        open_results(tmp_path / "other.nc")


def routed(routings: dict[str, list[str]]) -> xr.DataArray:
    """Times of the same cases on machines with routings of their own."""
    records = [
        record(algorithm, ranks, machine) | {"key": f"{algorithm} {ranks} {machine} {routing}", "routing": routing}
        for machine, own in routings.items()
        for routing in own
        for algorithm, ranks in (("ring-1", 4), ("bruck", 8))
    ]
    dataset = build_dataset(records, {"title": "t"})
    some = ("kind", "exchange", "time")
    times: xr.DataArray = indexed(dataset.drop_vars([name for name in dataset.data_vars if name not in some])).time
    return times


def test_the_ratio_of_two_machines_is_one_line() -> None:
    time = routed({"torus-M": ["minimal"], "dragonfly-MM": ["ugal"]})
    ratio = time.sel(machine="torus-M") / time.sel(machine="dragonfly-MM")
    assert ratio.sizes["case"] == 2
    assert (ratio == 1).all()
    assert ratio.sel(ranks=8, algorithm="bruck").item() == 1
    assert time.sel(machine="torus-M").routing.item() == "minimal"


def test_a_label_that_is_varied_on_a_machine_remains_one() -> None:
    time = routed({"torus-M": ["minimal"], "dragonfly-MM": ["ugal", "minimal"]})
    assert time.sel(machine="dragonfly-MM").sel(routing="minimal").sizes["case"] == 2
    both = time.sel(machine="torus-M") / time.sel(machine="dragonfly-MM")
    assert both.routing.values.tolist() == ["minimal", "minimal"]


def test_two_problems_on_two_machines_have_no_common_case() -> None:
    cases = [
        (algorithm, ranks, machine) for algorithm, ranks, machine in CASES if (ranks == 4) == (machine == "torus-M")
    ]
    dataset = build_dataset([record(*case) for case in cases if case[1] != 20], {"title": "t"})
    time = indexed(dataset[["kind", "exchange", "time"]]).time
    assert (time.sel(machine="torus-M") / time.sel(machine="dragonfly-MM")).sizes["case"] == 0
