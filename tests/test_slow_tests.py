"""Slow tests are chosen by what has changed, and by turns."""

from __future__ import annotations

import pytest
import slow_tests


@pytest.fixture
def choose(monkeypatch):
    """Set which paths have changed, None where the commit is not known, and the turn."""

    def choose(changed, turn=0):
        monkeypatch.setenv("TRADEWIND_SLOW", "turn")
        monkeypatch.setattr(slow_tests, "changed", lambda: changed)
        monkeypatch.setattr(slow_tests, "settings", lambda: ("0" * 40, turn))

    return choose


@pytest.mark.parametrize(
    ("folder", "changed", "runs"),
    [
        ("sim", "src/sim/engine.cpp", True),
        ("sim", "src/machine/routing/torus.hpp", True),
        ("sim", "src/mpi/plan.cpp", False),
        ("study", "python/tradewind/dwarfs/nekbone/__init__.py", True),
        ("study", "python/tradewind/report/page.py", False),
        ("dwarfs", "src/kernel/mpdata/mpdata.cpp", True),
        ("languages", "bindings/fortran/arrays.f90", True),
        ("cmake", "CMakeLists.txt", True),
        ("docs", "docs/index.md", True),
        ("mpi", "tests/mpi/mpi_cases.py", True),
        ("mpi", "tests/mpi_like/other.py", False),
    ],
)
def test_tests_run_whose_folder_or_one_below_it_has_changed(choose, folder, changed, runs):
    choose(frozenset({changed}))
    assert bool(slow_tests.why((folder,), 1)) is runs


def test_three_turns_run_all_and_each_test_once(choose):
    runs = []
    for turn in range(5, 8):
        choose(frozenset(), turn)
        runs += [name for name in slow_tests.JOBS if slow_tests.why_job(name)]
    assert sorted(runs) == sorted(slow_tests.JOBS)


def test_all_run_where_nothing_is_known_or_no_turn_is_asked_for(choose, monkeypatch):
    choose(None, 0)
    assert slow_tests.why(("sim",), 1)
    choose(frozenset(), 0)
    assert not slow_tests.why(("sim",), 1)
    monkeypatch.delenv("TRADEWIND_SLOW")
    assert slow_tests.why(("sim",), 1)


def test_what_jobs_and_folders_name_exists():
    tests = {path.name for path in (slow_tests.ROOT / "tests").iterdir() if path.is_dir()}
    assert tests >= {folder for _, folders in slow_tests.JOBS.values() for folder in folders}
    assert tests >= {*slow_tests.BESIDE, *slow_tests.CORE}
    for places in slow_tests.BESIDE.values():
        assert all((slow_tests.ROOT / place).exists() for place in places)
