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

from tradewind.study.plan.load import load_study

MAX_BYTES = 700_000


@pytest.fixture(scope="module")
def studies() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_studies", ROOT / "docs" / "studies.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(ROOT / "docs"))  # a program and no package
    spec.loader.exec_module(module)
    return module


def kept_results() -> ModuleType:
    """The module of that name in docs, which `studies` has loaded."""
    return importlib.import_module("kept_results")


KEPT = sorted((ROOT / "studies").glob("**/results/*.nc"))


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_kept_results_are_small_and_of_a_study(path: Path, studies: ModuleType) -> None:
    assert path.stat().st_size < MAX_BYTES
    sweeps = {sweep.name for sweep in load_study(kept_results().study_file(path.stem)).study.sweep}
    # All of it is read by the slow test of the pages. By the library of NetCDF: h5netcdf takes ten times as long.
    with xr.open_dataset(path, engine="netcdf4") as dataset:
        kept = {str(sweep) for sweep in dataset.sweep.values}
    assert kept
    assert kept <= sweeps, "run the study again, and keep its results"


def test_delays_between_pairs_keep_three_digits(studies: ModuleType) -> None:
    delays = np.array([[0.0, 1.2345678e-6, np.nan], [3.9999e-5, 7.7e-9, np.inf]])
    kept = kept_results()._smaller(xr.Dataset({"pair_delay": (("a", "b"), delays, {"units": "s"})}))["pair_delay"]
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


PAGES_OF = {
    "zheng2018": (
        ["zheng2018", "zheng2018-figures", "zheng2018-claims"],
        {"cost", "all-counts", "all-findings-source", "all-findings-variant", "all-findings-question"},
    ),
    "hpc4wc2024": (["hpc4wc2024", "hpc4wc2024-claims"], {"all-findings"}),
    "escape2018": (["escape2018", "escape2018-claims"], {"all-findings"}),
    "fesom2026": (["fesom2026"], {"all-findings"}),
    "unexplained": (
        ["unexplained"],
        {"mpi-share-factors", "protocol-factors", "burst-factors", "burst-sizes", "burst-orders"},
    ),
}
"""The pages about the studies of a source, and their sections that are about all of them."""


@pytest.mark.parametrize("source", PAGES_OF)
def test_every_study_of_a_source_has_its_section(source: str) -> None:
    pages, beside = PAGES_OF[source]
    texts = [(ROOT / "docs" / "explanation" / f"{page}.md").read_text(encoding="utf-8") for page in pages]
    sections = [name for text in texts for name in re.findall(r"<!-- begin ([\w-]+) -->", text)]
    assert sorted(sections) == sorted({path.stem for path in (ROOT / "studies" / source).glob("*.toml")} | beside)


def test_the_studies_of_zheng2018_have_the_same_bases() -> None:
    """Each file states them for itself, so that it runs alone; a page lays their results side by side."""
    paths = [*(ROOT / "studies" / "zheng2018").glob("*.toml"), ROOT / "studies" / "zheng2018-left-out.toml"]
    bases = {path.stem: load_study(path).study.base for path in paths}
    with_bases = {name: each for name, each in bases.items() if each}
    assert set(bases) - set(with_bases) <= {"figure-9d"}, "which simulates nothing"
    assert [name for name, each in with_bases.items() if each != bases["figure-5a"]] == []


@pytest.mark.slow  # reads the results of every study
def test_the_numbers_in_the_text_of_pages_are_those_of_the_results(studies: ModuleType) -> None:
    pages = [path.name.removesuffix(".values.toml") for path in (ROOT / "docs").glob("*/*.values.toml")]
    assert "zheng2018" in pages
    for page in (page for page in studies.PAGES if Path(page).stem in pages):
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        assert text == studies.with_values(page, text), f"{page}: run  python docs/studies.py"


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_the_result_that_visitors_see_first_is_on_its_page(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    result = re.split(r"!\[", text[text.index("Zheng & Marguinaud (2018) simulated exascale networks") :])[0]
    numbers = re.findall(r"\d[\d.]* m?s", result)
    whole = (ROOT / "docs" / "explanation" / "zheng2018.md").read_text(encoding="utf-8")
    assert len(numbers) == 6
    assert {number for number in numbers if f"-->{number}<!--" not in whole} == set()


@pytest.mark.parametrize(
    ("values", "text", "expected"),
    [
        ("", "<!-- = few -->1 s<!-- = -->", "a.values.toml has no value few"),
        (
            'few = { study = "nodes", of = { ranks = 7 } }',
            "<!-- = few -->1 s<!-- = -->",
            "few: no case of nodes is kept",
        ),
        ('few = { study = "nodes", of = { ranks = 7 } }', "none", "a.md does not use few"),
    ],
)
def test_numbers_of_pages_that_no_result_has(
    studies: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, values: str, text: str, expected: str
) -> None:
    monkeypatch.setattr(studies, "DOCS", tmp_path)
    (tmp_path / "a.values.toml").write_text(values, encoding="utf-8")
    with pytest.raises(ValueError, match=expected):
        studies.with_values("a.md", text)


def test_a_stale_page_is_seen(studies: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "how-to" / "packets.md"
    page.parent.mkdir()
    page.write_text("a\n<!-- begin packets-findings -->\nstale\n<!-- end packets-findings -->\nb\n", encoding="utf-8")
    monkeypatch.setattr(studies, "DOCS", tmp_path)
    made = studies.filled("how-to/packets.md")
    assert "stale" not in made
    assert made.startswith("a\n<!-- begin packets-findings -->\n\n| case | claim | here | because |")
    assert made.endswith("\n\n<!-- end packets-findings -->\nb\n")


def test_a_section_that_stands_twice_is_seen(
    studies: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "how-to" / "packets.md"
    page.parent.mkdir()
    page.write_text(2 * "<!-- begin packets-table -->\nstale\n<!-- end packets-table -->\n", encoding="utf-8")
    monkeypatch.setattr(studies, "DOCS", tmp_path)
    with pytest.raises(ValueError, match="section packets-table stands there twice"):
        studies.filled("how-to/packets.md")


def test_a_picture_comes_out_as_it_is_kept(studies: ModuleType) -> None:
    some = (studies.load(path.stem) for path in small_ones("zheng2018"))
    kept, plot, path = next((k, plot, path) for k in some for plot, path in k.pictures if path.suffix == ".svg")
    assert studies.picture(plot, kept.records) == path.read_bytes(), "run  python docs/studies.py"


def small_ones(source: str) -> list[Path]:
    """The kept files about a source, the smallest first: they are read soonest."""
    return sorted((ROOT / "studies" / source / "results").glob("*.nc"), key=lambda path: path.stat().st_size)
