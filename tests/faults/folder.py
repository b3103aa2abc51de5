"""Runs the tests of a folder of the planted tree for many faults: collected once, then in a forked process per fault.

``python folder.py ORDER`` with an order of plant.py as JSON prints a line of JSON per fault. First all tests run
without a fault: those that fail are left out, and it is noted in which tests the place of each fault is reached. For a
fault only these run.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import select
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import _tradewind_fault
import hypothesis
import pytest

PAGE = 4096
LIBRARIES = re.compile(r"/\S*/tradewind/(?:_core|_mpi)\.\S*\.so|/\S*/libtradewind\.so\S*")
PATIENCE_S, PATIENCE = 120.0, 10.0
"""A test hangs that takes more seconds than this, and more times what it takes without a fault, by the clock."""
BESIDE = 4.0
"""Seconds by the clock, at most, for a second of processor time: others may use the machine."""
CACHED = re.compile(r"^\s*@(functools\.)?(lru_)?cache\b", re.MULTILINE)


class Active(ctypes.Structure):
    _fields_ = [("active", ctypes.c_int)]


def activate(number: int) -> None:
    """Make a fault the active one of this process and of those that it starts."""
    os.environ["TRADEWIND_FAULT"] = str(number)
    _tradewind_fault.active = number
    for path in {*LIBRARIES.findall(Path("/proc/self/maps").read_text())}:
        Active.in_dll(ctypes.CDLL(path), "tradewind_faults").active = number


def page_of(order: dict[str, Any]) -> Path:
    """Return the file in which processes note which faults they reach."""
    return Path(order["reach"]).with_suffix(".page")


def without_shrinking() -> None:
    """Let hypothesis draw the same examples each time, and report a failing one as it is."""
    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    hypothesis.settings.register_profile("faults", phases=phases, database=None, derandomize=True)
    hypothesis.settings.load_profile("faults")  # what conftest.py makes of the default starts from this


@dataclass
class Child:
    """A process that runs tests for a fault; 0: for none."""

    number: int
    pid: int
    pipe: int
    limit_s: float
    begin: float = field(default_factory=time.monotonic)
    test: str = ""
    test_begin: float = 0.0
    text: str = ""
    found: tuple[str, bool] | None = None
    found_at: float = 0.0
    ended: bool = False


class Folder:
    """The plugin of pytest that does all this in the place of its loop over the tests."""

    def __init__(self, order: dict[str, Any]) -> None:
        self.order = order
        self.reach: dict[str, Any] = {}
        self.child: int | None = None
        self.pipe = -1
        self.items: list[pytest.Item] = []
        self.session: pytest.Session | None = None
        self.at_collection: list[int] = []
        self.reached: dict[str, list[int]] = {}
        self.seconds: dict[str, float] = {}
        self.failed: list[str] = []

    # --- in the process that forks ---

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        self.session = session
        self.items = list(session.items)
        if "direct" in self.order:
            self.child, self.pipe = self.order["direct"], self.order["pipe"]
            session.items[:] = [item for item in self.items if item.nodeid in self.order["tests"]]
            return None
        if "mpi4py.MPI" in sys.modules:
            print("warning: the collected tests have initialised MPI", file=sys.stderr)
        reach = Path(self.order["reach"])
        if not reach.exists():
            page = page_of(self.order)
            self.at_collection = _taken(page)
            if self._fork(0, 3600.0, page):
                return None
            while self._watch_all(1):
                pass
            page.unlink()
            del os.environ["TRADEWIND_FAULTS_REACHED"]
        self.reach = json.loads(reach.read_text())
        for wanted in self.order["faults"]:
            if not self._tests_of(wanted):
                self._report(wanted["number"], "passed", "", False, 0.0)
                continue
            while self._watch_all(self.order["jobs"]):
                pass
            if self._fork(wanted["number"], wanted["left_s"], None, wanted):
                return None
        while self._watch_all(1):
            pass
        return True

    children: list[Child] = []  # noqa: RUF012

    def _fork(self, number: int, limit_s: float, page: Path | None, wanted: dict[str, Any] | None = None) -> bool:
        """Start a child; True in it."""
        here, there = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid > 0:
            os.close(there)
            self.children.append(Child(number, pid, here, limit_s))
            return False
        os.setsid()
        os.close(here)
        self.child, self.pipe = number, there
        self.children.clear()
        assert self.session is not None
        if page is not None:
            self.page = page
            self.session.config.option.maxfail = 0
        else:
            tests = self._tests_of(wanted or {})
            if self._starts_anew(wanted or {}):
                self._become(number, tests)
            activate(number)
            self.session.items[:] = tests
            self.session.config.option.maxfail = 1
        return True

    def _starts_anew(self, wanted: dict[str, Any]) -> bool:
        """Return whether a fault acts before any test runs: then its tests are collected with it."""
        number = wanted["number"]
        at_collection = number in self.reach["at_collection"]
        return wanted["on_import"] or (at_collection and not any(number in at for at in self.reach["reached"].values()))

    def _become(self, number: int, tests: list[pytest.Item]) -> None:
        os.set_inheritable(self.pipe, True)
        order = self.order | {"direct": number, "pipe": self.pipe, "tests": [item.nodeid for item in tests]}
        path = Path(self.order["reach"]).with_suffix(f".{number}")
        path.write_text(json.dumps(order))
        environment = os.environ | {"TRADEWIND_FAULT": str(number)}
        os.execve(sys.executable, [sys.executable, __file__, f"@{path}"], environment)

    def _tests_of(self, wanted: dict[str, Any]) -> list[pytest.Item]:
        """Return the tests that reach a fault, and those that use what these have made; without ranks first."""
        number = wanted["number"]
        reached, failed = self.reach["reached"], set(self.reach["failed"])
        everywhere = self._starts_anew(wanted)
        order: dict[str, list[tuple[bool, float, pytest.Item]]] = {}
        for item in self.items:
            if item.nodeid in failed:
                continue
            direct = everywhere or number in reached.get(item.nodeid, ())
            order.setdefault(str(item.path), []).append((direct, self.reach["seconds"].get(item.nodeid, 0.0), item))
        chosen: list[tuple[bool, float, list[pytest.Item]]] = []
        for path, tests in order.items():
            if not any(direct for direct, *_ in tests):
                continue
            cached = CACHED.search(Path(path).read_text()) is not None
            now = [(seconds, item) for direct, seconds, item in tests if direct]
            now += [(seconds, item) for direct, seconds, item in tests if not direct and (cached or _shares(item))]
            ranks = any(item.get_closest_marker("ranks") for _, item in now)
            chosen.append((ranks, sum(seconds for seconds, _ in now), [item for _, item in now]))
        chosen.sort(key=lambda file: file[:2])
        return [item for *_, items in chosen for item in items]

    def _watch_all(self, most: int) -> bool:
        """Look after the children; returns whether there are as many as allowed."""
        ready = select.select([child.pipe for child in self.children], [], [], 0.2)[0]
        for child in [*self.children]:
            if child.pipe in ready:
                data = os.read(child.pipe, 1 << 16).decode()
                child.ended = not data
                child.text += data
                *lines, child.text = child.text.split("\n")
                for line in lines:
                    self._take(child, line)
            now = time.monotonic()
            usual = self.reach.get("seconds", {}).get(child.test, 0.0)
            hangs = child.test and child.number and now - child.test_begin > PATIENCE_S + PATIENCE * usual
            late = now - child.begin > BESIDE * child.limit_s
            lingers = child.found is not None and now - child.found_at > 10.0  # its ranks are to end with it
            if child.ended or lingers or ((hangs or late) and child.found is None):
                self._end(child, "hang" if hangs else "timeout" if late else "passed")
        return len(self.children) >= most

    def _take(self, child: Child, line: str) -> None:
        what, _, rest = line.partition(" ")
        if what == "begin":
            child.test, child.test_begin = rest, time.monotonic()
        elif what == "end":
            child.test = ""
        elif what == "found" and child.found is None:
            ranks, _, test = rest.partition(" ")
            child.found, child.found_at = (test, ranks == "ranks"), time.monotonic()

    def _end(self, child: Child, verdict: str) -> None:
        self.children.remove(child)
        test = child.test
        if not child.ended:
            _kill(child.pid)
        _, status, used = os.wait4(child.pid, 0)
        os.close(child.pipe)
        ranks = False
        if child.found:
            verdict, (test, ranks) = "found", child.found
        elif verdict == "passed" and test:
            verdict = "found"  # the process died in it
            test += " (crash)"
        if child.number == 0:
            if verdict != "passed":
                raise SystemExit(f"without a fault the tests end so: {verdict} {test} {status}")
            return
        if verdict == "passed" and status != 0:
            raise SystemExit(f"the tests for fault {child.number} could not be run")
        self._report(child.number, verdict, test, ranks, used.ru_utime + used.ru_stime)

    def _report(self, number: int, verdict: str, test: str, ranks: bool, seconds: float) -> None:
        row = {"number": number, "verdict": verdict, "test": test, "ranks": ranks, "seconds": seconds}
        os.write(OUTPUT, (json.dumps(row) + "\n").encode())

    # --- in a child ---

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        os.write(self.pipe, f"begin {item.nodeid}\n".encode())
        begin = time.monotonic()
        result = yield
        self.seconds[item.nodeid] = time.monotonic() - begin
        if self.child == 0:
            self.reached[item.nodeid] = _taken(self.page)
        os.write(self.pipe, f"end {item.nodeid}\n".encode())
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.failed:
            return
        self.failed.append(report.nodeid)
        assert self.session is not None
        item = next(item for item in self.session.items if item.nodeid == report.nodeid)
        ranks = "ranks" if item.get_closest_marker("ranks") else "alone"
        if self.child:
            os.write(self.pipe, f"found {ranks} {report.nodeid}\n".encode())

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        if self.child == 0:
            reach = {
                "at_collection": self.at_collection,
                "reached": self.reached,
                "seconds": self.seconds,
                "failed": self.failed,
            }
            Path(self.order["reach"]).write_text(json.dumps(reach))


def _shares(item: pytest.Item) -> bool:
    """Return whether a test uses what its file makes once."""
    definitions = getattr(item, "_fixtureinfo").name2fixturedefs  # noqa: B009
    return any(
        each.scope != "function" and "tests" in each.baseid
        for name, found in definitions.items()
        if name != "ranks_find_the_tests"
        for each in found
    )


def _taken(page: Path) -> list[int]:
    """Return the faults that have been reached, and forget them."""
    data = page.read_bytes()
    with page.open("r+b") as file:
        file.write(bytes(PAGE))
    return [number for number, byte in enumerate(data) if byte]


def _kill(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGTERM)
        time.sleep(0.2)
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def main() -> int:
    given = sys.argv[1]
    order = json.loads(Path(given[1:]).read_text() if given.startswith("@") else given)
    if not Path(order["reach"]).exists():
        page_of(order).write_bytes(bytes(PAGE))
        os.environ["TRADEWIND_FAULTS_REACHED"] = str(page_of(order))
        _tradewind_fault.open_reached()
    without_shrinking()
    folder = Folder(order)
    arguments = [f"tests/{order['folder']}", "-x", "-q", "-m", "not slow", "--tb=short", "-p", "no:cacheprovider"]
    arguments += ["--continue-on-collection-errors", "-p", "no:xdist"]
    code = int(pytest.main(arguments, plugins=[folder]))
    sys.stdout.flush()
    sys.stderr.flush()
    if "direct" in order and code not in (0, 5) and not folder.failed:  # an error of the collection
        os.write(order["pipe"], b"found alone collection\n")
    if folder.child is not None:
        os.close(folder.pipe)
        os._exit(0 if code in (0, 1, 5) or "direct" in order else 3)
    return 0 if code in (0, 1, 5) else code  # 5: C++ tests alone


OUTPUT = os.dup(1)
os.dup2(2, 1)  # what pytest prints goes into the log

if __name__ == "__main__":
    sys.exit(main())
