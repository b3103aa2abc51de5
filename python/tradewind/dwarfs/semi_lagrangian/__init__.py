"""Semi-Lagrangian advection of tracers, on a doubly periodic plane, a latitude-longitude or an octahedral grid.

    q(x, t + dt) = q(x_D, t)        x_D = x - dt/2 (V(x, t) + [2 V(t) - V(t - dt)](x_D))

Air that arrives at a grid point was at its departure point one step earlier (SETTLS: Hortal 2002,
doi:10.1002/qj.200212858314), where the tracers are interpolated. With a long step that point lies in the block of
another rank, as far away as the wind blows: the strategies below are ways to bring what is there. All give the same
bits.

mpiexec -n 2 python -c "
from mpi4py import MPI
from tradewind.dwarfs.semi_lagrangian import SemiLagrangian
run = SemiLagrangian(ranks=2, grid=(64, 64, 8), strategy='on-demand').on(MPI.COMM_WORLD)
run.advance(16)
print(run.diagnose())"
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from tradewind import _core
from tradewind.base.errors import gathered
from tradewind.dwarfs.frame.dwarf import copied
from tradewind.dwarfs.semi_lagrangian import demand
from tradewind.dwarfs.semi_lagrangian.options import LISTS, SemiLagrangianOptions
from tradewind.dwarfs.semi_lagrangian.reference import Reference
from tradewind.dwarfs.semi_lagrangian.reference_rows import RowReference
from tradewind.dwarfs.semi_lagrangian.run import (
    NEW_WINDS,
    SemiLagrangianRun,
    extrapolate,
    interpolate,
    list_columns,
    trace_all,
    trace_fetched,
    trace_local,
)
from tradewind.method.method import Method, default_algorithm
from tradewind.workload.program import Compute, Exchanged

if TYPE_CHECKING:
    from mpi4py import MPI

    from tradewind.dwarfs.frame.step import Call, Step
    from tradewind.dwarfs.semi_lagrangian.flows import Wind
    from tradewind.mpi.library import Array


# The time loop: winds, trajectories, and the interpolation of all tracers at their ends.


def wide(step: Step, steps: int) -> int:
    """Exchange a halo as wide as the air may come from, of the winds, then of the tracers."""
    _trace(step)
    step.exchange("tracers")
    return _end(step)


def overlap(step: Step, steps: int) -> int:
    """The same; the tracers travel while trajectories are computed."""
    step.start("tracers")
    _trace(step)
    step.wait("tracers")
    return _end(step)


def _trace(step: Step) -> None:
    step.compute(extrapolate, points=NEW_WINDS)
    step.exchange("winds")
    step.compute(trace_all, label="trajectories")


def on_demand(step: Step, steps: int) -> int:
    """Find out where the air comes from, then fetch what is there: winds for each iteration, then the tracers."""
    iterations = step.dwarf.iterations
    step.compute(extrapolate, points=NEW_WINDS)
    step.compute(trace_local, label="first guess")
    for done in range(iterations):
        _fetch(step, "winds", "linear", done)
        step.compute(trace_fetched, done, label=f"iteration {done + 1}")
    _fetch(step, "tracers", step.dwarf.stencil, iterations)
    return _end(step)


def _fetch(step: Step, name: str, reach: str, done: int) -> None:
    """Fetch the columns that the stencils of departure points with `done` iterations need."""
    step.compute(list_columns, name, reach, done, label=f"lists {done + 1}")
    step.exchange(name + LISTS, done)
    step.exchange(name, done)


def _end(step: Step) -> int:
    step.compute(interpolate, label="interpolation")
    step.finish()
    return 1


STRATEGIES: dict[str, Callable[[Step, int], int]] = {
    "wide": wide,
    "overlap": overlap,
    "on-demand": on_demand,
}


@dataclass(frozen=True)
class SemiLagrangian(SemiLagrangianOptions):
    """A request for the dwarf; `on` ranks it runs, on a machine of the simulator it is simulated."""

    kind: ClassVar[str] = "semi_lagrangian"
    strategies: ClassVar = STRATEGIES

    def on(
        self, comm: MPI.Intracomm, initial: Array | None = None, *, wind: Wind | None = None, record: str = "totals"
    ) -> SemiLagrangianRun:
        """The dwarf at its first step, on as many ranks as it was made for. Collective.

        `initial`: values [tracer, z][y][x] of the whole grid in place of the tracers'; `wind`: another one than that of
        the flow. `record`: as of `tradewind.mpi.plan`. Raises InputError; PlanError.
        """
        return SemiLagrangianRun(self, comm, initial, wind or self.flow_wind, record)

    # Its program. What is fetched on demand follows from the winds of the first step.

    def exchange_name(self, name: str, of: Any) -> str:
        """Return the name in programs of an exchange; on demand `of` is the number of iterations before it."""
        return f"{name} {of}" if self.strategy == "on-demand" else name

    def method(self, plan: str) -> Method:
        """Return the method of an exchange: that of its plan, in each iteration; lists are sent directly."""
        name, *_ = plan.partition(" ")
        return Method("direct") if name.endswith(LISTS) else super().method(name)

    def pattern(self, name: str) -> _core.Pattern:
        """Return the pattern of an exchange of programs, over all ranks."""
        kind, _, number = name.partition(" ")
        fields = {"winds": self.components, "tracers": self.tracers}
        if not number:
            return demand.halo(self, fields[kind])
        if kind.endswith(LISTS):
            return demand.sent_lists(self, int(number))
        return demand.fetched_columns(self, int(number), fields[kind])

    def exchanged(self, name: str) -> Exchanged | _core.Schedule:
        """Return the schedule of an exchange, which the strategy overlap starts and awaits."""
        schedule = super().exchanged(name)
        return Exchanged(name, schedule, dtype=self.precision) if self.strategy == "overlap" else schedule

    def computation(self, label: str, calls: Sequence[Call], during: _core.Schedule | None = None) -> Compute:
        """Return the computation of one call of a loop, on the columns of each rank."""
        (call,) = calls  # each has its label
        flops, moved = call.cost(self)
        done, point_s = 0.0 if self.point_s else flops, call.point_s(self)
        layout = self.layout_of(1) if self.in_blocks else None
        points = None if self.in_blocks else [float(self.grid[2] * n) for n in self.columns_of_ranks]
        return Compute(label, 0.0, done, copied(moved), layout, during, 1, point_s, points, kernel=call.name(self))

    def simulation_problems(self) -> list[str]:
        """Return what `program` raises, of algorithms that the ranks cannot have, without listing columns."""
        if self.strategy != "on-demand" and not self.fetches:
            return super().simulation_problems()
        problems = self.device_problems()
        empty = _core.fetch_of_messages([1] * self.ranks, [])
        for name in self.plans:
            with gathered(problems):
                _core.make_schedule(empty, self.method(name).algorithm or default_algorithm("fetch"))
        return problems

    def reference_step(self, whole: Array) -> Array:
        """The first step."""
        return self.reference(whole, 1)

    def reference(self, whole: Array, steps: int) -> Array:
        """The whole state some steps after the start, in NumPy alone."""
        reference = Reference(self) if self.in_blocks else RowReference(self)
        for number in range(steps):
            whole = reference.step(whole, number * self.dt)
        return whole
