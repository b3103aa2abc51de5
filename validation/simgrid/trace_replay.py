"""Has SimGrid replay a time-independent trace: `smpirun -replay`, on hosts that one switch joins."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tradewind.base.errors import InputError, TradewindError

INSTALL = "smpirun is not there: install libsimgrid-dev (Debian, Ubuntu), or SimGrid 3.32 from source"
_START_LINK = "15"
"""The event of Paje's format with which a message begins; its size comes last."""


@dataclass(frozen=True)
class ReplayedTrace:
    """Result of SimGrid."""

    time_s: float
    """Simulated."""
    cpu_s: float
    """Of a core, that the replay took, reading the trace included."""
    sizes: list[int]
    """Bytes of the messages between two ranks that were traced; empty where none were to be."""


def smpirun() -> str:
    """Return the program. Raises InputError where SimGrid is not installed."""
    found = shutil.which("smpirun")
    if found is None:
        raise InputError(INSTALL)
    return found


def write_platform(folder: Path, ranks: int, bandwidth: str = "10GBps", latency: str = "100ns") -> list[str]:
    """Write hosts of 1 Gflop/s and their list; return the options of smpirun that name them."""
    hosts, platform = folder / "hosts", folder / "platform.xml"
    hosts.write_text("".join(f"host{rank}\n" for rank in range(ranks)), encoding="ascii")
    cluster = f'radical="0-{ranks - 1}" speed="1Gf" bw="{bandwidth}" lat="{latency}"'
    platform.write_text(
        '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
        f'<platform version="4.1">\n<cluster id="hosts" prefix="host" suffix="" {cluster}/>\n</platform>\n',
        encoding="ascii",
    )
    return ["-np", str(ranks), "-platform", str(platform), "-hostfile", str(hosts)]


def replay_trace(trace: Path, ranks: int, folder: Path, messages: bool = False) -> ReplayedTrace:
    """Replay a trace. `messages`: trace them, too. Raises InputError, TradewindError."""
    traced = folder / "replayed.trace"
    command = [smpirun(), *write_platform(folder, ranks), "-replay", str(trace), "--cfg=smpi/host-speed:1Gf"]
    if messages:
        options = ("tracing:yes", "tracing/smpi:yes", "tracing/smpi/display-sizes:yes", f"tracing/filename:{traced}")
        command += [f"--cfg={option}" for option in options]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"LANG": "C"})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    _, found, time_s = done.stderr.rpartition("Simulation time ")
    if done.returncode != 0 or not found:
        raise TradewindError(f"SimGrid ended with exit code {done.returncode}: {done.stderr.strip()[-2000:]}")
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return ReplayedTrace(float(time_s.split()[0]), cpu_s, _sizes(traced) if messages else [])


def _sizes(path: Path) -> list[int]:
    with path.open(encoding="ascii") as file:
        words = (line.split() for line in file)
        return [int(line[-1]) for line in words if line and line[0] == _START_LINK]
