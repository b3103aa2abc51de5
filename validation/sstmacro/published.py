"""Times of SST/macro 7.1.0, built and run by us, November 2026, and the cases that they belong to.

Its source is the release v7.1.0_Final; its model of packets is PISCES, with nodes of the kind AMM1 and packets of
4 KiB. One rank per node, in a row; MPI costs nothing but for what a case names; all messages are eager unless it has a
limit. Bandwidths are 10 GB/s and latencies 100 ns, of links as of NICs, but for what a case names.

Where receives are posted first, SST/macro's times were kept as ratios to ours of that day, rounded to hundredths, so
they are known to 0.7 %.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

KIB = 1024

TORUS: dict[str, Any] = {"kind": "torus", "shape": [4, 4, 4], "nodes_per_switch": 1}
FATTREE: dict[str, Any] = {"kind": "fattree", "levels": 3, "down_ports": 4}


def group(side: int, nodes: int) -> dict[str, Any]:
    """Return the topology of one group of a dragonfly, with `side` x `side` switches of `nodes` nodes each."""
    return {
        "kind": "dragonfly",
        "rows": side,
        "columns": side,
        "groups": 1,
        "nodes_per_switch": nodes,
        "global_links": 0,
    }


NETWORKS: dict[str, dict[str, Any]] = {"torus": TORUS, "fattree": FATTREE, "dragonfly": group(4, 4)}
"""Networks of 64 nodes."""

CHANNELS = {
    ("torus", "dimension-order"): 2,
    ("torus", "valiant"): 4,
    ("fattree", "round-robin"): 1,
    ("dragonfly", "minimal"): 2,
    ("dragonfly", "valiant"): 4,
    ("dragonfly", "ugal-sst71"): 6,
}
"""Virtual channels among which SST/macro 7.1 divides the buffer of a port."""


@dataclass(frozen=True)
class Sixtyfour:
    """An all-to-all among 64 ranks, and SST/macro's times for it in ms; None: not kept."""

    network: str
    routing: str
    algorithm: str
    bytes: int
    """Per pair of ranks."""
    late: float
    """The receives of a stage are posted when it begins; buffers of 64 KiB per channel."""
    first: float | None
    """All receives are posted first; the same buffers."""
    unbounded: float | None
    """All receives are posted first; buffers without limit."""


SIXTYFOUR = (
    Sixtyfour("torus", "dimension-order", "ring-4", 4 * KIB, 0.0490, 0.0484, 0.0484),
    Sixtyfour("torus", "dimension-order", "ring-4", 64 * KIB, 1.111, 0.737, 0.678),
    Sixtyfour("torus", "dimension-order", "ring-4", 848 * KIB, 16.09, 14.29, 9.10),
    Sixtyfour("torus", "dimension-order", "ring-1", 64 * KIB, 1.260, 0.939, 0.960),
    Sixtyfour("torus", "dimension-order", "burst", 64 * KIB, 0.668, 0.668, 0.501),
    Sixtyfour("torus", "valiant", "ring-4", 64 * KIB, 0.737, 0.742, 0.738),
    Sixtyfour("torus", "valiant", "ring-4", 848 * KIB, 12.15, 11.48, 8.66),
    Sixtyfour("fattree", "round-robin", "ring-1", 64 * KIB, 1.105, 0.706, 0.706),
    Sixtyfour("dragonfly", "minimal", "ring-4", 4 * KIB, 0.0950, 0.0991, 0.0991),
    Sixtyfour("dragonfly", "minimal", "ring-4", 64 * KIB, 1.553, 1.602, 1.460),
    Sixtyfour("dragonfly", "minimal", "ring-4", 848 * KIB, 21.91, 20.98, 19.37),
    Sixtyfour("dragonfly", "minimal", "burst", 64 * KIB, 1.185, 1.185, 0.708),
    Sixtyfour("dragonfly", "minimal", "bruck", 64 * KIB, 3.928, None, None),
    Sixtyfour("dragonfly", "valiant", "ring-4", 64 * KIB, 0.934, 0.922, 0.920),
    Sixtyfour("dragonfly", "valiant", "ring-1", 64 * KIB, 1.407, 0.992, 1.002),
)


@dataclass(frozen=True)
class Group:
    """An all-to-all in one group of a dragonfly with buffers of 32 KiB per port, the default of SST/macro 7.1."""

    series: str
    """Of SST/macro's runs; between two of them its times for one setting differ by up to 14 %."""
    side: int
    """The group has side x side switches of `side` nodes each."""
    routing: str
    algorithm: str
    bytes: int
    """Per pair of ranks."""
    bandwidth: str
    latency: str
    """Of links; NICs have `nic_latency`."""
    sst_ms: float
    nic_bandwidth: str | None = None
    nic_latency: str = "100ns"
    eager_limit: str | None = None

    @property
    def ranks(self) -> int:
        """Ranks, one per node."""
        return self.side**3


def _groups() -> tuple[Group, ...]:
    routings, bandwidths = ("minimal", "valiant", "ugal-sst71"), ("1GB/s", "10GB/s", "100GB/s", "1000GB/s")
    by_routing = [
        Group("routing", side, routing, "ring-4", size, "10GB/s", "1us", ms)
        for side, size, times in ((6, 64 * KIB, (10.2, 6.1, 40.4)), (10, 8 * KIB, (10.6, 6.1, 42.4)))
        for routing, ms in zip(routings, times, strict=True)
    ]
    by_bandwidth = [
        Group("bandwidth", 6, "minimal", "ring-4", 64 * KIB, bandwidth, latency, ms, nic)
        for latency, nic, times in (
            ("1us", None, (83.0, 10.2, 10.3, 10.3)),
            ("100ns", None, (82.0, 8.3, 1.3, 1.3)),
            ("100ns", "10GB/s", (83.0, 8.8, 1.5, 1.5)),
        )
        for bandwidth, ms in zip(bandwidths, times, strict=True)
    ]
    by_latency = [
        Group("latency", 6, "minimal", "ring-4", 64 * KIB, "10GB/s", latency, ms)
        for latency, ms in (("10ns", 8.5), ("100ns", 8.7), ("1us", 11.6), ("10us", 102.0))
    ]
    by_algorithm = [
        Group("algorithm", 6, "minimal", algorithm, 512, "10GB/s", "100ns", ms, nic_latency="1us", eager_limit="8KiB")
        for algorithm, ms in (("ring-1", 0.478), ("ring-4", 0.150), ("bruck", 0.210))
    ]
    return (*by_routing, *by_bandwidth, *by_latency, *by_algorithm)


GROUPS = _groups()


@dataclass(frozen=True)
class Large:
    """An exchange on a network of Zheng & Marguinaud (2018) that SST/macro has no time for, but a formula."""

    machine: str
    pattern: str
    ranks: int
    what: str
    settings: dict[str, str]
    grid: tuple[int, int, int] | None = None
    split: tuple[int, int] | None = None
    slab: str = "all"
    routing: str | None = None
    packet: str | None = None
    buffers: str = "credits"
    sst_ms: float | None = None
    """By the formula with which SST/macro 7.1 sends messages of up to 256 bytes: latency x links."""


def _room(routing: str) -> dict[str, str]:
    return {"switch.port_buffer": "32KiB", "switch.channels": str(CHANNELS["dragonfly", routing])}


def _rates(bandwidth: str) -> dict[str, str]:
    return {f"{key}bandwidth": bandwidth for key in ("link.", "nic.injection_", "nic.ejection_")}


def _on_mm(routing: str = "minimal", bandwidth: str = "10GB/s", latency: str = "1us") -> Large:
    settings = {**_room(routing), **_rates(bandwidth), "link.latency": latency}
    what = f"{latency}, {bandwidth}"
    return Large(
        "dragonfly-MM", "transpose", 10_000, what, settings, (7200, 3600, 256), (100, 100), "xy", routing=routing
    )


def _large() -> tuple[Large, ...]:
    full = (28_800, 14_400, 256)
    on_mm = [
        *(_on_mm(routing) for routing in ("minimal", "valiant", "ugal-sst71")),
        *(_on_mm(bandwidth=rate) for rate in ("1GB/s", "100GB/s", "1000GB/s")),
        *(_on_mm(latency=latency) for latency in ("100ns", "10us")),
    ]
    links = [
        Large(
            machine, "transpose", 20_000, f"{count} global links" if count else "-",
            {"topology.global_links": str(count)} if count else {}, full, packet="128KiB", buffers="unbounded",
        )
        for machine, count in (
            ("dragonfly-MM", 24), ("dragonfly-SL", 124), ("dragonfly-LS", 4), ("fattree-M", 0),
            ("dragonfly-MM", 10), ("dragonfly-SL", 10),
        )
    ]  # fmt: skip
    late = {**_rates("1000GB/s"), "link.latency": "1us", "nic.latency": "1us"}
    by_latency = [
        Large(
            "fattree-M", "transpose", ranks, "1us, 1000GB/s", late, full, packet="message", buffers="unbounded"
        )
        for ranks in (5000, 10_000, 20_000)
    ]  # fmt: skip
    bypass = {"link.latency": "1us", "nic.latency": "1us", "mpi.bypass": "256B"}
    counted = {**bypass, "mpi.bypass_distance": "last-dimension"}
    allreduces = [
        Large(machine, "allreduce", ranks, what, settings, packet="message", buffers="unbounded", sst_ms=ms)
        for machine, what, settings, times in (
            ("torus-L", "bypass, z counts", counted, (0.400, 0.700)),
            ("torus-L", "bypass", bypass, (4.152, 8.203)),
            ("dragonfly-ML", "bypass", bypass, (0.700, 1.200)),
            ("fattree-L", "bypass", bypass, (0.800, 1.700)),
        )
        for ranks, ms in zip((1000, 100_000), times, strict=True)
    ]
    return (*on_mm, *links, *by_latency, *allreduces)


LARGE = _large()
