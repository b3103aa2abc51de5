"""A time step on two networks: what communication costs beside computation, and what overlap gains.

    python examples/08_time_step.py

Prints the time of a step on 1024 ranks, with the halo exchanged after the stencil and beside it.
"""

import tradewind as tw

RANKS = 1024
NODE = {"node.flops": "3TFlop/s", "node.memory_bandwidth": "200GB/s"}


def step(overlap: bool) -> tw.Program:
    """Physics, a stencil of 20 fields with its halo, and the sums of a solver."""
    blocks = tw.Blocks(tw.Grid(nx=2880, ny=1440, nz=128), split=(32, 32))
    halo = tw.Halo(blocks, width=3, periodic=("x",)).schedule("sweep")
    sums = tw.AllReduce(ranks=RANKS, count=2).schedule("recursive-8")
    physics = tw.Compute("physics", flops=8000, bytes=3000, layout=blocks)
    cost = {"flops": 600.0, "bytes": 500.0}
    if overlap:
        return tw.Program(physics, tw.Compute("stencil", **cost, layout=blocks, during=halo), sums, fields=20)
    return tw.Program(physics, tw.Compute("stencil", **cost, layout=blocks), halo, sums, fields=20)


for machine in ("fattree-M", "dragonfly-MM"):
    one_by_one, at_once = (step(overlap).simulate(machine, settings=NODE) for overlap in (False, True))
    stencil = one_by_one["step_time_s"]["stencil"]
    communication = one_by_one["time_s"] - one_by_one["step_time_s"]["physics"] - stencil
    hidden = 1 - at_once["time_s"] / one_by_one["time_s"]
    print(
        f"{machine:>13}: {1e3 * one_by_one['time_s']:.2f} ms per step, {1e3 * communication:.2f} ms of it communication; "
        f"overlap takes {100 * hidden:.0f} % off"
    )
