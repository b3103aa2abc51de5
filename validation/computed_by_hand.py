"""Routes through small networks, computed by hand: which switches a packet comes to, and when.

From a NIC to its switch are 90 ns, between switches 70 ns, by a global link 200 ns. A packet of 1000 bytes passes in
100 ns, or in 200 ns where a global link of 5 GB/s is on its way; its tail is there so long after its head.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tradewind.machine import MachineFile
from tradewind.workload.exchange import Exchange
from validation.machines import DRAGONFLY, all_to_all, machine, pair
from validation.networks import PETERSEN


@dataclass(frozen=True)
class Route:
    """What the packets to one rank must do."""

    name: str
    machine: MachineFile
    exchange: Exchange
    heads: list[tuple[int, float]]
    """(switch, ns), in order of time."""
    end: float
    """When the last tail has arrived, in ns."""
    nodes: tuple[int, int] | None = None
    """Of ranks 0 and 1; None: rank r is on node r."""
    followed: int = 1
    """The rank whose packets are followed on their way to it."""
    buffers: str = "unbounded"


def network(topology: dict[str, Any], packet: str = "4KiB", **more: Any) -> MachineFile:
    far = {"bandwidth": "5GB/s", "latency": "200ns"}
    return machine(topology, latency="70ns", nic_latency="90ns", packet=packet, global_link=far, **more)


def one_packet(
    name: str, topology: dict[str, Any], nodes: tuple[int, int], heads: list[tuple[int, float]], end: float
) -> Route:
    """1000 bytes from one node to another, nothing else being on the way."""
    return Route(name, network(topology), pair(125), heads, end, nodes)


def ring(switches: int) -> dict[str, Any]:
    return {"kind": "torus", "shape": [switches], "nodes_per_switch": 1}


ROUTES = (
    # One switch: 90 there, 90 on, 100 for the bytes.
    one_packet("crossbar", {"kind": "crossbar", "nodes": 7}, (2, 5), [(0, 90)], 280),
    # (1, 0) to (3, 3) of 4 x 5. x first: two steps are halfway round and go forward, by 2 to 3. y: three steps forward
    # or two back, so back, by (3, 4), which is 3 + 4 * 4.
    one_packet(
        "torus", {"kind": "torus", "shape": [4, 5], "nodes_per_switch": 1}, (1, 15),
        [(1, 90), (2, 160), (3, 230), (19, 300), (15, 370)], 560,
    ),
    # Binary, three levels of four switches. Node 1 is below switch 0, node 6 = 110 in base 2 below switch 3. Up by
    # digit 0 of the node, 0, to the first switch of level 1, which is 4; up by digit 1, 1: of level 2 switch 10, which
    # is 8 + 2. Down to the half where node 6 is, 4 + 2, and to 3.
    one_packet(
        "fattree", {"kind": "fattree", "levels": 3, "down_ports": 2}, (1, 6),
        [(0, 90), (4, 160), (10, 230), (6, 300), (3, 370)], 560,
    ),
    # Groups of 2 x 3. Switch 0 to switch 2 of group 3, which is 3 * 6 + 2 = 20. The link three groups ahead is the
    # third of a group and sits on its switch 2: along the row there. The link four groups ahead, which leads back,
    # sits on switch 3, in group 3 that is 21. From there along its row to 23, which is above 20.
    one_packet(
        "dragonfly", DRAGONFLY, (1, 40),
        [(0, 90), (2, 160), (21, 360), (23, 430), (20, 500)], 790,
    ),
    # 15 leaves, then two spines per group. Leaf 0 to leaf 7, of group 2. The second link of a group leads two groups
    # ahead and sits on its second spine, 16. The third one leads three ahead, back to group 0; dealt in turn to two
    # spines it sits on the first, of group 2: 15 + 2 * 2 = 19.
    one_packet(
        "dragonflyplus",
        {"kind": "dragonflyplus", "leaves": 3, "spines": 2, "groups": 5, "nodes_per_switch": 2, "global_links": 2},
        (1, 14), [(0, 90), (16, 160), (19, 360), (7, 430)], 720,
    ),
    # (0, 0) to (2, 1) of 4 x 3: along x to 2, along y to 2 + 4.
    one_packet(
        "hyperx", {"kind": "hyperx", "shape": [4, 3], "nodes_per_switch": 2}, (1, 13),
        [(0, 90), (2, 160), (6, 230)], 420,
    ),
    one_packet(
        "complete", {"kind": "complete", "switches": 6, "links": 2, "nodes_per_switch": 2}, (1, 8),
        [(0, 90), (4, 160)], 350,
    ),
    # 0011 to 1101: the lowest bit is right; then bits 1, 2 and 3: 0001, 0101, 1101.
    one_packet(
        "hypercube", {"kind": "hypercube", "dimensions": 4, "nodes_per_switch": 2}, (6, 27),
        [(3, 90), (1, 160), (5, 230), (13, 300)], 490,
    ),
    # (0, x 0, y 0) to (0, x 1, y 3). Neighbours (1, m, c) of both have 0 = c and 3 = m + c: (1, 3, 0), which is switch
    # 25 + 3 * 5. No other way has two links, since those of one side keep x.
    one_packet(
        "slimfly", {"kind": "slimfly", "q": 5, "nodes_per_switch": 2}, (1, 16),
        [(0, 90), (40, 160), (8, 230)], 420,
    ),
    # NVLink joins GPU 0 to 1, 2, 3 and 4, not to 5. By PCIe, whose links are the global ones: the switch of GPUs 0
    # and 1, which is 8 after the GPUs; the host, 12 after the four of them; the switch of 4 and 5, which is 10.
    one_packet(
        "cubemesh", {"kind": "cubemesh", "gpu": "V100"}, (0, 5),
        [(0, 90), (8, 290), (12, 490), (10, 690), (5, 890)], 1180,
    ),
    # The Petersen graph has one shortest path for each pair. 2 has neighbours 1, 3, 7, and 9 has 4, 6, 7.
    one_packet(
        "graph", {"kind": "graph", "file": PETERSEN, "nodes_per_switch": 2}, (4, 18),
        [(2, 90), (7, 290), (9, 360)], 650,
    ),
    # Three packets leave the NIC 100 ns apart.
    Route("crossbar, three packets", network({"kind": "crossbar", "nodes": 7}, "1000B"), pair(375),
        [(0, 90), (0, 190), (0, 290)], 480),
    # Buffers hold one packet. The first leaves its buffer at 90, the NIC knows at 180 and sends the second, which is
    # there at 270; the third likewise 180 later. Between switches the credit takes 70 only: no packet waits there.
    Route("ring, buffers of one packet", network(ring(5), "1000B", switch={"buffer": "1000B"}), pair(375),
        [(0, 90), (1, 160), (2, 230), (0, 270), (1, 340), (2, 410), (0, 450), (1, 520), (2, 590)], 780,
        nodes=(0, 2), buffers="credits"),
    # Four ranks send 4000 bytes, 400 ns, to the next, the one after it, the one before. To rank 2: from 1, by 650.
    # Then from 0, two links: at 810 switch 1 is still sending its own, which came at 740, so until 1140; there at 1210,
    # done at 1210 + 90 + 400 = 1700. Then from 3, backwards.
    Route("ring, one waits for another", network(ring(4)), all_to_all(4, "ring-1", 500),
        [(1, 90), (2, 160), (0, 740), (1, 810), (2, 1210), (3, 1790), (2, 1860)], 2350, followed=2),
)  # fmt: skip
