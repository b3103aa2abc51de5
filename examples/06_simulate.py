"""Which all-to-all algorithm, on which network? Simulates one transposition of a spectral model.

python examples/06_simulate.py
"""

import tradewind as tw

grid = tw.Grid(nx=2880, ny=1440, nz=128)
split = (16, 16)
transpose = tw.Transpose(tw.Blocks(grid, split), tw.Pencils(grid, along="x", split=split))
for machine in ("torus-M", "fattree-M", "dragonfly-MM"):
    times = {}
    for algorithm in ("ring-1", "ring-4", "bruck"):
        result = transpose.schedule(algorithm).simulate(machine)
        assert result["time_s"] >= result["bound_s"]  # never faster than the busiest link
        times[algorithm] = result["time_s"]
    best = min(times, key=times.__getitem__)
    others = ", ".join(f"{name} {time / times[best]:.2f}" for name, time in times.items())
    print(f"{machine}: best {best}; times over the best: {others}")
