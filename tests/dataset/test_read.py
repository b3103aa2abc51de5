"""Datasets are read as records, those of earlier versions too."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from test_open_results import record

from tradewind.base.errors import InputError
from tradewind.dataset import open_results
from tradewind.dataset.build import build_dataset, without_empty, write_dataset
from tradewind.dataset.read import load_dataset, read_dataset


@pytest.mark.parametrize("name", ["extrapolated_change", "reckoned_change"])
def test_a_change_is_read_under_its_former_name(tmp_path: Path, name: str) -> None:
    case = record("ring-1", 4, "torus-M")
    case["result"] |= {"simulated_times": 8, "extrapolated_change": 0.25}
    dataset = without_empty(build_dataset([case], {"title": "t"})).rename({"extrapolated_change": name})
    write_dataset(dataset, tmp_path / "results.nc")
    ((found,), _) = read_dataset(tmp_path / "results.nc")
    assert found["result"]["extrapolated_change"] == 0.25


def test_a_label_that_is_a_number_in_one_case_and_a_text_in_another(tmp_path: Path) -> None:
    """The truncation of two dwarfs: a degree, and two wavenumbers."""
    values = [159, "85x85", None]
    cases = [record("ring-1", 4, "torus-M") | {"truncation": value, "key": str(value)} for value in values]
    write_dataset(without_empty(build_dataset(cases, {"title": "t"})), tmp_path / "results.nc")
    found, _ = read_dataset(tmp_path / "results.nc")
    assert [each["truncation"] for each in found] == values
    assert open_results(tmp_path / "results.nc").sel(truncation="85x85").key.values == "85x85"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # h5netcdf closes what it has not opened
@pytest.mark.slow
def test_a_damaged_file_is_refused_or_read(tmp_path: Path) -> None:
    path, random = tmp_path / "results.nc", Random(3)
    write_dataset(build_dataset([record("ring-1", 4, "torus-M")], {"title": "t"}), path)
    content = path.read_bytes()
    refused = []
    for _ in range(40):
        damaged = bytearray(content)
        for _ in range(random.choice((1, 30, 400))):
            damaged[random.randrange(len(damaged))] = random.randrange(256)
        path.write_bytes(damaged)
        try:
            load_dataset(path)
        except InputError as error:
            refused.append(str(error))
    assert len(refused) > 20
    assert all(text.startswith(f"{path} ") for text in refused)
