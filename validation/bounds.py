"""Simulated times beside what they cannot fall below: ``python -m validation.bounds [--ranks N] [--all]``.

No exchange is faster than its busiest link or NIC needs for its bytes. Where all packets between two nodes go one
way, "walked" is that bound from a walk of all messages, without the simulator; elsewhere only the simulator's counters
know it. LogGP, the formula that knows no congestion, stands beside it: it shows what latencies cost where the bytes
are few. Finite buffers, packets of 4 KiB.
"""

from __future__ import annotations

from collections.abc import Iterator

from tradewind.machine import MachineFile
from tradewind.simulation import Simulation, prepare
from tradewind.workload.exchange import Exchange
from validation.machines import machine
from validation.networks import NETWORKS
from validation.routes import Routes, bandwidths, loads
from validation.table import parser, print_rows

TINY = "allreduce 24 B"


def exchanges(ranks: int) -> Iterator[tuple[str, Exchange]]:
    """What weather models exchange; 16 MiB a rank are transposed, and 10 fields fetched."""
    grid = (256, 256, max(ranks, 16))
    yield "transposition ring-4", Exchange("transpose", ranks, grid, algorithm="ring-4")
    yield "transposition burst", Exchange("transpose", ranks, grid, algorithm="burst")
    yield "halo 3, sweep", Exchange("halo", ranks, grid, algorithm="sweep", width=3, periodic="xy")
    yield "halo 20, direct", Exchange("halo", ranks, grid, algorithm="direct", width=20, periodic="xy")
    points = (1, 160, 60)
    yield "fetch 4", Exchange("fetch", ranks, points, algorithm="direct", width=4, mesh="octahedral", fields=10)
    yield TINY, Exchange("allreduce", ranks, algorithm="recursive-4", count=3)
    yield "allreduce 1 MiB", Exchange("allreduce", ranks, algorithm="rabenseifner", count=131_072)


def walked(simulation: Simulation) -> float | None:
    """Seconds that the busiest link or NIC needs for its bytes; None where paths are not fixed."""
    routes = Routes(simulation.machine)
    if not routes.is_fixed():
        return None
    rates = bandwidths(simulation.file.machine)
    return max(size / rates[link.kind] for link, size in loads(simulation, routes).items())


def row(network: str, what: str, exchange: Exchange, file: MachineFile) -> dict[str, object]:
    simulation = prepare(exchange, file, threads=1)
    run = simulation.run()
    time_s, bound_s = run["time_s"], run["bound_s"]
    walked_s = walked(simulation)
    free_s = prepare(exchange, file, model="loggp").run()["time_s"]
    return {
        "network": network,
        "exchange": what,
        "time us": time_s * 1e6,
        "bound us": bound_s * 1e6,
        "walked us": "-" if walked_s is None else walked_s * 1e6,
        "of": run["bound_by"],
        "time / bound": time_s / bound_s,
        "loggp us": free_s * 1e6,
        "time / loggp": time_s / free_s,
    }


def summary(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """A row a network: how far each time is from its bound; that of tiny messages from LogGP."""
    networks: dict[object, dict[str, object]] = {}
    for row in rows:
        line = networks.setdefault(row["network"], {"network": row["network"]})
        tiny = row["exchange"] == TINY
        line[f"{row['exchange']}{' / loggp' if tiny else ''}"] = row["time / loggp" if tiny else "time / bound"]
    return list(networks.values())


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--ranks", type=int, default=256, help="2 to 256; 256 unless named")
    options.add_argument("--all", action="store_true", help="a row an exchange, with the times")
    asked = options.parse_args()
    if not 2 <= asked.ranks <= 256:
        options.error(f"--ranks {asked.ranks}: 2 to 256 are allowed")
    rows = [
        row(name, what, exchange, machine(topology))
        for name, topology in NETWORKS.items()
        for what, exchange in exchanges(asked.ranks)
    ]
    print_rows(rows if asked.all or asked.json else summary(rows), asked.json)


if __name__ == "__main__":
    main()
