"""Node-aware halos: what two nodes send each other, proved right, and when it pays.

python examples/15_nodes.py
"""

import tradewind as tw

RANKS_PER_NODE = 16
block = tw.Blocks(tw.Grid(nx=256, ny=256, nz=16), split=(32, 32))

for width in (3, 20):
    halo = tw.Halo(block, width=width, periodic=("x", "y"))
    for algorithm in ("direct", f"two-level-{RANKS_PER_NODE}", f"leaders-{RANKS_PER_NODE}"):
        schedule = halo.schedule(algorithm)
        proved = schedule.verify()
        result = schedule.simulate("fattree-M", ranks_per_node=RANKS_PER_NODE)
        print(
            f"width {width:2}, {algorithm:12}: {proved['messages']:6} messages in {proved['stages']} stages, "
            f"{result['time_s'] * 1e6:6.1f} us"
        )
