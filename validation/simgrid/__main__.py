"""Our times beside those of SimGrid: ``python -m validation.simgrid [--ranks 64,256] [--json]``, or ``--speed``.

A row is an exchange: our time with buffers without limit; SimGrid's for the same messages on the same routes, and where
each rank sends its messages in turn; what the busiest link needs for its bytes. ``--speed`` has one row, an
all-to-all of 4 KiB among 1024 ranks of a torus, with the seconds of one core that each took to simulate it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

from tradewind.base.errors import TradewindError
from tradewind.machine import MachineFile
from tradewind.simulation import prepare
from tradewind.workload.exchange import Exchange
from validation.machines import all_to_all, machine
from validation.simgrid.replay import INSTALL, replay
from validation.table import parser, print_rows

KIB = 128
"""Doubles in 1 KiB."""

NETWORKS: dict[int, dict[str, dict[str, Any]]] = {
    64: {
        "torus": {"kind": "torus", "shape": [4, 4, 4], "nodes_per_switch": 1},
        "fattree": {"kind": "fattree", "levels": 3, "down_ports": 4},
        "dragonfly": {
            "kind": "dragonfly", "rows": 2, "columns": 2, "groups": 5, "nodes_per_switch": 4, "global_links": 1,
        },
    },
    256: {
        "torus": {"kind": "torus", "shape": [8, 8, 4], "nodes_per_switch": 1},
        "fattree": {"kind": "fattree", "levels": 4, "down_ports": 4},
        "dragonfly": {
            "kind": "dragonfly", "rows": 2, "columns": 4, "groups": 9, "nodes_per_switch": 4, "global_links": 1,
        },
    },
    1024: {
        "torus": {"kind": "torus", "shape": [8, 8, 16], "nodes_per_switch": 1},
        "fattree": {"kind": "fattree", "levels": 5, "down_ports": 4},
        "dragonfly": {
            "kind": "dragonfly", "rows": 4, "columns": 4, "groups": 17, "nodes_per_switch": 4, "global_links": 1,
        },
    },
}  # fmt: skip
"""By ranks; between two groups of a dragonfly there is one link, so that one way joins two nodes."""

SPLITS = {64: (8, 8), 256: (16, 16), 1024: (32, 32)}


def exchanges(ranks: int) -> Iterator[tuple[str, Exchange]]:
    """What is compared; where ranks are many, only what SimGrid has done in minutes."""
    x, y = SPLITS[ranks]
    yield "halo 3", Exchange("halo", ranks, (64 * x, 64 * y, 64), (x, y), algorithm="sweep", width=3, periodic="xy")
    yield "allreduce 24 B", Exchange("allreduce", ranks, algorithm="recursive-4", count=3)
    if ranks <= 256:
        yield "allreduce 1 MiB", Exchange("allreduce", ranks, algorithm="rabenseifner", count=1024 * KIB)
    yield "all-to-all 4 KiB, pairwise", all_to_all(ranks, "pairwise", 4 * KIB)
    if ranks > 256:
        return
    yield "all-to-all 4 KiB, ring-4", all_to_all(ranks, "ring-4", 4 * KIB)
    if ranks > 64:
        return
    yield "all-to-all 4 KiB, burst", all_to_all(ranks, "burst", 4 * KIB)
    yield "all-to-all 64 KiB, ring-4", all_to_all(ranks, "ring-4", 64 * KIB)
    yield "all-to-all 64 KiB, burst", all_to_all(ranks, "burst", 64 * KIB)


def row(ranks: int, network: str, what: str, exchange: Exchange, file: MachineFile) -> dict[str, object]:
    """One exchange in both simulators; what it cost them comes last."""
    simulation = prepare(exchange, file, buffers="unbounded", threads=1)
    begin = time.process_time()
    ours = simulation.run()
    cpu_s = time.process_time() - begin
    theirs = replay(simulation)
    return {
        "ranks": ranks,
        "network": network,
        "exchange": what,
        "ours us": ours["time_s"] * 1e6,
        "SimGrid us": theirs.time_s * 1e6,
        "ours / SimGrid": ours["time_s"] / theirs.time_s,
        "bound us": ours["bound_s"] * 1e6,
        "packet-hops": ours["packet_hops"],
        "ours took s": cpu_s,
        "SimGrid took s": theirs.cpu_s,
    }


def speed(ranks: int = 1024) -> dict[str, object]:
    """An all-to-all of 4 KiB on a torus, in the order that costs SimGrid the least: pairs, all of one stage alike."""
    exchange = all_to_all(ranks, "pairwise", 4 * KIB)
    return row(ranks, "torus", "all-to-all 4 KiB, pairwise", exchange, machine(NETWORKS[ranks]["torus"]))


def comparison(ranks: int, link_latency: str) -> Iterator[dict[str, object]]:
    """All exchanges among `ranks` ranks; they are too short to measure the cost of their simulation."""
    for network, topology in NETWORKS[ranks].items():
        for what, exchange in exchanges(ranks):
            file = machine(topology, latency=link_latency, nic_latency="100ns")
            found = row(ranks, network, what, exchange, file)
            in_turn = replay(prepare(exchange, file), "in-turn")
            times = {key: value for key, value in found.items() if key != "packet-hops" and "took" not in key}
            yield times | {"in turn us": in_turn.time_s * 1e6}


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--ranks", default="64,256", help="some of 64,256,1024; 64,256 unless named")
    options.add_argument("--link-latency", default="100ns", help="between switches; 100ns unless named, as to NICs")
    options.add_argument("--if-installed", action="store_true", help="without SimGrid, print a note and end well")
    options.add_argument("--speed", action="store_true", help="the all-to-all among 1024 ranks alone")
    asked = options.parse_args()
    sizes = asked.ranks.split(",")
    if unknown := [size for size in sizes if size not in map(str, NETWORKS)]:
        options.error(f"--ranks {','.join(unknown)}: 64, 256 and 1024 are allowed")
    try:
        if asked.speed:
            rows = [speed()]
        else:
            rows = [row for size in sizes for row in comparison(int(size), asked.link_latency)]
    except TradewindError as error:
        if asked.if_installed and str(error) == INSTALL:
            print(INSTALL)
            return
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    print_rows(rows, asked.json)


if __name__ == "__main__":
    main()
