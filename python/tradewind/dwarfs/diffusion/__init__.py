"""Fourth-order diffusion, the stencil of the course High Performance Computing for Weather and Climate (HPC4WC).

    out = in - 1/32 lap(lap(in))

lap is the five-point Laplacian in x and y, on a grid that is periodic in both; levels do not know each other. At first
the field is 1 in a box on the middle half of each axis, else 0. 1/32 is the largest factor that is stable: the
checkerboard changes its sign every step. A rank owns a block of columns, and its halo must be up to date before points
near its edge are computed. The strategies below are the ways to see to that; all give the same bits.

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
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.dwarfs.diffusion.objects import exchange_objects, object_problems
from tradewind.dwarfs.frame.diagnosis import Slices
from tradewind.dwarfs.frame.on_grid import GridDwarf, GridRunning, width_option
from tradewind.method.method import default_algorithm
from tradewind.workload.program import Program

if TYPE_CHECKING:
    from mpi4py import MPI

    from tradewind.mpi.library import Array

ALPHA = 1 / 32
REACH = 2
"""Reach of the stencil: a step needs the halo two points wide."""
FLOPS = 12
"""Per point and step: five for each Laplacian, two for the update."""

Initial = Callable[["Array", "Array", "Array"], "Array"]
"""(z, y, x) -> values, of global indices that NumPy broadcasts to [z][y][x]."""


# The time loop. Each strategy advances by one exchange and the steps that it is good for, and returns how many.


def exchange(run: DiffusionRun, steps: int) -> int:
    """Exchange the halo, then compute."""
    run.exchange()
    run.compute(run.own)
    run.swap_fields()
    return 1


def overlap(run: DiffusionRun, steps: int) -> int:
    """Start the exchange, compute what needs no halo, wait, compute the rest."""
    run.start()
    run.compute(run.interior)
    run.wait()
    for strip in run.rim:
        run.compute(strip)
    run.swap_fields()
    return 1


def wide(run: DiffusionRun, steps: int) -> int:
    """Exchange a halo of 2 k points, then take k steps; each but the last also computes a part of the halo."""
    steps = min(steps, run.dwarf.steps_per_round)
    run.exchange()
    for still_to_come in reversed(range(steps)):
        run.compute(run.halo.widened(run.rank, REACH * still_to_come))
        run.swap_fields()
    return steps


# Bad examples. Both give the same bits, too, and are here to be measured beside the others.


def barrier(run: DiffusionRun, steps: int) -> int:
    """Wait for all ranks, then exchange and compute; an exchange waits for neighbours by itself."""
    run.comm.Barrier()
    return exchange(run, steps)


def objects(run: DiffusionRun, steps: int) -> int:
    """Exchange pickled Python objects instead of the memory of arrays, then compute."""
    run.exchange_objects()
    run.compute(run.own)
    run.swap_fields()
    return 1


STRATEGIES: dict[str, Callable[[DiffusionRun, int], int]] = {
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

    kind: ClassVar[str] = "diffusion"
    strategies: ClassVar = STRATEGIES
    not_simulated: ClassVar = NOT_SIMULATED
    plans: ClassVar = {"halo": "halo"}

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
        return f"{super().name}, halo {self.width}"

    @property
    def steps_per_round(self) -> int:
        assert self.width is not None
        return self.width // REACH if self.strategy == "wide" else 1

    def halo(self) -> _core.Halo:
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

    def program(self) -> Program:
        """The program of `steps_per_round` steps. Raises InputError for the strategies of `NOT_SIMULATED`."""
        if self.strategy in NOT_SIMULATED:
            raise InputError(f"strategy {self.strategy}: the simulator does not know what it adds; simulate exchange")
        halo, name = self.halo(), f"diffusion, {self.strategy}"
        swap = _core.make_schedule(halo, self.algorithm or default_algorithm(halo.name))
        if self.strategy == "overlap":
            interior = self.computation("interior", halo.interior(0, REACH), flops=FLOPS, during=swap)
            rim = self.computation("rim", *halo.rim(0, REACH), flops=FLOPS)
            return Program(interior, rim, dtype=self.precision, name=name)
        boxes = [halo.widened(0, REACH * left) for left in reversed(range(self.steps_per_round))]
        steps = [self.computation(f"step {i + 1}", box, flops=FLOPS) for i, box in enumerate(boxes)]
        return Program(swap, *steps, dtype=self.precision, name=name)

    def reference_step(self, whole: Array) -> Array:
        """See the function of this name."""
        return reference_step(whole)


class DiffusionRun(GridRunning):
    """The dwarf on MPI ranks, one of which this process is."""

    def __init__(self, dwarf: Diffusion, comm: MPI.Intracomm, initial: Initial, record: str) -> None:
        super().__init__(dwarf, comm, record)
        self.dwarf, self.halo = dwarf, dwarf.halo()
        self.own: Slices = self.halo.widened(self.rank)
        self.interior: Slices = self.halo.interior(self.rank, REACH)
        self.rim: list[Slices] = self.halo.rim(self.rank, REACH)
        # A step reads one array and writes the other.
        self.field, self._next = self.array(self.halo), self.array(self.halo)
        self._swap = self.plan("halo", self.halo, self.field, self._next)
        self.field[self.own] = initial(*self.indices())

    def exchange(self) -> None:
        self._swap(self.field)

    def start(self) -> None:
        self._swap.start(self.field)

    def wait(self) -> None:
        self._swap.wait(self.field)

    def exchange_objects(self) -> None:
        assert self.dwarf.split is not None
        exchange_objects(self.comm, self.dwarf.split, self.halo.width, self.field)
        self._swap.count(self.field)  # it sends what the plan would

    def compute(self, region: Slices) -> None:
        """The next values of the points of a region."""
        self.timed(_core.diffuse, self.field, self._next, region, ALPHA, self.team)

    def swap_fields(self) -> None:
        """Make the next values the present ones."""
        self.field, self._next = self._next, self.field


def reference_step(field: Array) -> Array:
    """A step of a whole field [z][y][x] in NumPy alone, the same bits as the compiled loop: the same operations."""

    def laplacian(f: Array) -> Array:
        left_right = np.roll(f, 1, axis=2) + np.roll(f, -1, axis=2)
        up_down = np.roll(f, 1, axis=1) + np.roll(f, -1, axis=1)
        return np.asarray(left_right + up_down - 4 * f)

    return np.asarray(field - ALPHA * laplacian(laplacian(field)))
