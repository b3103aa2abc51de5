"""Heat on a torus, without its mean: a dwarf with two strategies, a loop over points and a reduction."""

from dataclasses import dataclass

import numpy as np

from tradewind.dwarfs.frame.dwarf import method_option
from tradewind.dwarfs.frame.on_grid import FieldRunning, GridDwarf
from tradewind.dwarfs.frame.step import kernel
from tradewind.workload.options import option


@kernel(flops=7, values=2)
def relax(run, box):
    f, (z, y, x) = run.field, box
    west, east, south, north = (slice(at.start + by, at.stop + by) for at in (x, y) for by in (-1, 1))
    around = f[z, y, east] + f[z, y, west] + f[z, north, x] + f[z, south, x]
    run.next[box] = f[box] + run.dwarf.rate * (around - 4 * f[box])


add_up = kernel(flops=1, values=1)(lambda run, box: run.sums["mean"].fill(run.next[box].sum()))


def exchange(step, steps):
    step.exchange("halo")
    step.compute(relax, label="heat")
    step.compute(add_up, label="sum")
    step.finish(*step.reduce("mean", "sum"))
    return 1


def overlap(step, steps):
    step.start("halo")
    step.compute(relax, points="interior", label="interior")
    step.wait("halo")
    step.compute(relax, points="rim", label="rim")
    step.compute(add_up, label="sum")
    step.finish(*step.reduce("mean", "sum"))
    return 1


class HeatRun(FieldRunning):
    def finish(self, *result):
        super().finish()
        self.field[self.own] -= result[0] / self.dwarf.points


@dataclass(frozen=True)
class Heat(GridDwarf):
    rate: float = option("Share of each neighbour.", 0.2, minimum=0.0, maximum=0.25, label="share of each neighbour")
    mean_method: str | None = method_option("mean", "allreduce")
    kind, strategies, tolerance = "heat", {"exchange": exchange, "overlap": overlap}, 1e-12
    plans = {"halo": "halo", "mean": "allreduce"}  # noqa: RUF012

    def on(self, comm, *, record="totals"):
        return HeatRun(self, comm, lambda z, y, x: np.sin(z + 2.0 * y + 3.0 * x * x), record)

    def reference_step(self, whole):
        around = sum(np.roll(whole, by, axis) for axis in (1, 2) for by in (1, -1))
        return (new := whole + self.rate * (around - 4 * whole)) - new.mean()
