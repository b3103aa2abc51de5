"""Packets followed from switch to switch, beside times computed by hand: ``python -m validation.traces [--json]``.

A row is one way through a network: the switches that the packets come to, the times (ns) at which their heads should
be there and at which the simulator has them there, and when the last tail arrives. How each is computed stands in
`validation.computed_by_hand`.
"""

from __future__ import annotations

from collections.abc import Iterator

from tradewind import _core
from tradewind.simulation import prepare
from validation.computed_by_hand import ROUTES, Route
from validation.table import parser, print_rows


def seed_of(nodes: int, first: int, second: int) -> int:
    """Of the random placement that puts ranks 0 and 1 on these two nodes."""
    for seed in range(1_000_000):
        place = _core.Placement("random", 2, 1, nodes, seed)
        if (place.node(0), place.node(1)) == (first, second):
            return seed
    raise AssertionError(f"no placement has nodes {first} and {second}")


def simulate(route: Route) -> tuple[list[tuple[int, float]], float]:
    """(switch, ns) of every head that comes to a switch on its way to the rank that is followed, and the end (ns)."""
    place = {}
    if route.nodes is not None:
        place = {"placement": "random", "seed": seed_of(route.machine.machine.build().nodes, *route.nodes)}
    simulation = prepare(route.exchange, route.machine, buffers=route.buffers, **place)  # type: ignore[arg-type]
    options = _core.SimulationOptions(
        packet_bytes=simulation.packet_bytes,
        seed=simulation.options.seed,
        finite_buffers=route.buffers == "credits",
        followed=route.followed,
    )
    result = _core.simulate_packets(simulation.machine, simulation.program(), simulation.placement, options)
    return [(switch, time / 1000) for switch, _, _, time in result.passages], result.time_ps / 1000


def rows() -> Iterator[dict[str, object]]:
    for route in ROUTES:
        heads, end = simulate(route)
        yield {
            "network": route.name,
            "switches": " ".join(str(switch) for switch, _ in heads),
            "ns by hand": _times([time for _, time in route.heads], route.end),
            "ns simulated": _times([time for _, time in heads], end),
            "same": "yes" if (heads, end) == (route.heads, route.end) else "NO",
        }


def _times(heads: list[float], end: float) -> str:
    return " ".join(f"{time:g}" for time in heads) + f", tail {end:g}"


def main() -> None:
    asked = parser(__doc__).parse_args()
    print_rows(list(rows()), asked.json)


if __name__ == "__main__":
    main()
