"""Small machines and exchanges, and what the core returns for them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from validation.machines import CROSSBAR, DRAGONFLY, FATTREE, NS, OWN_ROUTING, TORUS, all_to_all, machine, pair

from tradewind import _core
from tradewind.machine import MachineFile
from tradewind.simulation import Simulation, prepare
from tradewind.workload.exchange import Exchange

__all__ = ["CROSSBAR", "DRAGONFLY", "FATTREE", "NS", "OWN_ROUTING", "TORUS", "all_to_all", "machine", "pair"]


def core(
    simulation: Simulation,
    threads: int = 1,
    progress: Any = None,
    adaptive: bool = True,
    peers: Any = None,
    **options: Any,
) -> _core.SimulationResult:
    run = _core.simulate_packets if simulation.model == "packet" else _core.simulate_loggp
    steps = [_core.Step(step.name, step.schedule, step.repeat) for step in simulation.exchange.steps()]
    chosen = _core.SimulationOptions(
        packet_bytes=simulation.packet_bytes,
        threads=threads,
        seed=simulation.seed,
        adaptive=adaptive,
        finite_buffers=simulation.buffers == "credits",
        one_sided=simulation.protocol == "put",
        blocks=simulation.pairs,
        shown=simulation.shown,
        peers=peers,
        **options,
    )
    program = _core.Program(steps, simulation.exchange.bytes_per_point)
    return run(simulation.machine, program, simulation.placement, chosen, progress)


def run(exchange: Exchange, file: MachineFile, threads: int = 1, **options: Any) -> _core.SimulationResult:
    # Unbounded unless a test is about buffers: closed forms seldom know them.
    return core(prepare(exchange, file, **({"buffers": "unbounded"} | options)), threads)


def messages(exchange: Exchange) -> Iterator[tuple[int, int, int]]:
    """(sender, receiver, bytes) of all messages."""
    for step in exchange.steps():
        for _ in range(step.repeat):
            for stage in range(step.schedule.stages):
                for rank in range(exchange.ranks):
                    for message in step.schedule.sends(rank, stage):
                        yield rank, message.peer, message.count * exchange.bytes_per_point


def terminal_bytes(result: _core.SimulationResult, topology: _core.Topology) -> np.ndarray:
    """[node]: bytes that each node has received."""
    ports = result.port_bytes.reshape(topology.switches, topology.radix)
    first, count = topology.first_terminal, topology.nodes_per_switch
    return ports[: topology.nodes // count, first : first + count].reshape(-1)


def memory_taken(prepared: str, simulated: str) -> int:
    """KiB by which a process of its own grows while it runs `simulated`, after `prepared`: lines of Python."""
    peak = "resource.getrusage(resource.RUSAGE_SELF).ru_maxrss"
    code = f"import resource\n{prepared}\nbefore = {peak}\n{simulated}\nprint({peak} - before)"
    folder = Path(__file__).parent
    paths = os.pathsep.join(str(path) for path in (folder, folder.parents[1]))
    run = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    return int(run.stdout)
