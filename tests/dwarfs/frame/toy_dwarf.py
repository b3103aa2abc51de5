"""Heat on a torus, without its mean: a dwarf with two strategies, a loop over points and a reduction."""

from dataclasses import dataclass

import numpy as np

from tradewind import _core
from tradewind.dwarfs.frame.dwarf import method_option
from tradewind.dwarfs.frame.on_grid import GridDwarf, GridRunning
from tradewind.dwarfs.frame.step import kernel
from tradewind.workload.options import option


@kernel(flops=6, values=2)
def relax(run, box):
    f, (z, y, x) = run.field, box
    west, east, south, north = (slice(at.start + by, at.stop + by) for at in (x, y) for by in (-1, 1))
    around = f[z, y, east] + f[z, y, west] + f[z, north, x] + f[z, south, x]
    run.new[box] = f[box] + run.dwarf.rate * (around - 4 * f[box])


def exchange(step, steps):
    step.exchange("halo")
    step.compute(relax, label="heat")
    step.finish(*step.reduce("mean", "new"))
    return 1


def overlap(step, steps):
    step.start("halo")
    step.compute(relax, points="interior", label="interior")
    step.wait("halo")
    step.compute(relax, points="rim", label="rim")
    step.finish(*step.reduce("mean", "new"))
    return 1


@dataclass(frozen=True)
class Heat(GridDwarf):
    rate: float = option("Share of each neighbour.", 0.2, minimum=0.0, maximum=0.25, label="share of each neighbour")
    mean_method: str | None = method_option("mean", "allreduce")
    kind, tolerance, strategies = "heat", 1e-12, {"exchange": exchange, "overlap": overlap}
    plans = {"halo": "halo", "mean": "allreduce"}  # noqa: RUF012

    def _problems(self):
        return self.exchange_problems("halo", width=1, periodic="xy")

    def pattern(self, name):
        return _core.Halo(self.layout, 1, [True, True]) if name == "halo" else _core.AllReduce(self.ranks, 1)

    def on(self, comm, *, record="totals"):
        return HeatRun(self, comm, record)

    def reference_step(self, whole):
        new = whole + self.rate * (sum(np.roll(whole, by, axis) for axis in (1, 2) for by in (1, -1)) - 4 * whole)
        return new - new.mean()


class HeatRun(GridRunning):
    def __init__(self, dwarf, comm, record):
        super().__init__(dwarf, comm, record)
        self.field, self.new = self.grid_arrays("halo", 2)
        self.total = self.sum_array("mean", 1)
        z, y, x = self.indices()
        self.field[self.own] = np.sin(z + 2.0 * y + 3.0 * x * x)
