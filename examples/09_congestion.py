"""Where a network is congested, as pictures: a halo whose neighbours sit in the next group of a dragonfly.

    python examples/09_congestion.py

Simulates the same exchange with minimal and with adaptive routing, and draws for each what its links did.
"""

import tradewind as tw

SMALL = {"rows": 2, "columns": 4, "groups": 9, "nodes_per_switch": 4, "global_links": 2}
settings = {f"topology.{name}": str(value) for name, value in SMALL.items()}  # 288 nodes, 32 per group

blocks = tw.Blocks(tw.Grid(nx=3200, ny=900, nz=60), split=(32, 9))  # neighbours along y: 32 ranks further
halo = tw.Halo(blocks, width=3, periodic=("x", "y")).schedule("direct")
for routing in ("minimal", "ugal"):
    folder = f"congestion-{routing}"
    result = halo.simulate("dragonfly-MM", routing=routing, settings=settings, fields=4, congestion=folder)
    groups = result["congestion"]["groups"]
    between = [share for a, b, share in zip(groups["from"], groups["to"], groups["share"], strict=True) if a != b]
    print(
        f"{routing}: {1e6 * result['time_s']:.0f} us; {len(between)} of 72 pairs of groups exchange something, "
        f"their busiest link is busy {100 * max(between):.0f} % of the time"
    )
    print("  " + "  ".join(result["pictures"]))
