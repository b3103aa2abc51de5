"""Exchanges whose time a formula gives, to the picosecond. 10 GB/s are 100 ps per byte; latencies are 100 ns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from tradewind import _core
from tradewind.machine import MachineFile
from tradewind.pattern import AllReduce, Blocks, Grid, Halo
from tradewind.simulation import prepare
from tradewind.workload.exchange import Exchange
from tradewind.workload.program import Compute, ProgramWorkload
from validation.machines import CROSSBAR, DRAGONFLY, FATTREE, NS, TORUS, all_to_all, machine, pair

BYTE = 100
"""Picoseconds a byte at 10 GB/s."""
TRIP = 200 * NS
"""Of a head from NIC to NIC through one switch."""
MODELS = ("packet", "loggp")


@dataclass(frozen=True)
class Case:
    """One simulation and what it must return."""

    label: str
    workload: Exchange | ProgramWorkload
    machine: MachineFile
    expected_ps: int
    options: dict[str, Any] = field(default_factory=dict)

    def simulated_ps(self) -> int:
        options: dict[str, Any] = {"buffers": "unbounded", "threads": 1} | self.options
        time_s: float = prepare(self.workload, self.machine, **options).run()["time_s"]
        return round(time_s * 1e12)


@dataclass(frozen=True)
class Form:
    """A formula, in words, who published it, and simulations that it must hold for."""

    name: str
    formula: str
    source: str
    cases: Callable[[], Iterator[Case]]


def placed(file: MachineFile, links: tuple[int, int]) -> dict[str, Any]:
    """A random placement with two ranks at a distance of given (local, global) links."""
    topology = file.machine.build().topology
    for seed in range(2000):
        place = _core.Placement("random", 2, 1, topology.nodes, seed)
        a, b = (place.node(rank) // topology.nodes_per_switch for rank in range(2))
        if topology.distance(a, b) == links:
            return {"placement": "random", "seed": seed}
    raise AssertionError(f"no two nodes are {links} links apart")


PATHS = (
    [(TORUS, (h, 0)) for h in range(5)]
    + [(FATTREE, (h, 0)) for h in (0, 2, 4)]
    # same switch, same row, another row, and between groups with 0 to 4 links within them
    + [(DRAGONFLY, links) for links in ((0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1), (3, 1), (4, 1))]
    + [(CROSSBAR, (0, 0))]
)


def one_message() -> Iterator[Case]:
    for topology, links in PATHS:
        file = machine(topology, latency="70ns", nic_latency="90ns")
        place = placed(file, links)
        for elements in (1, 512, 513, 100_000):
            expected = 2 * 90 * NS + sum(links) * 70 * NS + 8 * elements * BYTE
            for model in MODELS:
                label = f"{topology['kind']}, {sum(links)} links, {8 * elements} B, {model}"
                yield Case(label, pair(elements), file, expected, place | {"model": model})


def slowest_link() -> Iterator[Case]:
    """One link of 1 GB/s among links of 10 GB/s, wherever it stands."""
    slow: dict[str, dict[str, Any]] = {
        "injection": {"nic_bandwidth": "1GB/s", "ejection_bandwidth": "10GB/s"},
        "link": {"bandwidth": "1GB/s", "nic_bandwidth": "10GB/s", "global_link": {"bandwidth": "10GB/s"}},
        "global": {"global_link": {"bandwidth": "1GB/s"}},
        "ejection": {"nic_bandwidth": "10GB/s", "ejection_bandwidth": "1GB/s"},
    }
    for where, rates in slow.items():
        file = machine(DRAGONFLY, **rates)
        place = placed(file, (2, 1))
        for elements in (100, 10_000):
            expected = 5 * 100 * NS + 8 * elements * 10 * BYTE
            for model in MODELS:
                label = f"slow {where}, {8 * elements} B, {model}"
                yield Case(label, pair(elements), file, expected, place | {"model": model})


def other_jobs() -> Iterator[Case]:
    """Links between switches have what other jobs leave of their bandwidth."""
    file = machine(TORUS)
    place = placed(file, (3, 0))
    for taken, left in ((0.5, 2), (0.75, 4), (0.9, 10)):
        for elements in (100, 10_000):
            expected = 5 * 100 * NS + 8 * elements * left * BYTE
            yield Case(f"{taken:.0%}, {8 * elements} B", pair(elements), file, expected, place | {"background": taken})


def burst_into_one_port() -> Iterator[Case]:
    """k^2 - 1 ranks: k - 1 ranks fold onto one, k ranks exchange, one unfolds to k - 1."""
    size = 80_000
    for k in (3, 5):
        exchange = Exchange("allreduce", k * k - 1, algorithm=f"recursive-{k}", count=size // 8)
        yield Case(f"{k - 1} senders", exchange, machine(CROSSBAR), 3 * ((k - 1) * size * BYTE + TRIP))


def crossbar_all_to_all() -> Iterator[Case]:
    file = machine(CROSSBAR)
    for ranks in (2, 4, 8, 16):
        for size in (8, 20_000):
            for algorithm, stages in _stages(ranks):
                expected = stages * TRIP + (ranks - 1) * size * BYTE
                yield Case(
                    f"{algorithm}, {ranks} ranks, {size} B", all_to_all(ranks, algorithm, size // 8), file, expected
                )


def _stages(ranks: int) -> Iterator[tuple[str, int]]:
    yield from (("ring-1", ranks - 1), ("pairwise", ranks - 1), ("burst", 1))
    if ranks > 4:
        yield "ring-3", -(-(ranks - 1) // 3)


def bruck() -> Iterator[Case]:
    for bits in (1, 2, 3, 5):
        expected = bits * (2 ** (bits - 1) * 800 * BYTE + TRIP)
        yield Case(f"{2**bits} ranks", all_to_all(2**bits, "bruck", 100), machine(CROSSBAR), expected)


def ring_on_a_ring() -> Iterator[Case]:
    """In stage s all messages go s links one way: each waits at each switch until those before it have left."""
    for switches in (4, 7, 12):
        for size in (80, 1000, 20_000):
            tail = size * BYTE
            expected = 0
            for shift in range(1, switches):
                links = min(shift, switches - shift)
                expected += 3 * 100 * NS + (links - 1) * max(tail, 100 * NS) + tail
            ring = machine({"kind": "torus", "shape": [switches], "nodes_per_switch": 1})
            exchange = all_to_all(switches, "ring-1", size // 8)
            yield Case(f"{switches} switches, {size} B", exchange, ring, expected, {"packet": "message"})


def ring_allreduce() -> Iterator[Case]:
    """2 (n - 1) stages, a chunk each, to the next rank only."""
    for ranks in (3, 6, 16):
        ring = machine({"kind": "torus", "shape": [ranks], "nodes_per_switch": 1})
        exchange = Exchange("allreduce", ranks, algorithm="ring", count=ranks * 1000)
        yield Case(f"{ranks} ranks", exchange, ring, 2 * (ranks - 1) * (8000 * BYTE + 300 * NS))


def recursive_allreduce() -> Iterator[Case]:
    """k - 1 tiny messages per stage; the overheads of the receiver begin as messages arrive."""
    for send, receive in ((0, 0), (50, 20), (20, 50), (30, 30)):
        file = machine(CROSSBAR, send_overhead=f"{send}ns", receive_overhead=f"{receive}ns")
        for k, digits in ((2, 5), (3, 3), (8, 2)):
            gap = max(send * NS, receive * NS, 8 * BYTE)
            stage = send * NS + 8 * BYTE + TRIP + (k - 2) * gap + receive * NS
            exchange = Exchange("allreduce", k**digits, algorithm=f"recursive-{k}", count=1)
            yield Case(f"k {k}, {k**digits} ranks, overheads {send} and {receive} ns", exchange, file, digits * stage)


def halves(size: int, bits: int) -> int:
    """Among 2^bits ranks: messages of a half, a quarter, ... of the vector, and back, in ps."""
    return 2 * sum((size >> bit) * BYTE + TRIP for bit in range(1, bits + 1))


def halving_and_doubling() -> Iterator[Case]:
    for bits in (1, 2, 5):
        size = 2**bits * 800
        for algorithm in ("rabenseifner", "halving-doubling"):
            exchange = Exchange("allreduce", 2**bits, algorithm=algorithm, count=size // 8)
            for model in MODELS:
                label = f"{algorithm}, {2**bits} ranks, {model}"
                yield Case(label, exchange, machine(CROSSBAR), halves(size, bits), {"model": model})


def binomial() -> Iterator[Case]:
    for levels in (1, 2, 5):
        exchange = Exchange("allreduce", 2**levels, algorithm="binomial", count=100)
        for model in MODELS:
            expected = 2 * levels * (800 * BYTE + TRIP)
            yield Case(f"{2**levels} ranks, {model}", exchange, machine(CROSSBAR), expected, {"model": model})


def rendezvous() -> Iterator[Case]:
    """Request, pull, message and acknowledgement follow each other; the three small ones have 64 bytes."""
    file = machine(CROSSBAR, mpi={"eager_limit": "8000B"})
    for elements in (1001, 5000):
        expected = 4 * TRIP + 3 * 64 * BYTE + 8 * elements * BYTE
        for buffers in ("unbounded", "credits"):
            yield Case(f"{8 * elements} B, {buffers}", pair(elements), file, expected, {"buffers": buffers})


def put() -> Iterator[Case]:
    """Neither a limit nor the receiver's CPU counts."""
    file = machine(CROSSBAR, receive_overhead="60ns", mpi={"eager_limit": "0B"})
    for elements in (1, 100, 5000):
        expected = TRIP + 8 * elements * BYTE
        yield Case(f"{8 * elements} B", pair(elements), file, expected, {"protocol": "put"})


def computation() -> Iterator[Case]:
    """120 points per rank at 1 Tflop/s and 100 GB/s per node; beside an exchange the longer of the two counts."""
    memory = {"memory_bandwidth": "100GB/s", "flow_memory_bandwidth": "100GB/s"}
    file = machine(CROSSBAR, node={"flops": "1TFlop/s"} | memory)
    for (label, program, expected), model in product(_programs(), MODELS):
        yield Case(f"{label}, {model}", program, file, expected, {"model": model})
        if "bound" in label:
            node = {"model": model, "ranks_per_node": 2}
            yield Case(f"{label}, two ranks per node, {model}", program, file, 2 * expected, node)


def _programs() -> Iterator[tuple[str, ProgramWorkload, int]]:
    blocks = Blocks(Grid(nx=4, ny=6, nz=10), split=(2, 1))
    halo = Halo(blocks, width=1, periodic=("x",)).schedule("sweep")
    exchange = TRIP + 2 * 6 * 10 * 8 * BYTE
    for label, flops, size, expected in (("flops", 1000, 8, 120 * NS), ("memory", 10, 800, 960 * NS)):
        yield (
            f"bound by {label}",
            ProgramWorkload(Compute("dynamics", flops=flops, bytes=size, layout=blocks)),
            expected,
        )
    for time in (0, 100 * NS, 5000 * NS):
        beside = ProgramWorkload(Compute("interior", seconds=time * 1e-12, during=halo))
        yield f"{time / 1e6:g} us beside a halo", beside, max(time, exchange)
    reduce = AllReduce(ranks=4, count=100).schedule("recursive-2")
    stage = TRIP + 800 * BYTE
    for time in (100 * NS, 5000 * NS):
        beside = ProgramWorkload(Compute("beside", seconds=time * 1e-12, during=reduce))
        yield f"{time / 1e6:g} us beside two stages", beside, max(time, stage) + stage


def numa_domains() -> Iterator[Case]:
    """Eight cores of 2 Gflop/s and 20 GB/s on four domains of 20 GB/s; of five ranks two share a domain."""
    node = {"cores": 8, "memory_bandwidth": "80GB/s", "flow_memory_bandwidth": "20GB/s"}
    file = machine(CROSSBAR, node=node | {"core_flops": "2Gflop/s", "numa_domains": 4})
    for ranks, byte in ((1, 50), (4, 50), (5, 100), (8, 100)):  # ps per byte
        for size, flops in ((1000, 10), (10, 1000)):
            program = ProgramWorkload(Compute("it", flops=flops, bytes=size, points=[1] * ranks))
            expected = max(size * byte, flops * 500)
            yield Case(f"{ranks} ranks, {size} B", program, file, expected, {"ranks_per_node": ranks})


def shared_memory() -> Iterator[Case]:
    """Every copy reaches 100 GB/s alone, and all copies of the node have 200 GB/s together."""
    file = machine(CROSSBAR, node={"memory_bandwidth": "200GB/s"})
    for ranks in (2, 4, 8):
        expected = (ranks - 1) * 8000 * max(10, ranks * 5)
        yield Case(f"{ranks} ranks", all_to_all(ranks, "pairwise", 1000), file, expected, {"ranks_per_node": ranks})


def node_halo() -> Iterator[Case]:
    """Two nodes of two ranks, one above the other; each rank has one beside it, and the other node above or below.

    A carrier is given a side and a strip by the other rank of its node; each node sends both strips in one message;
    then the other rank gets a strip with the corner. Copies at 10 ps per byte.
    """
    for nx, ny, nz in ((6, 4, 10), (20, 30, 50)):
        side, strip, corner = 8 * ny * nz, 8 * nx * nz, 8 * nz
        expected = (side + strip) * 10 + 2 * strip * BYTE + TRIP + (strip + corner) * 10
        for algorithm, model in product(("two-level-2", "leaders-2"), MODELS):
            exchange = Exchange("halo", 4, (2 * nx, 2 * ny, nz), (2, 2), algorithm=algorithm, width=1)
            options = {"ranks_per_node": 2, "model": model, "packet": "message"}
            yield Case(f"{algorithm}, {nx} x {ny} x {nz}, {model}", exchange, machine(CROSSBAR), expected, options)


def shared_nic() -> Iterator[Case]:
    """Two ranks of a node exchange with two of another, after a stage of copies at 100 GB/s."""
    for packets in (1, 4, 50):
        size = 4096 * packets
        exchange = Exchange("allreduce", 4, algorithm="recursive-2", count=size // 8)
        expected = size * 10 + 2 * size * BYTE + TRIP
        yield Case(f"{packets} packets", exchange, machine(CROSSBAR), expected, {"ranks_per_node": 2})


def _gathered(brick: tuple[int, int, int], algorithm: str, periodic: str = "") -> Exchange:
    """Elements of 3 points along each direction, (2, 1, 3) on each rank: see `_widths`."""
    ranks = brick[0] * brick[1] * brick[2]
    options: dict[str, Any] = {"elements": (2, 1, 3), "points": 3, "brick": brick, "periodic": periodic}
    return Exchange("gather-scatter", ranks, algorithm=algorithm, **options)


_WIDTHS = (5, 3, 7)
"""Points of a rank along x, y, z, the shared planes included."""


def gather_scatter_pairwise() -> Iterator[Case]:
    """A periodic brick: 6 faces, 12 edges and 8 corners of each rank, one after another through its port."""
    x, y, z = _WIDTHS
    points = 2 * (x * y + y * z + x * z) + 4 * (x + y + z) + 8
    for brick, model in product(((3, 3, 3), (4, 3, 5)), MODELS):
        exchange = _gathered(brick, "pairwise", "xyz")
        yield Case(f"{brick}, {model}", exchange, machine(CROSSBAR), TRIP + 8 * points * BYTE, {"model": model})


def gather_scatter_cartesian() -> Iterator[Case]:
    """Two faces per direction, one direction after another; in a direction of one rank nothing."""
    for brick, model in product(((3, 3, 3), (1, 4, 3), (3, 1, 1)), MODELS):
        x, y, z = (width - (ranks == 1) for width, ranks in zip(_WIDTHS, brick, strict=True))  # its ends are one
        faces = zip((y * z, x * z, x * y), brick, strict=True)
        expected = sum(TRIP + 2 * 8 * face * BYTE for face, ranks in faces if ranks > 1)
        exchange = _gathered(brick, "cartesian", "xyz")
        yield Case(f"{brick}, {model}", exchange, machine(CROSSBAR), expected, {"model": model})


def gather_scatter_crystal() -> Iterator[Case]:
    """Four ranks, mirrored: the face and the edge of the other half, then the rank's own face and the one passed on."""
    x, y, z = _WIDTHS
    for brick, halves, pairs, edge in (((2, 2, 1), x * z, y * z, z), ((1, 2, 2), x * y, x * z, x)):
        expected = 2 * TRIP + 8 * (halves + edge + pairs + halves) * BYTE
        for model in MODELS:
            exchange = _gathered(brick, "crystal-router")
            yield Case(f"{brick}, {model}", exchange, machine(CROSSBAR), expected, {"model": model})


def gather_scatter_allreduce() -> Iterator[Case]:
    """All points that ranks share, log2 n times."""
    x, y, z = _WIDTHS
    for brick, shared, stages in (((2, 1, 1), y * z, 1), ((4, 1, 1), 3 * y * z, 2), ((2, 2, 1), None, 2)):
        points = (2 * x - 1 + 2 * y - 1 - 1) * z if shared is None else shared
        expected = stages * (TRIP + 8 * points * BYTE)
        for model in MODELS:
            exchange = _gathered(brick, "allreduce-recursive-2")
            yield Case(f"{brick}, {model}", exchange, machine(CROSSBAR), expected, {"model": model})


HOCKNEY = "Hockney 1994"
THAKUR = "Thakur, Rabenseifner & Gropp 2005"
FORMS = (
    Form("one message over h links", "latencies + m G", "Kermani & Kleinrock 1979", one_message),
    Form("one slow link on the way", "latencies + m G of the slowest", "Kermani & Kleinrock 1979", slowest_link),
    Form("a message beside other jobs", "latencies + m G / (1 - taken)", "Kermani & Kleinrock 1979", other_jobs),
    Form("burst of k senders into one port", "3 (L + k m G)", HOCKNEY, burst_into_one_port),
    Form("all-to-all on a crossbar", "stages L + (n - 1) m G", THAKUR, crossbar_all_to_all),
    Form("bruck on a crossbar", "log2 n (L + n/2 m G)", THAKUR, bruck),
    Form("ring-1 on a ring of switches", "sum of 3 l + (d - 1) max(m G, l) + m G", "queues, by hand", ring_on_a_ring),
    Form("ring allreduce on a ring", "2 (n - 1) (3 l + m/n G)", THAKUR, ring_allreduce),
    Form("recursive-k allreduce", "log_k n (o + L + m G + (k - 2) g + o)", "Culler et al. 1993", recursive_allreduce),
    Form("halving and doubling", "2 sum over b: L + m / 2^b G", THAKUR, halving_and_doubling),
    Form("binomial tree, there and back", "2 log2 n (L + m G)", THAKUR, binomial),
    Form("rendezvous", "4 L + 3 h G + m G", "the steps of the protocol", rendezvous),
    Form("put", "L + m G", HOCKNEY, put),
    Form("computation, also beside a halo", "max(flops / F, bytes / B, halo)", "Williams et al. 2009", computation),
    Form("computation on NUMA domains", "max(flops / F_1, bytes n_1 / B_1)", "Williams et al. 2009", numa_domains),
    Form("copies that share a memory", "(n - 1) m max(1 / B_1, n / B)", "bandwidth of the node", shared_memory),
    Form("node-aware halo", "(s + t) / B + L + 2 t G + (t + c) / B", "the steps of the algorithm", node_halo),
    Form("pairwise gather-scatter", "L + (faces, edges, corners) G", "points of a brick", gather_scatter_pairwise),
    Form("Cartesian gather-scatter", "sum over x, y, z: L + 2 f G", "points of a brick", gather_scatter_cartesian),
    Form("crystal router, 4 ranks", "2 L + (2 f_1 + f_2 + e) G", "Fox et al. 1988", gather_scatter_crystal),
    Form("gather-scatter by allreduce", "log2 n (L + shared G)", THAKUR, gather_scatter_allreduce),
    Form("ranks that share a NIC", "L + 2 m G", HOCKNEY, shared_nic),
)  # fmt: skip
