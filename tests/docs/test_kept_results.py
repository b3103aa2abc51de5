"""The pages show what is kept of the studies' results, and the kept files are small and whole."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import xarray as xr
from document_blocks import ROOT

MOST_BYTES = 600_000


@pytest.fixture(scope="module")
def studies() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_studies", ROOT / "docs" / "studies.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


KEPT = sorted((ROOT / "studies").glob("**/results/*.nc"))


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_kept_results_are_small_and_of_a_study(path: Path, studies: ModuleType) -> None:
    assert path.stat().st_size < MOST_BYTES
    kept = studies.load(path.stem)
    sweeps = {sweep.name for sweep in kept.study.sweep}
    assert kept.records
    assert {record["sweep"] for record in kept.records} <= sweeps, "run the study again, and keep its results"


def test_delays_between_pairs_keep_three_digits(studies: ModuleType) -> None:
    delays = np.array([[0.0, 1.2345678e-6, np.nan], [3.9999e-5, 7.7e-9, np.inf]])
    kept = studies._smaller(xr.Dataset({"pair_delay": (("a", "b"), delays, {"units": "s"})}))["pair_delay"]
    np.testing.assert_allclose(kept, delays, rtol=5e-4)
    assert not np.any(kept.values.view(np.uint32) & 0x1FFF), "digits that would not compress"
    assert kept.attrs == {"units": "s"}


@pytest.mark.slow  # draws every figure of every study
def test_pages_are_up_to_date(studies: ModuleType) -> None:
    for page in studies.PAGES:
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        assert text == studies.filled(page), f"{page}: run  python docs/studies.py"
        for picture in re.findall(r"\]\(\.\./(images/studies/[^)]+)\)", text):
            assert (ROOT / "docs" / picture).is_file(), f"{picture}: run  python docs/studies.py"


LEFT_OUT = {f"zheng2018-left-out{part}" for part in ("", "-findings", "-allreduce", "-allreduce-findings")}
BESIDE_STUDIES = {"zheng2018": {"cost"} | LEFT_OUT, "hpc4wc2024": set()}


@pytest.mark.parametrize("source", BESIDE_STUDIES)
def test_every_study_of_a_source_has_its_section(source: str) -> None:
    text = (ROOT / "docs" / "explanation" / f"{source}.md").read_text(encoding="utf-8")
    sections = set(re.findall(r"<!-- begin ([\w-]+) -->", text))
    assert (
        sections
        == {path.stem for path in (ROOT / "studies" / source).glob("*.toml")}
        | {"all-findings"}
        | BESIDE_STUDIES[source]
    )


def test_a_stale_page_is_seen(studies: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "how-to" / "packets.md"
    page.parent.mkdir()
    page.write_text("a\n<!-- begin packets-findings -->\nstale\n<!-- end packets-findings -->\nb\n", encoding="utf-8")
    monkeypatch.setattr(studies, "DOCS", tmp_path)
    made = studies.filled("how-to/packets.md")
    assert "stale" not in made
    assert made.startswith("a\n<!-- begin packets-findings -->\n\n| case | claim | here | because |")
    assert made.endswith("\n\n<!-- end packets-findings -->\nb\n")


def test_a_picture_comes_out_as_it_is_kept(studies: ModuleType) -> None:
    kept = studies.load(KEPT[0].stem)
    plot, path = next((plot, path) for plot, path in kept.pictures if path.suffix == ".svg")
    assert studies.picture(plot, kept.records) == path.read_bytes(), "run  python docs/studies.py"
