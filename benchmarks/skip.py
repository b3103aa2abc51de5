"""CPU seconds of a hundred equal time steps beside six, and of looking for equal ones where there are none."""

from __future__ import annotations

import time

import tradewind as tw
from tradewind.simulation import prepare
from tradewind.simulation.prepared import Simulation
from tradewind.workload.program import Exchanged, ProgramWorkload

STEPS, FEW, REPEATS = 100, 6, 5
CASES = (
    # split, algorithm of the sum, s of computation, machine, buffers
    ((8, 8), "recursive-8", 1e-4, "torus-M", "unbounded"),
    ((8, 8), "recursive-8", 1e-4, "dragonfly-MM", "credits"),
    ((16, 16), "recursive-4", 1e-3, "torus-M", "credits"),
    ((16, 16), "recursive-4", 1e-3, "fattree-M", "unbounded"),
)
ROUTINGS = {"dragonfly-MM": "minimal"}
"""A routing that draws no random numbers, where the machine's own does."""


def skip() -> None:
    """A halo, a computation and a sum, again and again: the best of several runs of each."""
    for case in CASES:
        (columns, rows), algorithm, _, machine, buffers = case
        result = _prepared(case, STEPS, True).run()
        some, whole = _cpu_s(_prepared(case, STEPS, True)), _cpu_s(_prepared(case, STEPS, False))
        simulated = f"{result['steps_simulated']} of {STEPS} steps simulated, {some:.3f} s of CPU; all: {whole:.3f} s"
        print(f"{columns * rows} ranks of {machine}, {buffers}, sum by {algorithm}: {simulated}")
        if result["steps_skipped"]:
            few = _cpu_s(_prepared(case, FEW, False))
            print(f"  as much as {FEW * some / few:.1f} steps; goal: at most {FEW}")
        else:
            print(f"  {some / whole - 1:+.1%} to look for equal ones, and there are none; goal: at most +3 %")


def _prepared(case: tuple[tuple[int, int], str, float, str, str], steps: int, skips: bool) -> Simulation:
    split, algorithm, seconds, machine, buffers = case
    blocks = tw.Blocks(tw.Grid(nx=20 * split[0], ny=20 * split[1], nz=10), split=split)
    halo = Exchanged("halo", tw.Halo(blocks, width=2, periodic="xy").schedule("direct"))
    total = Exchanged("sum", tw.AllReduce(split[0] * split[1], 10).schedule(algorithm))
    program = ProgramWorkload(halo, tw.Compute("physics", seconds=seconds), total, repeat=steps)
    return prepare(program, machine, buffers=buffers, routing=ROUTINGS.get(machine), threads=1, skip=skips)


def _cpu_s(simulation: Simulation) -> float:
    best = float("inf")
    for _ in range(REPEATS):
        begin = time.process_time()
        simulation.run()
        best = min(best, time.process_time() - begin)
    return best


if __name__ == "__main__":
    skip()
