"""The results of studies that are kept in the repository, and where they lie."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from tradewind.dataset.build import without_empty, write_dataset
from tradewind.dataset.read import read_dataset
from tradewind.figure.figure import draw
from tradewind.report.build import build_report, slug
from tradewind.study.cases.environment import here
from tradewind.study.cases.records import Record
from tradewind.study.claims.finding import Verdict
from tradewind.study.claims.judgement import judge_each
from tradewind.study.model.study import Plot, Study
from tradewind.study.model.study_file import StudyFile
from tradewind.study.plan.load import load_study

DOCS = Path(__file__).parent
STUDIES = DOCS.parent / "studies"
PICTURES = DOCS / "images" / "studies"
AS_PIXELS = ("congestion", "pairs", "matrix")
"""Kinds of plots with too many cells for a vector picture: they are kept as pixels."""


@dataclass(frozen=True)
class Kept:
    """A study and the results of it that are kept."""

    name: str
    file: StudyFile
    records: list[Record]
    attributes: dict[str, Any]

    @property
    def study(self) -> Study:
        return self.file.study

    @cached_property
    def judged(self) -> list[list[Verdict]]:
        """The verdicts on each finding."""
        return judge_each(self.file, self.records)

    @property
    def verdicts(self) -> list[Verdict]:
        return [verdict for verdicts in self.judged for verdict in verdicts]

    @property
    def pictures(self) -> Iterator[tuple[Plot, Path]]:
        """The plots of which cases are kept, and their files."""
        for i, plot in enumerate(self.study.plot):
            suffix = "png" if plot.kind in AS_PIXELS else "svg"
            path = PICTURES / f"{self.name}-{i + 1:02}-{slug(plot.title)}.{suffix}"
            if draw(plot, self.records) is not None:
                yield plot, path


def study_file(name: str) -> Path:
    """The file of a study by its name. Raises ValueError for a name that no study has."""
    found = list(STUDIES.glob(f"**/{name}.toml"))
    if len(found) != 1:
        raise ValueError(f"{len(found)} studies are called {name}")
    return found[0]


def kept_file(name: str) -> Path:
    return study_file(name).parent / "results" / f"{name}.nc"


@cache
def load(name: str) -> Kept:
    """The kept results of a study, judged by its file as it is now; without any where none are kept."""
    file = load_study(study_file(name))
    records, attributes = read_dataset(kept_file(name)) if kept_file(name).is_file() else ([], {})
    return Kept(name, file, records, dict(attributes))


def keep(results: Path) -> list[str]:
    """Keeps the results of a study, or of all studies of a folder; returns their names."""
    folders = (
        [results] if (results / "study.toml").is_file() else [file.parent for file in results.glob("*/study.toml")]
    )
    if not folders:
        raise SystemExit(f"error: {results} holds no results: `tradewind study FILE` makes some")
    for folder in folders:
        try:
            target = kept_file(folder.name)
        except ValueError as error:
            raise SystemExit(
                f"error: {folder}: {error}: results lie in a folder that is called as their study"
            ) from None
        target.parent.mkdir(exist_ok=True)
        with xr.open_dataset(build_report(folder, here()).dataset, engine="h5netcdf") as dataset:
            write_dataset(_smaller(without_empty(dataset.load())), target)
        print(f"kept: {target.relative_to(DOCS.parent)}, {target.stat().st_size / 1000:.0f} kB")
    return [folder.name for folder in folders]


def _smaller(dataset: xr.Dataset) -> xr.Dataset:
    """Delays between pairs to 3 digits, of which a study may have a million: else they do not compress."""
    if "pair_delay" not in dataset:
        return dataset
    delays = dataset["pair_delay"]
    spare = 13  # of the 23 bits of a mantissa
    bits = delays.values.astype(np.float32).view(np.uint32) + np.uint32(1 << (spare - 1))
    rounded = (bits >> np.uint32(spare) << np.uint32(spare)).view(np.float32)
    return dataset.assign(pair_delay=(delays.dims, rounded, delays.attrs))
