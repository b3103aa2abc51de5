"""Simulations that processes share: which, what counts of their results, and ways in which a process fails."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import random
import resource
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from networks import PETERSEN
from small import CROSSBAR, DRAGONFLY, FATTREE, TORUS, all_to_all, core, machine

import tradewind as tw
from tradewind.base.errors import InputError
from tradewind.simulation import Simulation, prepare
from tradewind.workload.exchange import Exchange
from tradewind.workload.repetitions import Repetitions

Result = dict[str, str]

# Hundreds of ranks and windows of dozens of packets.
LARGE_TORUS = {"kind": "torus", "shape": [8, 4, 4], "nodes_per_switch": 4}
LARGE_FATTREE = {"kind": "fattree", "levels": 3, "down_ports": 8}
LARGE_DRAGONFLY = {"kind": "dragonfly", "rows": 2, "columns": 4, "groups": 9, "nodes_per_switch": 4, "global_links": 1}
LARGE_PLUS = {"kind": "dragonflyplus", "leaves": 4, "spines": 4, "groups": 5, "nodes_per_switch": 14, "global_links": 4}
LARGE = [
    (LARGE_TORUS, "dimension-order"),
    (LARGE_TORUS, "ugal"),
    (LARGE_FATTREE, "d-mod-k"),
    (LARGE_FATTREE, "round-robin"),
    (LARGE_FATTREE, "adaptive"),
    (LARGE_DRAGONFLY, "valiant"),
    (LARGE_DRAGONFLY, "par"),
    (LARGE_DRAGONFLY, "ugal-sst71"),
    (LARGE_PLUS, "ugal"),
    ({"kind": "hyperx", "shape": [8, 4], "links": 2, "nodes_per_switch": 8}, "minimal"),
    ({"kind": "slimfly", "q": 5, "nodes_per_switch": 5}, "ugal"),
    ({"kind": "graph", "file": PETERSEN, "nodes_per_switch": 25}, "minimal"),
]
TRANSPOSE = Exchange("transpose", 240, (100, 40, 60), (20, 12), algorithm="ring-4", slab="xy")
DRAWS = 24

TAPERED = {"kind": "fattree", "levels": 3, "down_ports": [4, 4, 2], "up_ports": [2, 3]}
PLUS = {"kind": "dragonflyplus", "leaves": 3, "spines": 2, "groups": 5, "nodes_per_switch": 2, "global_links": 2}
HYPERX = {"kind": "hyperx", "shape": [4, 3], "nodes_per_switch": 2}
WIDE_DRAGONFLY = {"kind": "dragonfly", "rows": 3, "columns": 2, "groups": 4, "nodes_per_switch": 3, "global_links": 2}
NETWORKS = [
    (CROSSBAR, "direct"),
    (TORUS, "dimension-order"),
    (FATTREE, "d-mod-k"),
    (FATTREE, "round-robin"),
    (DRAGONFLY, "minimal"),
    (DRAGONFLY, "valiant"),
    (WIDE_DRAGONFLY, "minimal"),
    (WIDE_DRAGONFLY, "ugal"),
    (DRAGONFLY, "valiant-router"),
    (WIDE_DRAGONFLY, "par"),
    (WIDE_DRAGONFLY, "ugal-sst71"),
    (TORUS, "ugal"),
    (TAPERED, "d-mod-k"),
    (TAPERED, "adaptive"),
    (PLUS, "minimal"),
    (PLUS, "ugal"),
    (HYPERX, "minimal"),
    (HYPERX | {"links": [1, 3]}, "valiant"),
    (HYPERX, "ugal"),
    ({"kind": "complete", "switches": 6, "nodes_per_switch": 4}, "minimal"),
    ({"kind": "hypercube", "dimensions": 4, "links": 2, "nodes_per_switch": 2}, "ugal"),
    ({"kind": "slimfly", "q": 4, "nodes_per_switch": 1}, "minimal"),
    ({"kind": "slimfly", "q": 4, "nodes_per_switch": 1}, "valiant"),
    ({"kind": "cubemesh", "gpu": "P100", "boxes": 3}, "direct"),
    ({"kind": "cubemesh", "gpu": "V100", "boxes": 3}, "minimal"),
    ({"kind": "graph", "file": PETERSEN, "nodes_per_switch": 3}, "minimal"),
]
EXCHANGES = [
    Exchange("transpose", 24, (30, 26, 25), (6, 4), algorithm="ring-2"),
    Exchange("transpose", 24, (30, 26, 25), (6, 4), algorithm="burst", slab="xy"),
    Exchange("transpose", 16, (32, 16, 16), (4, 4), algorithm="bruck", slab="all"),
    Exchange("transpose", 12, (20, 9, 20), (12, 1), algorithm="pairwise", slab="xz"),
    Exchange("halo", 24, (61, 50, 7), (6, 4), algorithm="sweep", width=3, periodic="x"),
    Exchange("halo", 24, (61, 50, 7), (6, 4), algorithm="direct", width=15, periodic="xy"),
    Exchange("allreduce", 24, algorithm="recursive-3", count=600, times=2),
    Exchange("allreduce", 23, algorithm="ring", count=5000),
]
PLACEMENTS = [("linear", 1), ("random", 1), ("round-robin", 2), ("random", 3)]


def large() -> Iterator[tuple[str, Simulation]]:
    """Every kind of network, with both kinds of buffers and both protocols."""
    variety = itertools.cycle(itertools.product(("unbounded", "credits"), ("send", "put"), (1, 3)))
    for (topology, routing), (buffers, protocol, ranks_per_node) in zip(LARGE, variety, strict=False):
        file = machine(
            topology,
            routing,
            latency="300ns",
            packet="64B",
            send_overhead="7ns",
            receive_overhead="9ns",
            switch={"buffer": "256B"},
        )
        simulation = prepare(
            TRANSPOSE,
            file,
            placement="random",
            seed=3,
            buffers=buffers,
            protocol=protocol,
            ranks_per_node=ranks_per_node,
            pairs=17,
        )
        simulation = replace(simulation, shown=(*range(9), 100, *range(230, 240)))
        yield f"{topology['kind']} {routing}, {buffers}, {protocol}, {ranks_per_node} ranks per node", simulation


def drawn() -> Iterator[tuple[str, Simulation]]:
    """Draws from small networks and exchanges, and from what messages may do beside."""
    draw = random.Random(17)
    for i in range(DRAWS):
        (topology, routing), exchange = draw.choice(NETWORKS), draw.choice(EXCHANGES)
        placement, ranks_per_node = draw.choice(PLACEMENTS)
        buffers, protocol = draw.choice(("unbounded", "credits")), draw.choice(("send", "put"))
        more = draw.choice(
            ({}, {"mpi": {"eager_limit": "500B"}}, {"switch": {"bandwidth": "9GB/s"}}, {"mpi": {"bypass": "256B"}})
        )
        overheads = {"send_overhead": "30ns", "receive_overhead": "20ns"}
        file = machine(topology, routing, latency="500ns", nic_bandwidth="7GB/s", **overheads, **more)
        simulation = prepare(
            exchange,
            file,
            placement=placement,
            ranks_per_node=ranks_per_node,
            packet=draw.choice(("300B", "message")),
            seed=draw.randrange(100),
            buffers=buffers,
            protocol=protocol,
            pairs=draw.choice((0, 5)),
            order=draw.choice(("ports", "seed=3")),
        )
        simulation = replace(simulation, shown=tuple(range(i % 5, exchange.ranks, 5)))
        yield f"draw {i}: {exchange.name} on {topology['kind']} {routing}, {placement}, {buffers}, {more}", simulation


def special() -> Iterator[tuple[str, Simulation]]:
    few = prepare(all_to_all(3, "burst", 50), machine(TORUS, packet="8B", latency="1us"), buffers="unbounded")
    yield "parts without ranks", few
    dragonfly = {"kind": "dragonfly", "rows": 1, "columns": 2, "groups": 3, "nodes_per_switch": 2, "global_links": 1}
    file = machine(dragonfly, latency="10ns", global_link={"latency": "1ms"})
    yield "links beyond the wheel", prepare(all_to_all(12, "ring-2", 100), file)
    nics = machine(DRAGONFLY, "ugal", nic={"count": 2}, mpi={"eager_limit": "100B"})
    yield "two NICs per node", prepare(all_to_all(36, "ring-3", 40), nics, ranks_per_node=2, buffers="credits")
    yield "one switch", prepare(all_to_all(16, "pairwise", 40), machine(CROSSBAR), buffers="credits")


def runs() -> Simulation:
    """With two processes of two threads each part has several runs of switches: they have 100,000 ranks."""
    halo = Exchange("halo", 400_000, (28800, 14400, 16), (500, 800), width=20)
    return prepare(halo, "dragonfly-ML", packet="message", buffers="unbounded")


def cases() -> Iterator[tuple[str, Simulation]]:
    return itertools.chain(large(), drawn(), special())


def everything(result: Any) -> Result:
    """All that a result says of the exchange, each part hashed."""
    values = {
        "time": [result.time_ps, result.step_end_s],
        "counts": [result.messages, result.bytes, result.packet_hops],
        "load": [result.bound_s, result.bound_by, result.imbalance],
        "delays": result.delay_counts,
        "delays over time": [result.delay_bin_s, np.asarray(result.delay_series).tolist()],
        "delays of pairs": np.asarray(result.delay_pairs).tolist(),
        "ports": result.port_bytes.tolist(),
        "NICs": result.nic_bytes.tolist(),
        "events": result.trace_events.tolist(),
    }
    return {name: hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16] for name, value in values.items()}


# -------------------------------------------------------------------------------- what the processes carry out


def results(comm: Any, asked: tuple[int, list[str]]) -> dict[str, Result]:
    """Return the results of cases; `asked`: the number of threads, and the names of the cases."""
    from tradewind.simulation.processes import Processes

    threads, names = asked
    peers = Processes(comm).core
    return {
        name: everything(core(simulation, threads, adaptive=threads == 1, peers=peers))
        for name, simulation in cases()
        if name in names
    }


def results_of_runs(comm: Any, threads: int) -> Result:
    from tradewind.simulation.processes import Processes

    return everything(core(runs(), threads, adaptive=False, peers=Processes(comm).core))


def simulated(comm: Any, _: None) -> list[dict[str, Any]]:
    """Those of Python's front door, which all processes have."""
    found = asked(comm)
    for other in comm.allgather(found):
        assert other == found
    return found


def asked(comm: Any) -> list[dict[str, Any]]:
    exchange = Exchange("transpose", 24, (30, 26, 25), (6, 4), algorithm="ring-2", times=10)
    more: list[dict[str, Any]] = [{"congestion": True, "pairs": 6}, {"steady": True}]
    found = [tw.simulate(exchange, machine(DRAGONFLY, "ugal"), comm=comm, threads=1, **each) for each in more]
    reduce = Exchange("allreduce", 50, algorithm="recursive-4", times=30)
    found.append(tw.simulate(reduce, machine(DRAGONFLY, "minimal"), comm=comm, threads=2, steady=True))
    assert found[-1]["simulated_times"] < 30
    blocks = tw.Blocks(tw.Grid(nx=48, ny=36, nz=10), split=(6, 4))
    halo = tw.Halo(blocks, width=3, periodic=("x",)).schedule("direct")
    physics = tw.Compute("physics", seconds=3e-6, during=halo, imbalance=tw.Imbalance("normal", 0.2, "step"))
    found.append(tw.Program(physics, halo).simulate(machine(TORUS), noise="100kHz,1us", comm=comm, threads=1))
    return found


def memory(comm: Any, _: None) -> list[int]:
    """KiB that a simulation adds to each process."""
    simulation = big()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    from tradewind.simulation.processes import Processes

    core(simulation, peers=Processes(comm).core if comm.size > 1 else None)
    added: list[int] = comm.allgather(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    return added


def big() -> Simulation:
    """Its NICs are so fast, and its latency so long, that a million packets are under way at one time."""
    torus = {"kind": "torus", "shape": [16, 16, 4], "nodes_per_switch": 4}
    file = machine(torus, latency="2us", packet="1KiB", nic_bandwidth="1000GB/s")
    halo = Exchange("halo", 4096, (2560, 2560, 68), (64, 64), algorithm="direct", width=3, periodic="xy")
    return prepare(halo, file, buffers="unbounded")


# -------------------------------------------------------------------------------- ways of going wrong


def one_is_refused(comm: Any, _: None) -> None:
    routing = "minimal" if comm.rank == 0 else "no such routing"
    tw.simulate(TRANSPOSE, machine(LARGE_DRAGONFLY, routing), comm=comm, threads=1)


def unlike(comm: Any, _: None) -> None:
    tw.simulate(TRANSPOSE, machine(LARGE_DRAGONFLY, "valiant"), comm=comm, threads=1, seed=1 + comm.rank)


def loggp(comm: Any, _: None) -> None:
    tw.simulate(TRANSPOSE, machine(LARGE_TORUS), comm=comm, model="loggp")


def long() -> tuple[Exchange, Any]:
    """Minutes."""
    return all_to_all(512, "ring-1", 20, times=1000), machine(CROSSBAR | {"nodes": 512}, packet="64B", latency="1us")


def one_raises_on_the_way(comm: Any, process: int) -> None:
    """By its own progress: only the core's entry lets a process other than the first have one."""
    from tradewind.simulation.processes import Processes

    processes, simulation = Processes(comm), prepare(*long())

    def stop(*_: Any) -> None:
        raise InputError(f"process {process} does not like it")

    processes.agree(lambda: core(simulation, 1, stop if comm.rank == process else None, peers=processes.core))


class Wrong(Repetitions):
    def enough(self, ends: Any) -> bool:
        raise InputError("an error of a callback")


def question_fails(comm: Any, threads: int) -> None:
    """Whether enough is simulated."""
    from tradewind.simulation.processes import Processes

    simulation = prepare(Wrong(replace(TRANSPOSE, times=20)), machine(LARGE_DRAGONFLY), threads=threads)
    Processes(comm).run(simulation)


def memory_runs_out(comm: Any, process: int) -> None:
    """In one process, when it makes room for its part of the machine."""
    from tradewind.simulation.processes import Processes

    processes, simulation = Processes(comm), big()
    if comm.rank == process:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + 2**23, used + 2**23))
    processes.agree(lambda: core(simulation, 1, peers=processes.core))


def one_is_killed(comm: Any, process: int) -> None:
    from tradewind.simulation.processes import Processes

    simulation, began = prepare(*long()), time.monotonic()

    def die(*_: Any) -> None:
        if time.monotonic() - began > 0.2:
            os.kill(os.getpid(), signal.SIGKILL)

    core(simulation, 1, die if comm.rank == process else None, peers=Processes(comm).core)
