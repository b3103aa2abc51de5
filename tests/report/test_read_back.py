"""A results.nc alone is enough to judge the findings of a study and to draw its figures again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import xarray as xr
from command_line import Command

from tradewind.base.errors import InputError
from tradewind.dataset.build import without_empty, write_dataset
from tradewind.dataset.read import read_dataset
from tradewind.figure.figure import draw
from tradewind.study.cases.environment import here
from tradewind.study.cases.records import read_records
from tradewind.study.cases.store import Store
from tradewind.study.claims.finding import CONFIRMED, judge
from tradewind.study.plan.load import load_study

STUDY = """
title = "All there is"

[[sweep]]
name = "proof"
kind = "verify"
pattern = "halo"
grid = "16x16x2"
ranks = 16
split = "4x4"
periodic = "xy"

[[sweep]]
name = "network"
kind = "simulate"
pattern = "transpose"
grid = "96x96x96"
ranks = [4, 36]
algorithm = ["ring-1", "ring-2"]
machine = ["torus-M", "dragonfly-MM"]
packet = ["1KiB", "4KiB"]
set = { "link.bandwidth" = ["1GB/s", "2GB/s"] }
congestion = true
pairs = 6

[[sweep]]
name = "reduction"
kind = "simulate"
pattern = "allreduce"
ranks = [8, 16]
algorithm = ["recursive-2", "recursive-4"]
machine = "torus-M"

[[sweep]]
name = "mesh"
kind = "simulate"
pattern = "fetch"
mesh = "octahedral"
grid = "1x16x3"
ranks = 8
machine = "torus-M"

[[sweep]]
name = "timing"
kind = "measure"
pattern = "allreduce"
ranks = 2
algorithm = ["recursive-2", "native"]
repeat = 2

[[plot]]
title = "Time"
of = { sweep = ["network", "reduction"] }
curve = "exchange"
panel = "settings"

[[plot]]
title = "Cost over that of small packets"
of = { sweep = "network" }
along = "packet"
curve = "algorithm"
quantity = "link-time"
over = { packet = "1KiB" }

[[plot]]
kind = "bars"
title = "Bars"
of = { sweep = "timing" }
curve = "algorithm"

[[plot]]
kind = "delay"
title = "Delay"
of = { sweep = "network" }

[[plot]]
kind = "best"
title = "Best"
of = { sweep = "reduction" }
curve = "algorithm"

[[plot]]
kind = "pairs"
title = "Pairs"
of = { sweep = "network", ranks = 36 }

[[plot]]
kind = "congestion"
title = "Links"
of = { sweep = "network", ranks = 36 }

[[plot]]
kind = "matrix"
title = "Matrix"
of = { sweep = "proof" }

[[finding]]
figure = "1"
claim = "bands"
bands = { sweep = "proof" }
offsets = [1, 3, 4, 12]
remark = "on a periodic grid"

[[finding]]
figure = "2"
claim = "twice the bandwidth is faster"
where = { sweep = "network", machine = "torus-M", packet = "4KiB", algorithm = "ring-1" }
ranks = 36
better = { settings = "link.bandwidth=2GB/s" }
than = { settings = "link.bandwidth=1GB/s" }

[[finding]]
figure = "3"
claim = "a torus has fewer links, and costs less"
where = { sweep = "network", settings = "link.bandwidth=1GB/s" }
quantity = "link-time"
better = { machine = "torus-M" }
than = { machine = "dragonfly-MM" }

[[finding]]
figure = "4"
claim = "packets wait alike"
where = { sweep = "network" }
alike = [{ algorithm = "ring-1" }, { algorithm = "ring-2" }]

[[finding]]
figure = "5"
claim = "waits are uneven"
where = { sweep = "network", ranks = 36 }
quantity = "delay-imbalance"
apart = "machine"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, tradewind: Command) -> Path:
    path = tmp_path_factory.mktemp("back")
    (path / "all.toml").write_text(STUDY)
    done = tradewind("study", path / "all.toml", "--out", path / "results", "--json")
    assert done.code == 0, done.err
    return path / "results"


@pytest.mark.parametrize("name", ["results.nc", "small.nc"])
@pytest.mark.slow
def test_findings_and_figures_come_out_the_same(folder: Path, name: str) -> None:
    with xr.open_dataset(folder / "results.nc", engine="h5netcdf") as dataset:
        write_dataset(without_empty(dataset.load()), folder / "small.nc")
    study = load_study(folder / "study.toml").study
    stored = read_records(Store.existing(folder), here()).records
    kept, attributes = read_dataset(folder / name)
    assert len(stored) == len(kept) == 32
    verdicts = [judge(finding, kept) for finding in study.finding]
    assert verdicts == [judge(finding, stored) for finding in study.finding]
    assert [verdict.verdict for verdict in verdicts[:3]] == [CONFIRMED] * 3
    assert verdicts[4].figures, "else nothing was kept of the pairs"
    for plot in study.plot:
        before, after = draw(plot, stored), draw(plot, kept)
        assert before is not None, plot.title
        assert before == after, plot.title
    assert json.loads(attributes["findings"])[0]["remark"] == "on a periodic grid"


@pytest.mark.slow
def test_simulated_cases_of_a_dataset_are_taken_as_they_are(folder: Path, tradewind: Command) -> None:
    small, again = folder / "known.nc", folder.parent / "again"
    with xr.open_dataset(folder / "results.nc", engine="h5netcdf") as dataset:
        whole = dataset.load()
    simulated = whole.isel(case=whole.kind == "simulate")
    write_dataset(without_empty(whole.drop_isel(case=1)), small)
    study = ("study", folder.parent / "all.toml", "--out", again, "--known", small, "--json")
    planned = json.loads(tradewind(*study, "--dry-run").out)["cases"]
    assert sum(case["stored"] for case in planned) == 28
    assert not again.exists()
    done = tradewind(*study)
    assert done.code == 0, done.err
    result = json.loads(done.out)
    assert (result["computed"], result["reused"]) == (3 + 1, 28), "not simulated, or left out"
    with xr.open_dataset(again / "results.nc", engine="h5netcdf") as dataset:
        taken = dataset.load().isel(case=whole.kind == "simulate")
    assert simulated.sizes["case"] == 29
    xr.testing.assert_identical(taken.isel(case=slice(1, None)), simulated.isel(case=slice(1, None)))


def test_known_cases_come_from_datasets(tradewind: Command, tmp_path: Path) -> None:
    (tmp_path / "all.toml").write_text(STUDY)
    done = tradewind("study", tmp_path / "all.toml", "--out", tmp_path / "out", "--known", tmp_path)
    assert done.code == 2
    assert "no dataset, that is no file NAME.nc, lies in this folder" in done.err
    assert not (tmp_path / "out").exists()
    done = tradewind("study", tmp_path / "all.toml", "--out", tmp_path / "out", "--known", tmp_path / "no.nc")
    assert done.code == 2
    assert "no.nc: there is no such file or folder" in done.err


@pytest.mark.slow
def test_an_older_dataset_has_the_packets_that_its_study_asked_for(folder: Path, tmp_path: Path) -> None:
    with xr.open_dataset(folder / "results.nc", engine="h5netcdf") as dataset:
        write_dataset(dataset.load().drop_vars("packet_size").drop_encoding(), tmp_path / "old.nc")
    sizes = {r["packet"]: r["result"]["packet_bytes"] for r in read_dataset(tmp_path / "old.nc")[0] if r["packet"]}
    assert sizes == {"1KiB": 1024, "4KiB": 4096}


@pytest.mark.slow
def test_an_older_dataset_has_other_words_for_its_verdicts(folder: Path, tmp_path: Path) -> None:
    with xr.open_dataset(folder / "results.nc", engine="h5netcdf") as dataset:
        old = dataset.load().drop_encoding()
    old.attrs["findings"] = old.attrs["findings"].replace(f'"{CONFIRMED}"', '"reproduced"')
    assert '"reproduced"' in old.attrs["findings"]
    write_dataset(old, tmp_path / "old.nc")
    _, attributes = read_dataset(tmp_path / "old.nc")
    assert [finding["verdict"] for finding in json.loads(attributes["findings"])[:3]] == [CONFIRMED] * 3


@pytest.mark.slow
def test_what_is_large_is_compressed(folder: Path) -> None:
    with xr.open_dataset(folder / "results.nc", engine="h5netcdf") as dataset:
        assert dataset.delay_count.encoding["zlib"]
        assert not dataset.time.encoding["zlib"], "too small"
        assert dataset.exchange.encoding["dtype"] == "S1"


@pytest.mark.parametrize("content", [b"", b"no NetCDF"])
def test_other_files_are_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "other.nc").write_bytes(content)
    with pytest.raises(InputError, match="cannot be read as the NetCDF file of a study"):
        read_dataset(tmp_path / "other.nc")
    with pytest.raises(InputError, match=r"cannot read .*: No such file"):
        read_dataset(tmp_path / "missing.nc")


def test_another_dataset_is_refused(tmp_path: Path) -> None:
    xr.Dataset({"time": ("x", [1.0])}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    with pytest.raises(InputError, match="it has no case, kind, exchange"):
        read_dataset(tmp_path / "other.nc")
