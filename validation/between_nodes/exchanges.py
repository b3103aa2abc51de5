"""The exchange of a case as a program of the simulator, its cost, and its figure as the benchmark reports it."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence

import tradewind as tw
from tradewind import _core
from tradewind.workload.messages import of
from tradewind.workload.workload import Workload
from validation.between_nodes.questions import Case

Messages = Sequence[tuple[int, int, int]]
"""Of one stage: source, destination, points."""
VALUE = 8
"""Bytes of a point; sizes are rounded up to whole points."""
WINDOW = 64
"""Messages that osu_bw sends before it waits for an answer."""
HOMME_POINT = (4 * 128 + 2 * 129) * 8
"""Bytes of a point of an element's edge: four fields of 128 levels and two of 129, in double precision."""
HOMME_GRID = (3072, 2048)
"""Elements of ne1024 (6 x 1024 x 1024) as a doubly periodic plane."""
COARSE_RANKS = 1024
"""Ranks above which an all-to-all of 16 KiB or more goes in packets of 16 KiB."""


def points(size: int) -> int:
    """Return the number of points of `size` bytes."""
    return -(-size // VALUE)


def stage(ranks: int, messages: Messages) -> _core.Schedule:
    """Return a schedule of one stage with these messages, no two between the same ranks."""
    kept = [message for message in messages if message[2] > 0]
    counts = [0] * ranks
    for source, _, count in kept:
        counts[source] = max(counts[source], count)
    return _core.make_schedule(_core.fetch_of_messages(counts, kept), "direct")


def program(case: Case) -> Workload:
    """Return what is simulated."""
    if case.what == "alltoall":
        n = case.ranks
        return tw.Exchange(
            "transpose", n, (n, 1, n), (n, 1), slab="xz", algorithm=case.algorithm, fields=points(case.size)
        )
    if case.what == "allreduce":
        if case.algorithm.startswith("node-"):
            return tw.Program(*(stage(case.ranks, each) for each in node_aware_allreduce(case)))
        return tw.Exchange("allreduce", case.ranks, count=points(case.size), algorithm=case.algorithm)
    if case.what == "homme":
        return tw.Program(stage(case.ranks, list(homme_messages(case.ranks))), fields=HOMME_POINT // VALUE)
    if case.what.startswith("halo "):
        return cell_halo(case)
    stages = [stage(case.ranks, each) for each in plain_stages(case)]
    return at_once(stages) if case.algorithm == "both at once" else tw.Program(*stages)


def at_once(*groups: Sequence[_core.Schedule]) -> Workload:
    """Return the exchanges of each group at once, one group after another.

    Messages that are one exchange leave a rank one after another, by the number of their receiver; those of several
    share its adapters packet by packet, as non-blocking messages of an MPI library do.
    """
    steps = []
    for number, group in enumerate(groups):
        exchanges = [tw.Exchanged(f"{number}, {i}", schedule) for i, schedule in enumerate(group)]
        steps += [exchange.start() for exchange in exchanges] + [exchange.wait() for exchange in exchanges]
    return tw.Program(*steps)


def plain_stages(case: Case) -> Sequence[Messages]:
    """Return the stages of messages between pairs and around rings."""
    n, count = case.ranks, points(case.size)
    if case.what == "pingpong":
        return [[(0, n // 2, count)]]
    if case.what == "bandwidth":
        return [[(0, 1, count)]] * WINDOW + [[(1, 0, 1)]]
    order = list(range(n))
    if case.what == "random ring":
        random.Random(1).shuffle(order)
    right = [(order[i], order[(i + 1) % n], count) for i in range(n)]
    if case.what == "sendrecv":
        return [right]
    return [right, [(b, a, size) for a, b, size in right]]


def node_aware_allreduce(case: Case) -> Sequence[Messages]:
    """Return the stages: a binomial tree within nodes, an allreduce between their first ranks, the tree back."""
    each, count = case.ranks_per_node, points(case.size)
    up = []
    distance = 1
    while distance < each:
        up.append(
            [
                (node * each + local, node * each + local - distance, count)
                for node in range(case.nodes)
                for local in range(distance, each, 2 * distance)
            ]
        )
        distance *= 2
    between = _core.make_schedule(_core.AllReduce(case.nodes, count), case.algorithm.removeprefix("node-"))
    middle = [
        [(source * each, destination * each, size) for source, destination, size in messages]
        for messages in of(between, 1)["stages"]
    ]
    down = [[(b, a, size) for a, b, size in messages] for messages in reversed(up)]
    return [*up, *middle, *down]


def cell_halo(case: Case) -> Workload:
    """Exchange the faces of a periodic brick of ranks; a rank that is its own neighbour sends nothing."""
    shape = [int(part) for part in case.what.removeprefix("halo ").split("x")]
    ranks, count = math.prod(shape), points(case.size)

    def moved(rank: int, dimension: int, by: int) -> int:
        stride = math.prod(shape[:dimension])
        place = rank // stride % shape[dimension]
        return rank + ((place + by) % shape[dimension] - place) * stride

    faces = [
        [stage(ranks, [(r, moved(r, d, by), count) for r in range(ranks)]) for by in (1, -1)]
        for d in range(3)
        if shape[d] > 1
    ]
    return at_once(list(itertools.chain(*faces))) if case.algorithm == "all at once" else at_once(*faces)


def homme_rectangles(ranks: int) -> tuple[int, int, int, int]:
    """Return the ranks across and down, and the elements of each."""
    bits = ranks.bit_length() - 1
    if 2**bits != ranks:
        raise ValueError(f"{ranks} ranks of a Z-order curve; a power of two is allowed")
    across, down = 2 ** (bits - bits // 2), 2 ** (bits // 2)
    return across, down, HOMME_GRID[0] // across, HOMME_GRID[1] // down


def edge_points(side: int) -> int:
    """Return the points that ranks with `side` elements side by side exchange; 0: those of a common corner."""
    return 4 * side + 2 * (side - 1) if side else 1


def homme_messages(ranks: int) -> Iterator[tuple[int, int, int]]:
    """Yield the messages of a boundary exchange; ranks have rectangles of elements along a Z-order curve.

    Between elements with a common edge go its four points, between those with a common corner that point.
    """
    across, down, *elements = homme_rectangles(ranks)
    bits = across.bit_length()

    def number(x: int, y: int) -> int:
        """Return the place on the curve; of unequal sides the longer one, x, has one bit more."""
        x, y = x % across, y % down
        return sum((x >> i & 1) << 2 * i | (y >> i & 1) << (2 * i + 1) for i in range(bits))

    for x in range(across):
        for y in range(down):
            for dx in (-1, 0, 1):
                for dy in (-1, 0, 1):
                    if (dx, dy) != (0, 0):
                        side = 0 if dx and dy else elements[1] if dx else elements[0]
                        yield number(x, y), number(x + dx, y + dy), edge_points(side)


def packet_hops(case: Case) -> float:
    """Estimate the packet-hops of a simulation, without making it."""
    n, packets, ports = case.ranks, math.ceil(case.size / (16384 if packet(case) else 4096)), 4
    if case.what == "alltoall":
        if case.algorithm == "bruck":
            return ports * n * math.log2(n) * math.ceil(n * case.size / 2 / 4096)
        return ports * n * n * packets
    if case.what == "allreduce":
        stages = 2 * n if case.algorithm == "ring" else 2 * math.log2(n)
        return ports * n * max(stages, 2 * packets)
    if case.what == "homme":
        sides = homme_rectangles(n)[2:]
        return ports * n * 2 * sum(edge_points(side) for side in sides) * HOMME_POINT / 4096
    return ports * n * 2 * packets


def packet(case: Case) -> str | None:
    """Return the size of packets, where it is not the machine's."""
    return "16KiB" if case.what == "alltoall" and case.size >= 16384 and case.ranks > COARSE_RANKS else None


def simulate(case: Case, settings: dict[str, str] | None = None) -> float:
    """Return the seconds from the common start of all ranks until the last rank has all that it receives.

    `settings`: other values of the machine file.
    """
    run = tw.simulate(
        program(case),
        case.machine,
        ranks_per_node=case.ranks_per_node,
        placement=case.placement,
        packet=packet(case),
        threads=1,
        warn=False,
        settings=settings,
    )
    return float(run["time_s"])


def figure(case: Case, seconds: float) -> tuple[float, str]:
    """Return the figure that the benchmark reports, and its unit."""
    if case.what == "bandwidth":
        return WINDOW * case.size / seconds, "B/s"
    if case.what.endswith(" ring"):
        return (seconds / 2, "s") if case.size <= 8 else (2 * case.size / seconds, "B/s")
    if case.what == "pingpong" and case.size == 2_000_000:
        return case.size / seconds, "B/s"
    return seconds, "s"
