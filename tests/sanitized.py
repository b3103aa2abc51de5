"""Program of `sanitizers.sh`: every algorithm verified, every routing of every network simulated on several threads.

Not a pytest module: under a sanitizer only the compiled core matters, and hypothesis would take an hour.
"""

import sys
from pathlib import Path

import numpy as np
import shared_cases
from networks import ROUTED, build
from small import all_to_all, core, machine

import tradewind as tw
from tradewind import _core
from tradewind.simulation import prepare
from tradewind.workload.exchange import Exchange

GRID = (37, 29, 13)


def exchanges() -> list[Exchange]:
    """Small and uneven, one of each algorithm."""
    all_to_all = ("burst", "ring-2", "pairwise", "bruck", "two-level-3")
    made = [Exchange("transpose", 12, GRID, (4, 3), algorithm=a) for a in all_to_all]
    halos = ("sweep", "direct", "two-level-5", "leaders-5")
    made += [Exchange("halo", 12, GRID, (4, 3), algorithm=a, width=11, periodic="x") for a in halos]
    reductions = ("recursive-3", "recursive-near-3", "ring", "rabenseifner", "halving-doubling", "binomial")
    made += [Exchange("allreduce", 23, algorithm=a, count=5, times=3) for a in reductions]
    made.append(Exchange("transpose", 1, GRID, (1, 1), slab="all", algorithm="burst"))  # groups of one
    return made


def diffusion() -> None:
    """The loops of the dwarf, by regions, on several threads."""
    field = np.random.default_rng(1).random((7, 20, 30))
    outcomes = []
    for threads in (1, 3):
        team, target = _core.Team(threads), np.zeros_like(field)
        for _ in range(20):
            for rows in (slice(2, 9), slice(9, 18)):
                _core.diffuse(field, target, (slice(0, 7), rows, slice(2, 28)), 1 / 32, team)
        found = _core.diagnose(target, (slice(0, 7), slice(2, 18), slice(2, 28)), team)
        outcomes.append((list(found.sum), list(found.squares), found.minimum, found.maximum))
    assert outcomes[0] == outcomes[1]


def harmonics() -> None:
    """The loops of the spherical-harmonics transform, on several threads, with tables and without."""
    one, three = (tw.SpectralTransform("O33", threads=threads, tables=threads == 1) for threads in (1, 3))
    random = np.random.default_rng(1)
    for fields in (1, 5):
        spectral = random.normal(size=(one.truncation.coefficients, fields)) + 0j
        grid = one.to_grid(spectral)
        assert (three.to_grid(spectral) == grid).all()
        assert (three.to_spectral(grid) == one.to_spectral(grid)).all()


def long_waits() -> None:
    """Packets that wait long for their ports, held in few bytes on one thread and on several."""
    crowd = Exchange("transpose", 24, (24, 480, 48), (1, 24), algorithm="burst")
    simulation = prepare(
        crowd,
        "torus-M",
        buffers="unbounded",
        packet="64B",
        placement="random",
        settings={"link.latency": "1ns", "nic.latency": "1ns"},
    )
    program = _core.Program([step.core() for step in crowd.steps()], crowd.bytes_per_point)
    times = set()
    for threads, compact_from_bytes in ((1, 2**30), (1, 0), (2, 0)):
        options = _core.SimulationOptions(
            packet_bytes=64, threads=threads, adaptive=False, compact_from_bytes=compact_from_bytes
        )
        result = _core.simulate_packets(simulation.machine, program, simulation.placement, options)
        times.add((result.time_ps, tuple(result.delay_counts)))
    assert len(times) == 1, times


def every_routing() -> None:
    """On small networks of all kinds, with either kind of buffers."""
    for values, routing in ROUTED:
        nodes = build(values).nodes
        file = machine(values, routing, packet="64B", switch={"buffer": "128B"}, send_overhead="5ns")
        for buffers in ("unbounded", "credits"):
            simulation = prepare(all_to_all(nodes, "burst", 20), file, buffers=buffers, placement="random")
            found = [shared_cases.everything(core(simulation, threads, adaptive=False)) for threads in (1, 2)]
            assert found[0] == found[1], (values, routing, buffers)


def every_option() -> None:
    """Simulate with random options; then repetitions, computations, and points of a mesh."""
    for name, simulation in shared_cases.cases():
        found = [shared_cases.everything(core(simulation, threads, adaptive=threads == 1)) for threads in (1, 2)]
        assert found[0] == found[1], name
    assert len(shared_cases.asked(None)) == 4
    mesh = Exchange("fetch", 12, (1, 24, 3), mesh="octahedral", width=2)
    times = {tw.simulate(mesh, "dragonfly-MM", ranks_per_node=4, threads=threads)["time_s"] for threads in (1, 2)}
    assert len(times) == 1, times


def scattered_ids() -> None:
    """Dense, sparse and clustered ones, found and not found."""
    for ids in (7 + np.arange(64), 65 * np.arange(70), np.append(np.arange(40), 2**63 - 1)):
        for absent in (ids[0] + 1, ids[-1] - 1, 0, 2**62):
            owned = np.array_split(ids[ids != absent], 3)
            assert tw.Fetch(owned, [ids[ids != absent], [], []]).list_of(0)[0].size == ids[ids != absent].size
            try:
                tw.Fetch(owned, [[absent], [], []])
            except tw.InputError:
                continue
            raise AssertionError(f"{absent} was found")


TUNED = """# a comment
[[entry]]
pattern = "allreduce"
count = 7
ranks = 4
fields = 1_0
dtype = 'f8'
host = "\\u00b5 \\"x\\" \\\\"
cpu = ""
mpi = "m"
ranks_per_node = +4
oversubscribed = false
algorithm = "native"
median_s = 2.5e-05
min_s = 1
trials = 9
date = 2024-02-29 12:00:00.25+01:30
tradewind = "0.1.0"
"""


def tuning_files() -> None:
    """As C and Fortran read them: whole, cut off anywhere, and with anything in any place."""
    asked = (False, _core.AllReduce(4, 7), "f8", 10, "private", ("", "m", 4))
    assert _core.tuned_method(TUNED, "t.toml", *asked) == ("native", "", "", "")
    refused = 0
    for at in range(len(TUNED)):
        for new in ("", "[", '"', "\\", "=", "\n", "[1,", "9" * 30):
            for rest in (TUNED[at:], TUNED[at + 1 :], ""):
                try:
                    _core.tuned_method(TUNED[:at] + new + rest, "t.toml", *asked)
                except tw.InputError:
                    refused += 1
    assert refused > 1000


def main() -> None:
    assert Path(_core.__file__).parent == Path(tw.__file__).parent
    for exchange in exchanges():
        for order in _core.transports():
            tw.verify(exchange, order.name)
    crowd = Exchange("transpose", 900, (90, 90, 90), (30, 30), algorithm="ring-4")
    for network, routing in (
        ("torus-M", "dimension-order"),
        ("fattree-M", "d-mod-k"),
        ("fattree-M", "round-robin"),
        ("dragonfly-MM", "minimal"),
        ("dragonfly-MM", "valiant"),
        ("dragonfly-MM", "ugal"),
    ):
        times = {
            tw.simulate(crowd, network, routing=routing, packet="64B", threads=threads, placement=placement)["time_s"]
            for threads, placement in ((1, "random"), (3, "random"))
        }
        assert len(times) == 1, (network, routing, times)
    for exchange in exchanges():
        tw.simulate(exchange, "dragonfly-MM", ranks_per_node=5, placement="round-robin")
        tw.simulate(exchange, "torus-M", model="loggp")
        if exchange.split is not None:
            tw.simulate(exchange, "torus-M", ranks_per_node=5, placement="blocks")
    scattered_ids()
    tuning_files()
    every_routing()
    every_option()
    long_waits()
    diffusion()
    harmonics()
    sys.stdout.write(f"{len(exchanges())} exchanges verified and simulated\n")


main()
