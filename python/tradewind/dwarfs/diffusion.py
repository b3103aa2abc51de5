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

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tradewind import _core
from tradewind.base.errors import InputError, gathered
from tradewind.dwarfs.diagnosis import Diagnosis, Slices, diagnose
from tradewind.dwarfs.dwarf import Dwarf
from tradewind.dwarfs.gather import gather
from tradewind.dwarfs.objects import exchange_objects
from tradewind.method.method import default_algorithm
from tradewind.workload.exchange import Exchange
from tradewind.workload.program import Compute, Program

if TYPE_CHECKING:
    from mpi4py import MPI

    from tradewind.mpi.library import Array, Plan
    from tradewind.trace.measured import Event

ALPHA = 1 / 32
REACH = 2
"""Of the stencil: a step needs the halo two points wide."""
FLOPS = 12
"""A point and step: five for each Laplacian, two for the update."""

Initial = Callable[["Array", "Array", "Array"], "Array"]
"""(z, y, x) -> values, of global indices that NumPy broadcasts to [z][y][x]."""


# The time loop. Each strategy advances by one exchange and the steps that it is good for, and answers how many.


def exchange(run: DiffusionRun, steps: int) -> int:
    """Exchange the halo, then compute."""
    run.exchange()
    run.compute(run.own)
    run.turn()
    return 1


def overlap(run: DiffusionRun, steps: int) -> int:
    """Start the exchange, compute what needs no halo, wait, compute the rest."""
    run.start()
    run.compute(run.interior)
    run.wait()
    for strip in run.rim:
        run.compute(strip)
    run.turn()
    return 1


def wide(run: DiffusionRun, steps: int) -> int:
    """Exchange a halo of 2 k points, then take k steps; each but the last also computes a part of the halo."""
    steps = min(steps, run.dwarf.steps_a_round)
    run.exchange()
    for still_to_come in reversed(range(steps)):
        run.compute(run.halo.widened(run.rank, REACH * still_to_come))
        run.turn()
    return steps


# What not to do. Both give the same bits, too, and are here to be measured beside the others.


def barrier(run: DiffusionRun, steps: int) -> int:
    """Wait for all ranks, then exchange and compute; an exchange waits for neighbours by itself."""
    run.comm.Barrier()
    return exchange(run, steps)


def objects(run: DiffusionRun, steps: int) -> int:
    """Exchange pickled Python objects instead of the memory of arrays, then compute."""
    run.exchange_objects()
    run.compute(run.own)
    run.turn()
    return 1


STRATEGIES: dict[str, Callable[[DiffusionRun, int], int]] = {
    "exchange": exchange,
    "overlap": overlap,
    "wide": wide,
    "barrier": barrier,
    "objects": objects,
}
TEACHING = ("barrier", "objects")
"""Strategies that show what not to do; the simulator knows neither barriers nor pickles."""


@dataclass(frozen=True)
class Diffusion(Dwarf):
    """A request for the dwarf; `on` ranks it runs, on a machine of the simulator it is simulated."""

    name: ClassVar[str] = "diffusion"
    strategies: ClassVar[Mapping[str, object]] = STRATEGIES

    def _problems(self) -> list[str]:
        self._choose(strategy="exchange")
        self._choose(width=2 * REACH if self.strategy == "wide" else REACH)
        assert self.width is not None
        problems: list[str] = []
        if self.width < REACH:
            problems.append(f"width {self.width}: the stencil needs a halo of {REACH} or more points")
        elif self.strategy == "wide" and self.width % REACH:
            problems.append(f"width {self.width}: with the strategy wide, a multiple of {REACH} is allowed")
        with gathered(problems):
            halo = Exchange(
                "halo",
                self.ranks,
                self.grid,
                self.split,
                algorithm=self.algorithm,
                width=max(self.width, 0),
                periodic="xy",
            )
            self._choose(split=halo.split)
            if self.strategy == "objects":
                problems += self._objects_problems()
            if refusal := self._transport_refusal(halo):
                problems.append(refusal)
        return problems

    def _transport_refusal(self, halo: Exchange) -> str:
        known = {entry.name: entry for entry in _core.transports()}
        if self.transport not in known:
            return ""
        packing = self.packing or known[self.transport].packings[0]
        return _core.transport_refusal(halo.schedules()["halo"], self.transport, packing)

    def _objects_problems(self) -> list[str]:
        """These go between neighbours only, without a plan."""
        assert self.split is not None
        assert self.width is not None
        problems = [
            f"{name} {getattr(self, name)!r}: the strategy objects has no plan; leave it out"
            for name in ("algorithm", "transport", "packing")
            if getattr(self, name) is not None
        ]
        least = min(points // parts for points, parts in zip(self.grid, self.split, strict=False))
        if self.width > least:
            problems.append(
                f"width {self.width}: with the strategy objects, up to {least}, the smallest part, is allowed"
            )
        return problems

    def reference_step(self, field: Array) -> Array:
        """See the function of this name."""
        return reference_step(field)

    @property
    def steps_a_round(self) -> int:
        assert self.width is not None
        return self.width // REACH if self.strategy == "wide" else 1

    def halo(self) -> _core.Halo:
        assert self.width is not None
        assert self.split is not None
        return _core.Halo(_core.Blocks(_core.Grid(*self.grid), self.split), self.width, [True, True])

    def on(self, comm: MPI.Intracomm, initial: Initial | None = None, *, record: str = "totals") -> DiffusionRun:
        """At its first step, on as many ranks as it was made for. Collective. `initial`: other values than the box.

        `record`: as of `tradewind.mpi.plan`; "events" for a time line. Raises InputError; PlanError.
        """
        return DiffusionRun(self, comm, initial or self.box, record)

    def box(self, z: Array, y: Array, x: Array) -> Array:
        """1 on the middle half of each axis, else 0."""
        nx, ny, nz = self.grid

        def middle(index: Array, points: int) -> Array:
            return (points // 4 <= index) & (index < 3 * points // 4)

        return np.asarray(middle(z, nz) & middle(y, ny) & middle(x, nx), self.precision)

    def program(self) -> Program:
        """What `steps_a_round` steps are to the simulator. Points are counted on rank 0, which has a largest part.

        Raises InputError for the strategies of `TEACHING`.
        """
        if self.strategy in TEACHING:
            raise InputError(f"strategy {self.strategy}: the simulator does not know what it adds; simulate exchange")
        halo = self.halo()
        swap = _core.make_schedule(halo, self.algorithm or default_algorithm(halo.name))

        def compute(name: str, *boxes: Slices, during: _core.Schedule | None = None) -> Compute:
            points = self.work * sum(_points(box) for box in boxes)
            share, seconds = points / _points(halo.widened(0)), points * self.point_s
            flops, moved = 0.0 if self.point_s else FLOPS * share, 2 * self.element_bytes * share
            return Compute(name, seconds, flops, moved, halo.layout, during)

        name = f"diffusion, {self.strategy}"
        if self.strategy == "overlap":
            interior = compute("interior", halo.interior(0, REACH), during=swap)
            return Program(interior, compute("rim", *halo.rim(0, REACH)), dtype=self.precision, name=name)
        boxes = [halo.widened(0, REACH * left) for left in reversed(range(self.steps_a_round))]
        steps = [compute(f"step {i + 1}", box) for i, box in enumerate(boxes)]
        return Program(swap, *steps, dtype=self.precision, name=name)


def _points(box: Slices) -> int:
    z, y, x = box
    return int((z.stop - z.start) * (y.stop - y.start) * (x.stop - x.start))


class DiffusionRun:
    """The dwarf on MPI ranks, one of which this process is (see `tradewind.dwarfs.dwarf.Running`).

    `field`, [z][y][x] with the halo around, holds this rank's part.
    """

    def __init__(self, dwarf: Diffusion, comm: MPI.Intracomm, initial: Initial, record: str) -> None:
        from tradewind import mpi

        self.dwarf, self.comm, self.rank = dwarf, comm, comm.Get_rank()
        self.halo = dwarf.halo()
        self.own: Slices = self.halo.widened(self.rank)
        self.interior: Slices = self.halo.interior(self.rank, REACH)
        self.rim: list[Slices] = self.halo.rim(self.rank, REACH)
        self.team = _core.Team(dwarf.threads)
        self.exchanges = 0
        self._compute_s = 0.0
        self._computed: list[Event] | None = [] if record == "events" else None
        # A step reads one array and writes the other.
        self.field, self._next = dwarf.empty(self.halo, comm), dwarf.empty(self.halo, comm)
        self._swap, self._next_swap = (
            mpi.plan(self.halo, comm, array, record=record, **dwarf.plan_options())
            for array in (self.field, self._next)
        )
        self.field[self.own] = initial(*self._indices())

    def _indices(self) -> list[Array]:
        (x0, y0, z0), (x1, y1, z1) = self.halo.layout.box(self.rank)
        return list(np.meshgrid(np.arange(z0, z1), np.arange(y0, y1), np.arange(x0, x1), indexing="ij", sparse=True))

    # What the strategies are made of.

    def exchange(self) -> None:
        self._swap()
        self.exchanges += 1

    def start(self) -> None:
        self._swap.start()
        self.exchanges += 1

    def wait(self) -> None:
        self._swap.wait()

    def exchange_objects(self) -> None:
        assert self.dwarf.split is not None
        exchange_objects(self.comm, self.dwarf.split, self.halo.width, self.field)
        self.exchanges += 1

    def compute(self, region: Slices) -> None:
        """The next values of the points of a region, as often as the dwarf's `work` says."""
        begin = perf_counter()
        for _ in range(self.dwarf.work):
            _core.diffuse(self.field, self._next, region, ALPHA, self.team)
        end = perf_counter()
        self._compute_s += end - begin
        if self._computed is not None:
            self._computed.append(("compute", -1, -1, 0, begin, end))

    def turn(self) -> None:
        """The next values are the present ones."""
        self.field, self._next = self._next, self.field
        self._swap, self._next_swap = self._next_swap, self._swap

    # What is asked of every dwarf that runs.

    def advance(self, steps: int) -> None:
        """Collective."""
        assert self.dwarf.strategy is not None
        strategy = STRATEGIES[self.dwarf.strategy]
        while steps > 0:
            steps -= strategy(self, steps)

    def reset(self) -> None:
        """Begins to count seconds and exchanges. Collective: before, each plan exchanges once, which costs more."""
        for plan in (self._swap, self._next_swap):
            plan()
            plan.clear()
        self.exchanges = 0
        self._compute_s = 0.0
        if self._computed is not None:
            self._computed.clear()

    def events(self) -> list[Event]:
        """What this rank did since `reset`; nothing unless it was made to record "events"."""
        return [] if self._computed is None else [*self._computed, *self._swap.events, *self._next_swap.events]

    def seconds(self) -> dict[str, float]:
        """By part of the time loop, of this rank, since `reset`: computing, and what plans do."""
        one, other = self._swap.seconds, self._next_swap.seconds
        return {"compute": self._compute_s, **{part: one[part] + other[part] for part in one}}

    @property
    def plan(self) -> Plan:
        """One of those that carry out the exchange."""
        return self._swap

    @property
    def messages(self) -> int:
        """Sent by this rank since `reset`."""
        return self.exchanges * self._swap.messages

    @property
    def bytes_sent(self) -> int:
        """By this rank since `reset`."""
        return self.exchanges * self._swap.bytes_sent

    @property
    def least_bytes(self) -> int:
        """What a memory copy must move on this rank to amount to one step: each value read once and written once."""
        return _points(self.own) * self.dwarf.element_bytes

    def diagnose(self) -> Diagnosis:
        """Of the whole field. Collective. Raises NotFiniteError on all ranks."""
        (x, y, z), _ = self.halo.layout.box(self.rank)
        return diagnose(self.comm, self.field, self.own, (z, y, x), self.team)

    def gathered(self, levels: slice = slice(None)) -> Array | None:
        """Some levels of the whole field, [z][y][x], on rank 0. Collective."""
        return gather(self.comm, self.halo.layout, self.field[self.own][levels])


def reference_step(field: Array) -> Array:
    """A step of a whole field [z][y][x] in NumPy alone, the same bits as the compiled loop: the same operations."""

    def laplacian(f: Array) -> Array:
        left_right = np.roll(f, 1, axis=2) + np.roll(f, -1, axis=2)
        up_down = np.roll(f, 1, axis=1) + np.roll(f, -1, axis=1)
        return np.asarray(left_right + up_down - 4 * f)

    return np.asarray(field - ALPHA * laplacian(laplacian(field)))
