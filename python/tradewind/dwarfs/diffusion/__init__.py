"""Fourth-order diffusion, the stencil of the course High Performance Computing for Weather and Climate (HPC4WC).

    out = in - 1/32 lap(lap(in))

lap is the five-point Laplacian in x and y, on a grid that is periodic in both; levels are independent. At first
the field is 1 in a box on the middle half of each axis, else 0. 1/32 is the largest factor that is stable: the
checkerboard changes its sign every step. A rank owns a block of columns, and its halo must be up to date before points
near its edge are computed. The strategies below are the ways to do so; all give the same bits.

mpiexec -n 2 python -c "
from mpi4py import MPI
from tradewind.dwarfs.diffusion import Diffusion
run = Diffusion(ranks=2, grid=(64, 64, 16), strategy='overlap').on(MPI.COMM_WORLD)
run.advance(64)
print(run.diagnose())"
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tradewind import _core
from tradewind.dwarfs.diffusion.objects import exchange_objects, object_problems
from tradewind.dwarfs.frame.diagnosis import Slices
from tradewind.dwarfs.frame.dwarf import device_option
from tradewind.dwarfs.frame.on_grid import FieldRunning, GridDwarf, points_of, width_option
from tradewind.dwarfs.frame.step import kernel

if TYPE_CHECKING:
    from mpi4py import MPI

    from tradewind.dwarfs.frame.step import Step
    from tradewind.mpi.library import Array

ALPHA = 1 / 32
REACH = 2
"""Reach of the stencil: a step needs the halo two points wide."""

Initial = Callable[["Array", "Array", "Array"], "Array"]
"""(z, y, x) -> values, of global indices that NumPy broadcasts to [z][y][x]."""


# The loop over points, with its cost: five flops for each Laplacian, two for the update.


def diffuse_on_device(run: DiffusionRun, box: Slices) -> None:
    """Compute the same by a kernel of the device."""
    (z, y, x), (_, rows, pitch) = box, run.field.shape
    first = (z.start * rows + y.start) * pitch + x.start
    extents = [axis.stop - axis.start for axis in (x, y, z)]
    real = run.field.dtype.type
    arrays = run.field, run.next, first, pitch, rows * pitch
    run.device.run(f"diffuse_{run.dwarf.precision}", points_of(box), *arrays, *extents, real(ALPHA))


@kernel(flops=12, values=2, on_device=diffuse_on_device)
def diffuse(run: DiffusionRun, box: Slices) -> None:
    """Compute the next values of the points of a box."""
    _core.diffuse(run.field, run.next, box, ALPHA, run.team)


# The time loop. Each strategy advances by one exchange and the steps that it is good for, and returns how many.


def exchange(step: Step, steps: int) -> int:
    """Exchange the halo, then compute."""
    step.exchange("halo")
    step.compute(diffuse, label="step 1")
    step.finish()
    return 1


def overlap(step: Step, steps: int) -> int:
    """Start the exchange, compute what needs no halo, wait, compute the rest."""
    step.start("halo")
    step.compute(diffuse, points="interior", label="interior")
    step.wait("halo")
    step.compute(diffuse, points="rim", label="rim")
    step.finish()
    return 1


def wide(step: Step, steps: int) -> int:
    """Exchange a halo of 2 k points, then take k steps; each but the last also computes a part of the halo."""
    steps = min(steps, step.dwarf.steps_per_round)
    step.exchange("halo")
    for number in range(1, steps + 1):
        step.compute(diffuse, points=REACH * (steps - number), label=f"step {number}")
        step.finish()
    return steps


# Bad examples. Both give the same bits, too, and are here to be measured beside the others.


def barrier(run: DiffusionRun, steps: int) -> int:
    """Wait for all ranks, then exchange and compute; an exchange waits for neighbours by itself."""
    run.comm.Barrier()
    return exchange(run, steps)


def objects(run: DiffusionRun, steps: int) -> int:
    """Exchange pickled Python objects instead of the memory of arrays, then compute."""
    run.exchange_objects()
    run.compute(diffuse)
    run.finish()
    return 1


STRATEGIES: dict[str, Callable[[Any, int], int]] = {
    "exchange": exchange,
    "overlap": overlap,
    "wide": wide,
    "barrier": barrier,
    "objects": objects,
}
NOT_SIMULATED = ("barrier", "objects")
"""Strategies that show what not to do; the simulator knows neither barriers nor pickles."""


@dataclass(frozen=True)
class Diffusion(GridDwarf):
    """A request for the dwarf; `on` ranks it runs, on a machine of the simulator it is simulated."""

    width: int | None = width_option("what the strategy needs")
    device: str = device_option()

    kind: ClassVar[str] = "diffusion"
    strategies: ClassVar = STRATEGIES
    not_simulated: ClassVar = NOT_SIMULATED
    host_only: ClassVar = ("objects",)
    plans: ClassVar = {"halo": "halo"}
    reach: ClassVar[int] = REACH

    def _problems(self) -> list[str]:
        self._choose(width=2 * REACH if self.strategy == "wide" else REACH)
        assert self.width is not None
        problems = []
        if self.width < REACH:
            problems.append(f"width {self.width}: the stencil needs a halo of {REACH} or more points")
        elif self.strategy == "wide" and self.width % REACH:
            problems.append(f"width {self.width}: with the strategy wide, a multiple of {REACH} is allowed")
        problems += self.exchange_problems("halo", width=max(self.width, 0), periodic="xy")
        return problems + (object_problems(self, self.width) if self.strategy == "objects" else [])

    @property
    def name(self) -> str:
        """A short label, for tables and plots."""
        return f"{super().name}, halo {self.width}"

    @property
    def steps_per_round(self) -> int:
        """Number of steps between two exchanges."""
        assert self.width is not None
        return self.width // REACH if self.strategy == "wide" else 1

    def pattern(self, name: str) -> _core.Halo:
        """The exchange."""
        assert self.width is not None
        return _core.Halo(self.layout, self.width, [True, True])

    def box(self, z: Array, y: Array, x: Array) -> Array:
        """1 on the middle half of each axis, else 0."""
        nx, ny, nz = self.grid

        def middle(index: Array, points: int) -> Array:
            return (points // 4 <= index) & (index < 3 * points // 4)

        return np.asarray(middle(z, nz) & middle(y, ny) & middle(x, nx), self.precision)

    def on(self, comm: MPI.Intracomm, initial: Initial | None = None, *, record: str = "totals") -> DiffusionRun:
        """The dwarf at its first step, on as many ranks as it was made for. Collective.

        `initial`: other values than the box. `record`: as of `tradewind.mpi.plan`; "events" for a time line. Raises
        InputError; PlanError.
        """
        return DiffusionRun(self, comm, initial or self.box, record)

    def reference_step(self, whole: Array) -> Array:
        """See the function of this name."""
        return reference_step(whole)


class DiffusionRun(FieldRunning):
    """The dwarf on MPI ranks, one of which this process is."""

    def exchange_objects(self) -> None:
        """Exchange the halo by pickled objects of mpi4py."""
        exchange_objects(self.comm, self.dwarf.split, self.dwarf.width, self.field)
        self._exchanges["halo"].count(self.field)  # it sends what the plan would


def reference_step(field: Array) -> Array:
    """A step of a whole field [z][y][x] in NumPy alone, the same bits as the compiled loop: the same operations."""

    def laplacian(f: Array) -> Array:
        left_right = np.roll(f, 1, axis=2) + np.roll(f, -1, axis=2)
        up_down = np.roll(f, 1, axis=1) + np.roll(f, -1, axis=1)
        return np.asarray(left_right + up_down - 4 * f)

    return np.asarray(field - ALPHA * laplacian(laplacian(field)))
