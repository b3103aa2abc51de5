"""Settings of all tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

# No deadline: a busy machine is not an error.
settings.register_profile("tradewind", deadline=None)
settings.load_profile("tradewind")

TESTS = Path(__file__).parent

RANKS = ("benchmarks", "docs/test_examples.py", "dwarfs", "languages", "launch", "mpi", "trace/test_measured_time_line.py")
"""Below tests/: what starts jobs of MPI ranks, each of which takes all cores."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Says which tests one process runs one after another, where several share them (pytest-xdist).

    Jobs of ranks do not run beside each other, and begin first: together they take longest. Of others, those of a file
    (of the reports, of the folder) share what is made once for them; a page of the documents shares nothing.
    """
    if not config.pluginmanager.hasplugin("xdist"):
        return
    items.sort(key=lambda item: not _starts_ranks(item))
    for item in items:
        name = _name(item)
        if name != "docs/test_pages.py":
            together = "ranks" if _starts_ranks(item) else "report" if name.startswith("report/") else name
            item.add_marker(pytest.mark.xdist_group(together))


def _name(item: pytest.Item) -> str:
    """Of a test's file, below tests/."""
    return item.path.relative_to(TESTS).as_posix()


def _starts_ranks(item: pytest.Item) -> bool:
    name = _name(item)
    return any(name == part or name.startswith(f"{part}/") for part in RANKS)
