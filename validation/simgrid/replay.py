"""Has SimGrid replay an exchange that is ready to be simulated.

SimGrid (Casanova, Giersch, Legrand, Quinson & Suter 2014) shares the bandwidth of each link among the flows on it, all
at once, and knows neither packets nor queues. Its options are set so that links mean the same on both sides: the whole
bandwidth and one latency (network/model CM02: factors 1 in place of 0.97 and 13.01), no share lost to acknowledgements
on the way back (network/crosstraffic 0), no window of TCP (network/TCP-gamma 0).
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tradewind.base.errors import InputError, TradewindError
from tradewind.simulation import Simulation
from validation.routes import Link, Routes, bandwidths, latencies, messages

OPTIONS = (
    "network/model:CM02",
    "network/bandwidth-factor:1",
    "network/latency-factor:1",
    "network/weight-S:0",
    "network/crosstraffic:0",
    "network/TCP-gamma:0",
    "surf/precision:1e-12",
)
SOURCE = Path(__file__).with_suffix(".cpp")
PROGRAM = Path(__file__).parents[2] / "build" / "validation" / "replay"
INSTALL = "SimGrid is not there: install libsimgrid-dev (Debian, Ubuntu) and g++, or SimGrid 3.32 from source"


@dataclass(frozen=True)
class Replayed:
    """Result of SimGrid."""

    time_s: float
    """Simulated."""
    cpu_s: float
    """Of a core, that the simulation took, set-up not included."""


def build() -> Path:
    """The compiled program. Raises InputError where SimGrid or a compiler is missing."""
    if PROGRAM.exists() and PROGRAM.stat().st_mtime > SOURCE.stat().st_mtime:
        return PROGRAM
    PROGRAM.parent.mkdir(parents=True, exist_ok=True)
    new = PROGRAM.with_suffix(f".{os.getpid()}")  # others may build, or run it, at the same time
    command = ["g++", "-O2", "-std=c++17", str(SOURCE), "-lsimgrid", "-o", str(new)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise InputError(INSTALL) from None
    if "simgrid/s4u.hpp" in done.stderr or "-lsimgrid" in done.stderr:
        raise InputError(INSTALL)
    if done.returncode != 0:
        raise TradewindError(f"{SOURCE.name} does not compile with this SimGrid:\n{done.stderr}")
    new.replace(PROGRAM)
    return PROGRAM


def write(path: Path, simulation: Simulation) -> None:
    """Writes network, routes and messages as `replay.cpp` reads them. One rank per node, and fixed routes."""
    routes, place = Routes(simulation.machine), simulation.placement
    sent = list(messages(simulation))
    nodes = [place.node(rank) for rank in range(simulation.exchange.ranks)]
    if len(set(nodes)) < len(nodes) or not routes.is_fixed():
        raise InputError("SimGrid replays one rank per node, on networks where one way joins two nodes")
    numbers: dict[Link, int] = {}
    lines = []
    for sender, receiver in dict.fromkeys((message.sender, message.receiver) for message in sent):
        way = routes.path(nodes[sender], nodes[receiver])
        ids = [numbers.setdefault(link, len(numbers)) for link in way]
        lines.append(f"{sender} {receiver} {len(ids)} {' '.join(map(str, ids))}\n")
    rate, latency = bandwidths(simulation.file.machine), latencies(simulation.file.machine)
    stages = 1 + max(message.stage for message in sent)
    with path.open("w", encoding="ascii") as file:
        file.write(f"{len(nodes)} {stages} {len(numbers)} {len(lines)} {len(sent)}\n")
        file.writelines(f"{rate[link.kind]:.17g} {latency[link.kind]:.17g}\n" for link in numbers)
        file.writelines(lines)
        file.writelines(f"{m.sender} {m.receiver} {m.stage} {m.size}\n" for m in sent)


def replay(simulation: Simulation, order: str = "together") -> Replayed:
    """Simulates an exchange with SimGrid. Raises InputError, TradewindError.

    `order`: in a stage a rank sends all messages "together", or each "in-turn", when the one before has arrived.
    """
    program = build()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "exchange"
        write(path, simulation)
        options = [f"--cfg={option}" for option in OPTIONS]
        command = [str(program), str(path), order, *options, "--log=root.thres:error"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise TradewindError(f"SimGrid ended with exit code {done.returncode}: {done.stderr.strip()}")
    time_s, cpu_s = (float(word) for word in done.stdout.split())
    return Replayed(time_s, cpu_s)
