"""Datasets are read as records, those of earlier versions too."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_open_results import record

from tradewind.dataset.build import build_dataset, write_dataset
from tradewind.dataset.read import read_dataset


@pytest.mark.parametrize("name", ["extrapolated_change", "reckoned_change"])
def test_a_change_is_read_under_its_former_name(tmp_path: Path, name: str) -> None:
    case = record("ring-1", 4, "torus-M")
    case["result"] |= {"simulated_times": 8, "extrapolated_change": 0.25}
    dataset = build_dataset([case], {"title": "t"}).rename({"extrapolated_change": name})
    write_dataset(dataset, tmp_path / "results.nc")
    ((found,), _) = read_dataset(tmp_path / "results.nc")
    assert found["result"]["extrapolated_change"] == 0.25
