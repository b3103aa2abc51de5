"""Small machines and exchanges, and what the core returns for them."""

from typing import Any

from validation.machines import CROSSBAR, DRAGONFLY, FATTREE, NS, OWN_ROUTING, TORUS, all_to_all, machine, pair

from tradewind import _core
from tradewind.machine import MachineFile
from tradewind.simulation import Simulation, prepare
from tradewind.workload.exchange import Exchange
from tradewind.workload.packet_order import seed_of

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
        seed=simulation.options.seed,
        adaptive=adaptive,
        finite_buffers=simulation.options.buffers == "credits",
        one_sided=simulation.options.protocol == "put",
        blocks=simulation.options.pairs,
        shown=simulation.shown,
        peers=peers,
        order_seed=seed_of(simulation.orders[0]),
        **options,
    )
    program = _core.Program(steps, simulation.exchange.bytes_per_point)
    return run(simulation.machine, program, simulation.placement, chosen, progress)


def run(exchange: Exchange, file: MachineFile, threads: int = 1, **options: Any) -> _core.SimulationResult:
    # Unbounded unless a test is about buffers: closed forms seldom know them.
    return core(prepare(exchange, file, **({"buffers": "unbounded"} | options)), threads)
