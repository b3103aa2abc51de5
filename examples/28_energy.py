"""Joules of a time step by the number of nodes: faster costs more, and ranks that wait are the dearest.

    python examples/28_energy.py

Prints time, joules and the power of a node of a step with a halo and a sum over all ranks on Fugaku, which has power in
its machine file; then the same as if cores slept while they wait.
"""

import tradewind as tw

GRID = tw.Grid(nx=1440, ny=720, nz=60)


def step(cx, cy):
    blocks = tw.Blocks(GRID, split=(cx, cy))
    return tw.Program(
        tw.Compute("physics", flops=20_000, bytes=2_000, layout=blocks),
        tw.Halo(blocks, width=3, periodic="x").schedule("sweep"),
        tw.AllReduce(ranks=cx * cy, count=2).schedule("recursive-4"),
    )


found = {}
for name, settings in (("polling", {}), ("sleeping", {"power.waiting": "56W"})):
    for cx, cy in ((8, 4), (16, 16), (64, 32)):
        result = step(cx, cy).simulate("fugaku", settings=settings)
        found[name, cx * cy] = result
        print(
            f"{cx * cy:5} nodes, {name:8}: {result['time_s'] * 1e3:7.3f} ms, {result['energy_j']:6.1f} J, "
            f"{result['node_power_w']:.0f} W per node"
        )

polling = [found["polling", nodes]["energy_j"] for nodes in (32, 256, 2048)]
assert polling == sorted(polling), "the same computing, and more waiting"
assert found["sleeping", 2048]["energy_j"] < found["polling", 2048]["energy_j"]
assert found["sleeping", 2048]["time_s"] == found["polling", 2048]["time_s"]
