"""Energy that this machine measures: counters of joules of the nodes on which ranks run.

Of the counters of Cray's nodes (``/sys/cray/pm_counters``), which count a whole node, there is nothing beside them.
Elsewhere the sockets and memories of powercap (RAPL of Intel and AMD) or, without them, the sockets of hwmon
(``amd_energy``), and the GPUs of NVIDIA by NVML, where nvidia-ml-py is installed, are added.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mpi4py import MPI

SYSFS = Path("/sys")
PERIOD_S = 60.0
"""Time between two readings of counters that wrap around: those of RAPL take many minutes."""
SHORTEST_S = 1.0
"""Metered time below which joules are noise: counters of nodes and GPUs step every tenth of a second or so."""
TOO_SHORT = "too short for the counters of this machine"
NO_COUNTERS = "no counters of energy: neither powercap, hwmon, pm_counters nor NVML has any"


class UnreadableError(Exception):
    """A counter is there, and cannot be read, or not as what it should be."""


@dataclass
class Counter:
    """A counter of joules, and what it has counted since `start`."""

    name: str
    read_j: Callable[[], float]
    range_j: float | None = None
    """It begins again at 0 beyond this; None: it does not."""
    counted_j: float = 0.0
    _last_j: float = field(default=0.0, repr=False)

    def start(self) -> None:
        """Count from now on."""
        self.counted_j, self._last_j = 0.0, self.read_j()

    def update(self) -> None:
        """Add what was counted since the last reading, once around at most."""
        now_j = self.read_j()
        step_j = now_j - self._last_j
        if step_j < 0 and self.range_j is not None:
            step_j += self.range_j
        self.counted_j += step_j
        self._last_j = now_j


def find_counters(root: Path = SYSFS, *, with_gpus: bool = True) -> list[Counter]:
    """Return the counters of this node, each of another part. Raises UnreadableError for one without permission."""
    if cray := list(_cray(root)):
        return cray
    return [*(list(_powercap(root)) or _hwmon(root)), *(_nvml() if with_gpus else ())]


def _cray(root: Path) -> Iterator[Counter]:
    path = root / "cray" / "pm_counters" / "energy"  # "1234567 J 1700000000000000 us"
    if path.exists():
        yield _checked(Counter("node (pm_counters)", lambda: _number(path)))


def _powercap(root: Path) -> Iterator[Counter]:
    """Sockets, and memories, which are no part of them; cores and graphics are parts, and psys holds all."""
    for folder in sorted((root / "class" / "powercap").glob("*-rapl:*")):
        name = _text(folder / "name")
        is_part = folder.name.count(":") > 1
        if name == "dram" if is_part else name.startswith("package"):
            socket = folder.name.split(":")[1]
            shown = f"dram {socket}" if is_part else name
            range_j = _number(folder / "max_energy_range_uj") * 1e-6
            yield _checked(Counter(f"{shown} (powercap)", _microjoules(folder / "energy_uj"), range_j))


def _hwmon(root: Path) -> Iterator[Counter]:
    for label in sorted((root / "class" / "hwmon").glob("hwmon*/energy*_label")):
        if re.fullmatch(r"Esocket\d+", name := _text(label)):
            path = label.with_name(label.name.replace("_label", "_input"))
            yield _checked(Counter(f"{name} (hwmon)", _microjoules(path)))


def _nvml() -> Iterator[Counter]:
    try:
        import pynvml
    except ImportError:
        return
    try:
        pynvml.nvmlInit()
        number = pynvml.nvmlDeviceGetCount()
    except pynvml.NVMLError:  # no driver, or no GPU
        return
    for i in range(number):
        try:
            device = pynvml.nvmlDeviceGetHandleByIndex(i)
            pynvml.nvmlDeviceGetTotalEnergyConsumption(device)
        except pynvml.NVMLError_NotSupported:  # older than Volta: it has no counter
            continue
        except pynvml.NVMLError as error:
            raise UnreadableError(f"GPU {i}: {error}") from None
        yield Counter(f"GPU {i} (NVML)", partial(_gpu_joules, pynvml, i, device))


def _gpu_joules(pynvml: Any, number: int, device: Any) -> float:
    try:
        return 1e-3 * float(pynvml.nvmlDeviceGetTotalEnergyConsumption(device))
    except pynvml.NVMLError as error:
        raise UnreadableError(f"GPU {number}: {error}") from None


def _microjoules(path: Path) -> Callable[[], float]:
    return lambda: 1e-6 * _number(path)


def _number(path: Path) -> float:
    """Return the number that a file begins with. Raises UnreadableError."""
    text = _text(path)
    try:
        return float(text.split()[0])
    except (ValueError, IndexError):
        raise UnreadableError(f"{path}: '{text}' does not begin with a number") from None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except PermissionError:
        raise UnreadableError(f"no permission to read {path}") from None
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UnreadableError(f"{path}: not a text of ASCII characters") from None


def _checked(counter: Counter) -> Counter:
    counter.read_j()
    return counter


class EnergyMeter:
    """Counts the joules of the nodes of a communicator while it is entered. Collective.

    One rank of each node reads its counters: before, after, and once in a while where they may wrap around.
    """

    def __init__(self, comm: MPI.Intracomm, root: Path = SYSFS) -> None:
        from tradewind.mpi.library import MPI

        self._comm = comm
        node = comm.Split_type(MPI.COMM_TYPE_SHARED)
        self._reads = node.Get_rank() == 0
        node.Free()
        self._counters: list[Counter] = []
        self._problem = ""
        self._began_s = self._took_s = 0.0
        self._ends = threading.Event()
        self._thread: threading.Thread | None = None
        if self._reads:
            try:
                self._counters = find_counters(root)
            except UnreadableError as error:
                self._problem = str(error)
            else:
                self._problem = "" if self._counters else NO_COUNTERS

    def __enter__(self) -> EnergyMeter:
        self._began_s = time.perf_counter()
        self._guarded(lambda counter: counter.start())
        if any(counter.range_j is not None for counter in self._counters):
            self._ends.clear()
            self._thread = threading.Thread(target=self._watch, name="energy counters", daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._thread is not None:
            self._ends.set()
            self._thread.join()
            self._thread = None
        self._guarded(lambda counter: counter.update())
        self._took_s = time.perf_counter() - self._began_s

    def _watch(self) -> None:
        while not self._ends.wait(PERIOD_S):
            self._guarded(lambda counter: counter.update())

    def _guarded(self, act: Callable[[Counter], None]) -> None:
        if self._problem:
            return
        try:
            for counter in self._counters:
                act(counter)
        except UnreadableError as problem:
            self._problem = str(problem)

    def result(self) -> dict[str, Any]:
        """Return what was counted, to be added up by `measured`; collective: all ranks return the same.

        ``energy_j`` of all nodes, ``energy_s``, the longest time that a node counted, ``energy_counters``, their names,
        and ``no_energy``, None. Where it is not measured the others are None, and ``no_energy`` is the reason.
        """
        counted = {each.name: each.counted_j for each in self._counters}
        found = self._comm.allgather((self._problem, counted, self._took_s) if self._reads else None)
        nodes = [each for each in found if each is not None]
        if problems := [problem for problem, _, _ in nodes if problem]:
            return _not_measured(problems[0])
        names = dict.fromkeys(name for _, counted, _ in nodes for name in counted)
        return {
            "energy_j": sum(joules for _, counted, _ in nodes for joules in counted.values()),
            "energy_s": max(took_s for _, _, took_s in nodes),
            "energy_counters": ", ".join(names),
            "no_energy": None,
        }


def measured(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the sum of results of meters, or the reason why there is none, as `EnergyMeter.result` does."""
    if missing := [each for each in results if each["no_energy"]]:
        return missing[0]
    energy_s = sum(each["energy_s"] for each in results)
    if energy_s < SHORTEST_S:
        return _not_measured(TOO_SHORT)
    return {**results[0], "energy_j": sum(each["energy_j"] for each in results), "energy_s": energy_s}


def _not_measured(reason: str) -> dict[str, Any]:
    return {"energy_j": None, "energy_s": None, "energy_counters": None, "no_energy": f"not measured here: {reason}"}
