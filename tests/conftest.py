"""Settings of all tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

# No deadline: a busy machine is not an error.
settings.register_profile("tradewind", deadline=None)
settings.load_profile("tradewind")

TESTS = Path(__file__).parent

RANKS = (
    *("benchmarks", "dwarfs", "languages", "launch", "mpi", "docs/test_examples.py", "docs/test_pages.py"),
    *("sim/test_shared.py", "trace/test_measured_time_line.py"),
)
"""Below tests/: what starts many jobs of MPI ranks, each of which waits on a core of its own."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks tests that start many MPI ranks: they do not run beside others.

    Where processes share the others (pytest-xdist), those of a file, or of the reports, share what is made once.
    """
    for item in items:
        name = item.path.relative_to(TESTS).as_posix()
        if any(name == part or name.startswith(f"{part}/") for part in RANKS):
            item.add_marker("ranks")
        if config.pluginmanager.hasplugin("xdist"):
            item.add_marker(pytest.mark.xdist_group("report" if name.startswith("report/") else name))
