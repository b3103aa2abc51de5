"""Settings of all tests."""

from __future__ import annotations

import datetime
import gc
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import settings
from kept_ranks import KeptRanks
from slow_tests import why_file

# No deadline: a busy machine is not an error.
settings.register_profile("tradewind", deadline=None)
settings.load_profile("tradewind")

TESTS = Path(__file__).parent

KEPT_CASES_SEED = os.environ.setdefault("TRADEWIND_KEPT_CASES_SEED", datetime.date.today().isoformat())
"""Chooses the kept cases of studies that are simulated again (docs/test_kept_cases.py): others each day."""

# pytest-xdist says its terminal's width to the processes that share the tests, in which no terminal looks on.
for _name in ("COLUMNS", "LINES"):
    os.environ.pop(_name, None)

# Ranks of MPICH that wait ask for messages without a pause, and keep from their core those that they wait for. These
# sleep now and then: with fewer cores than ranks, or other work beside them, they are two to three times as fast.
os.environ.setdefault("MPIR_CVAR_CH4_PROGRESS_THROTTLE", "1")
os.environ.setdefault("MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT", "32")

# The threads of NumPy's BLAS wait awake for a while in each of thousands of processes; hardly any has work for them.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Open MPI's own mpiexec starts nothing for root, whom CI runs as, unless two variables allow it.
for _name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
    os.environ.setdefault(_name, "1")

RANKS = (
    *("benchmarks", "dwarfs", "languages", "launch", "mpi"),
    *("sim/test_shared.py", "timeline/test_measured_time_line.py"),
    *(
        "fieldserver/model/test_field_server.py",
        "fieldserver/model/test_dwarf_output.py",
        "fieldserver/model/test_errors_of_ranks.py",
        "fieldserver/model/test_failures.py",
        "fieldserver/model/test_input.py",
        "fieldserver/model/test_refusals.py",
        "fieldserver/model/test_back_pressure.py",
    ),
)
"""Below tests/: what starts many jobs of MPI ranks, each of which waits on a core of its own."""
LONGEST = (
    "cmake/test_wheel.py",
    "docs/test_pages.py",
    "fieldserver/server/test_kill_points.py",
    "validation/test_sstmacro.py",
)
"""Files that begin first: one process would be left alone with them at the end."""
APART = ("docs/test_pages.py", "docs/test_kept_cases.py")
"""Files whose tests have nothing in common, and may run in several processes."""
ALONE = ("dwarfs/mpdata/test_mpdata_peer.py",)
"""Files of RANKS that start none, and take long."""


def pytest_report_header() -> str:
    return f"kept cases of studies: TRADEWIND_KEPT_CASES_SEED={KEPT_CASES_SEED}"


def _name(item: pytest.Item) -> str:
    return item.path.relative_to(TESTS).as_posix()


def _starts_ranks(name: str) -> bool:
    return name not in ALONE and any(name == part or name.startswith(f"{part}/") for part in RANKS)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Pass over files none of whose tests is asked for by -m: to import them all takes longer than many tests."""
    asked = re.search(r"(\bnot +)?\branks\b", config.option.markexpr)
    if asked is None or not collection_path.match("test_*.py"):
        return None
    name = collection_path.relative_to(TESTS).as_posix()
    if asked[1]:
        return _starts_ranks(name) or None
    return (not _starts_ranks(name) and "mark.ranks" not in collection_path.read_text(encoding="utf-8")) or None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks tests that start many MPI ranks: they do not run beside others. What takes longest comes first.

    Where TRADEWIND_SLOW is "turn", slow tests are left out whose turn it is not.
    """
    items.sort(key=lambda item: (_name(item) not in LONGEST, item.path.parts))
    for item in items:
        if _starts_ranks(_name(item)):
            item.add_marker("ranks")
    waiting = [item for item in items if item.get_closest_marker("slow") and not why_file(_name(item))]
    if waiting:
        config.hook.pytest_deselected(items=waiting)
        left_out = set(waiting)
        items[:] = [item for item in items if item not in left_out]


def pytest_collection_finish() -> None:
    """Takes the thousands of collected tests out of what each collection of garbage looks at."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Gives the tests of a file to one of the processes that share them, as they share what is made once."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.split("::", 1)[0]
            return nodeid if file.removeprefix("tests/") in APART else file

    return ByFile(config, log)


FRESH = (
    "launch/test_job.py",
    "mpi/test_mpi_abandoned.py::test_windows_made_in_unlike_orders_are_freed_at_the_end",
    "mpi/test_mpi_device.py",
    "sim/test_shared.py::test_each_process_holds_its_part",
    "sim/test_shared.py::test_memory_of_one_runs_out",
)
"""Tests of how jobs start and end, and of their memory: each of theirs has ranks of its own."""


WITH_PROGRAMS = ("device", "dwarfs", "launch", "mpi", "spectral", "timeline")
"""Folders whose tests run functions of modules beside them on ranks."""


@pytest.fixture(autouse=True, scope="module")
def ranks_find_the_tests(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let ranks import the modules beside the tests, and those above that several folders use."""
    folder = request.path.parent
    if not {*folder.relative_to(TESTS).parts[:1]} & {*WITH_PROGRAMS}:
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{folder}{os.pathsep}{TESTS}")
        patch.syspath_prepend(str(folder))
        yield


_KEPT = KeptRanks()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Function) -> None:
    """Lets ranks that are kept do the jobs of a test, and of its fixtures, but where it is about ranks that start."""
    if item.get_closest_marker("ranks"):
        file = _name(item)
        _KEPT.leave() if {file, f"{file}::{item.originalname}"} & {*FRESH} else _KEPT.take_over()


def pytest_sessionfinish() -> None:
    _KEPT.end()


Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    return _nothing_missing((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector):
    report = _nothing_missing((yield))
    if collector.path == TESTS and report.passed:
        report.result = _in_turn(report.result)
    return report


def _in_turn(nodes: list[pytest.Item | pytest.Collector]) -> list[pytest.Item | pytest.Collector]:
    """Returns the folders of tests/ in the order in which this process collects them.

    Each of those that share the tests begins with other folders, and finds compiled what the others began with: the
    first collection of a checkout takes a third less processor time. The order of the tests is the same in all.
    """
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    first = len(nodes) * worker // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    return [*nodes[first:], *nodes[:first]]


def _nothing_missing(report: Report) -> Report:
    """Where TRADEWIND_TESTS_MAY_SKIP is set, what is skipped fails, unless the reason has one of its words.

    So a machine that has all that the tests need, like CI's, does not turn green because something was not built.
    """
    may_skip = os.environ.get("TRADEWIND_TESTS_MAY_SKIP")
    if may_skip is None or not report.skipped or hasattr(report, "wasxfail"):
        return report
    reason = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)
    if not any(word in reason for word in may_skip.split(",") if word):
        report.outcome = "failed"
        report.longrepr = f"{reason}\n(TRADEWIND_TESTS_MAY_SKIP={may_skip!r}: nothing else may be skipped)"
    return report
