from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser_pages import browser
from command_line import Command, Result, run_tradewind
from report_study import STUDY


@pytest.fixture(scope="session")
def tradewind() -> Command:
    return run_tradewind


@pytest.fixture(scope="session")
def study_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("study") / "small.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture(scope="session")
def results(study_file: Path) -> tuple[Path, Result]:
    """The folder of the study after one run of the command, and its output."""
    folder = study_file.parent / "results"
    return folder, run_tradewind("study", study_file, "--out", folder, "--json")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as found:
        yield found
