"""MPDATA, advection of tracers that stays positive, on the finite volumes of an octahedral or a flat mesh.

    dq/dt = -div(v q)

Smolarkiewicz's scheme: a pass of the upwind scheme, then one or more with velocities, or fluxes, that undo the error of
the one before. A node needs its neighbours, so that each pass needs values of other ranks: in the variant of Kuehnlein
& Smolarkiewicz 2017 (doi:10.1016/j.jcp.2016.12.054) first the divergence of the upwind fluxes, then the tracer. The
formulas stand in `src/kernel/mpdata.hpp`, the strategies below.

mpiexec -n 2 python -c "
from mpi4py import MPI
from tradewind.dwarfs.mpdata import Mpdata
run = Mpdata(ranks=2, grid='O24', strategy='renumbered').on(MPI.COMM_WORLD)
run.advance(64)
print(run.diagnose())"
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tradewind import _core
from tradewind.base.collective import go_on
from tradewind.base.errors import InputError, gathered
from tradewind.dwarfs.frame.advection import (
    DIAGNOSTICS,
    FLUXES,
    TRACERS,
    exact,
    outflow_rates,
    shear_option,
    step_option,
)
from tradewind.dwarfs.frame.dwarf import method_option
from tradewind.dwarfs.frame.norms import Norms, norms
from tradewind.dwarfs.frame.on_mesh import MeshDwarf, MeshRunning, check_fits, mesh_by_name
from tradewind.dwarfs.mpdata.program import program
from tradewind.dwarfs.mpdata.reference import ReferenceMpdata
from tradewind.layout.mesh_outline import require_memory
from tradewind.method.method import default_algorithm
from tradewind.workload.options import option

if TYPE_CHECKING:
    from mpi4py import MPI

    from tradewind.dwarfs.frame.running import Exchanges
    from tradewind.mpi.library import Array
    from tradewind.workload.program import Program

COURANT_LIMIT = 1.0
"""Share of a node's volume that may flow out of it in a step: beyond it the upwind scheme makes negative values."""
FORMS = ("gauge", "basic")
_MAX_PASSES = 8


# The time loop: of each stage the values of own nodes are computed, and those of the halo come from other ranks.


def exchange(run: MpdataRun, steps: int) -> int:
    """Compute, then exchange."""
    for stage in run.stages:
        stage.prepare()
        stage.compute(run.all_own)
        stage.exchange()
    run.turn()
    return 1


def overlap(run: MpdataRun, steps: int) -> int:
    """Compute what others wait for, send it, and compute the rest meanwhile."""
    for stage in run.stages:
        stage.prepare()
        stage.compute(run.rim)
        stage.start()
        stage.compute(run.interior)
        stage.wait()
    run.turn()
    return 1


def fused(run: MpdataRun, steps: int) -> int:
    """Take both passes of the interior in one sweep through memory, while the divergences of the rim travel."""
    divergence, tracer = run.stages
    divergence.compute(run.near_rim)
    divergence.start()
    run.sweep_interior()
    divergence.wait()
    tracer.compute(run.rim)
    tracer.exchange()
    run.turn()
    return 1


def plain(run: MpdataRun, steps: int) -> int:
    """Compute by loops as one writes them first, to be measured beside the others."""
    for stage in run.stages:
        stage.compute_plainly()
        stage.exchange()
    run.turn()
    return 1


def staged(run: MpdataRun, steps: int) -> int:
    """Copy whole fields to another memory, exchange there, and copy them back, as codes on GPUs do at first."""
    for stage in run.stages:
        stage.prepare()
        stage.compute(run.all_own)
        stage.exchange_staged()
    run.turn()
    return 1


# Three ways to name the rim and the interior: a mask over all nodes, two lists, or, renumbered, two runs of memory.
STRATEGIES: dict[str, Callable[[MpdataRun, int], int]] = {
    "exchange": exchange,
    "mask": overlap,
    "indirection": overlap,
    "renumbered": overlap,
    "fused": fused,
    "plain": plain,
    "staged": staged,
}
ORDERS = {"renumbered": "runs", "fused": "ids"}
"""Local order of nodes that a strategy needs; the others take that of the partition."""
TWO_PASSES = ("fused", "plain")
"""Strategies that know two passes with the infinite gauge, without a limiter."""


@dataclass(frozen=True)
class Mpdata(MeshDwarf):
    """A request for the dwarf; `on` ranks it runs, on a machine of the simulator it is simulated."""

    passes: int = option("Passes; the first is the upwind scheme.", 2, minimum=2, maximum=_MAX_PASSES, label="passes")
    form: str = option(
        "gauge, fluxes that correct, linear in the tracer (infinite gauge); or basic, velocities that keep its sign.",
        "gauge",
        known=lambda: FORMS,
        label="form of MPDATA",
    )
    limiter: bool = option("No new extremes (non-oscillatory).", False, label="limiter")
    tracer: str = option(f"What is advected: {', '.join(TRACERS)}.", "bell", known=lambda: TRACERS, label="tracer")
    alpha: float = option(
        "Angle between the rotation's axis and the poles, or of the wind on a flat mesh, in radians.",
        math.pi / 4,
        minimum=-math.pi,
        maximum=math.pi,
        shown="pi/4",
        swept=False,
    )
    fluxes: str = option(
        "Face fluxes: stream, differences of a stream function, or averaged, means of velocities.",
        "stream",
        known=lambda: FLUXES,
        label="face fluxes",
        swept=False,
    )
    shear: float = shear_option("flow")
    courant: float = option(
        "Largest share of a node's volume that flows out of it in a step.", 0.8, minimum=1e-6, maximum=COURANT_LIMIT
    )
    dt_s: float | None = step_option("30min", swept=False)
    host_bandwidth: float | None = option(
        "With --simulate and strategy staged: rate of copies to and from the host, like 12GB/s.",
        None,
        unit="B/s",
        minimum=1e6,
        maximum=1e15,
        shown="that of copies in its memory",
        label="bandwidth between device and host (B/s)",
    )
    divergence_method: str | None = method_option("divergence", "fetch")
    limits_method: str | None = method_option("limits", "fetch")

    kind: ClassVar[str] = "mpdata"
    strategies: ClassVar = STRATEGIES
    plans: ClassVar = {"tracer": "fetch", "divergence": "fetch", "limits": "fetch"}
    diagnostics: ClassVar = DIAGNOSTICS

    def _problems(self) -> list[str]:
        problems = self.rank_problems()
        if self.gauge and self.passes > 2:
            problems.append(f"passes {self.passes}: with the infinite gauge 2 are allowed; further ones change nothing")
        if self.strategy in TWO_PASSES and (self.passes > 2 or self.limiter or not self.gauge):
            problems.append(f"strategy {self.strategy}: two passes with the infinite gauge, no limiter, are allowed")
        return problems

    @property
    def name(self) -> str:
        return f"{super().name} {self.grid}x{self.levels}"

    def stage_names(self) -> list[str]:
        """Name what a step computes and exchanges, one after the other."""
        further = ["limits", "divergence"] if self.limiter else ["divergence"]
        last = ["limits", "tracer"] if self.limiter else ["tracer"]
        return ["divergence", *further * (self.passes - 2), *last]

    @property
    def gauge(self) -> bool:
        """Whether the gauge is infinite."""
        return self.form == "gauge"

    @property
    def level_speeds(self) -> Array:
        """Speed of the flow by level, as a share."""
        return 1 - self.shear * np.linspace(0, 1, self.levels)

    def on(self, comm: MPI.Intracomm, initial: Array | None = None, *, record: str = "totals") -> MpdataRun:
        """The dwarf at its first step, on as many ranks as it was made for. Collective.

        `initial`: values [node][level] of the whole mesh in place of the tracer. `record`: as of `tradewind.mpi.plan`.
        Raises InputError, also for a Courant number above 1; PlanError.
        """
        return MpdataRun(self, comm, initial, record)

    def program(self) -> Program:
        """The program of one time step."""
        return program(self, self.stage_names(), self.host_bandwidth)

    def simulation_problems(self) -> list[str]:
        """Return what `program` raises, of algorithms that so many ranks cannot have, without sharing a mesh out."""
        problems: list[str] = []
        with gathered(problems):
            require_memory(self.grid)
        if problems:
            return problems
        ids = np.arange(self.ranks)
        nobody = _core.fetch_of_ids(np.split(ids, self.ranks), [ids[:0]] * self.ranks)
        for name in dict.fromkeys(self.stage_names()):
            with gathered(problems):
                _core.make_schedule(nobody, self.method(name).algorithm or default_algorithm("fetch"))
        return problems

    @cached_property
    def _reference(self) -> ReferenceMpdata:
        mesh = mesh_by_name(self.grid)
        fluxes = FLUXES[self.fluxes](mesh, self.alpha)
        dt = self.time_step(float(outflow_rates(mesh.edges, fluxes, 1 / mesh.volume).max()))
        flux = (fluxes[:, None] * self.level_speeds).astype(self.precision)
        volume = (1 / mesh.volume).astype(self.precision)
        return ReferenceMpdata(mesh.edges, flux, volume, dt, self.passes, self.gauge, self.limiter)

    def reference_step(self, whole: Array) -> Array:
        """The whole field [node][level] a step later, in NumPy alone."""
        return self._reference.step(whole)

    def time_step(self, rate: float) -> float:
        """Seconds of a step; `rate`: the largest share of a node's volume that flows out per second."""
        return self.courant / rate if self.dt_s is None else self.dt_s


class Stage:
    """A part of a step: a loop over nodes, and the exchange of what it has computed."""

    def __init__(
        self,
        swap: Exchanges,
        loop: Callable[[_core.Nodes], None],
        target: Callable[[], Array],
        *,
        plain: Callable[[], None] | None = None,
        before: Callable[[], None] | None = None,
        staged: tuple[Array, Callable[[Array, Array], None]] | None = None,
    ) -> None:
        """`staged`: an array in another memory, and how the whole one is copied there or back (source, target)."""
        self._swap, self._loop, self._target, self._plain, self._before = swap, loop, target, plain, before
        self._staged = staged

    def prepare(self) -> None:
        """Compute what this stage needs of all nodes, own ones and the halo."""
        if self._before is not None:
            self._before()

    def compute(self, nodes: _core.Nodes) -> None:
        """Compute the values of own nodes."""
        self._loop(nodes)

    def compute_plainly(self) -> None:
        """Compute the values of all own nodes by the plain loops."""
        assert self._plain is not None
        self._plain()

    def exchange(self) -> None:
        self._swap(self._target())

    def exchange_staged(self) -> None:
        """Exchange the array in the other memory."""
        assert self._staged is not None
        there, copy = self._staged
        copy(self._target(), there)
        self._swap(there)
        copy(there, self._target())

    def start(self) -> None:
        self._swap.start(self._target())

    def wait(self) -> None:
        self._swap.wait(self._target())


class MpdataRun(MeshRunning):
    """The dwarf on MPI ranks, one of which this process is."""

    def __init__(self, dwarf: Mpdata, comm: MPI.Intracomm, initial: Array | None, record: str) -> None:
        super().__init__(dwarf, comm, record, order=ORDERS.get(dwarf.strategy or "", ""))
        self.dwarf, self.steps = dwarf, 0
        self.field, self._next = (self.columns(self.graph.all, plan="tracer") for _ in range(2))
        self._divergence = self.columns(self.graph.all, plan="divergence")
        self._make_flow()
        self._name_nodes()
        self.stages = self._stages()
        if initial is None:
            self.field[self.own] = self.exact()
        else:
            self.field[self.own] = initial[self.part.own]
        self._check_sign()
        self._flux_now, self._q_now = self.flux, self.field
        self._swap(self.field)

    def _make_flow(self) -> None:
        from tradewind.mpi.library import MPI

        dwarf = self.dwarf
        fluxes = FLUXES[dwarf.fluxes](self.mesh, dwarf.alpha)[self.part.edge_ids]
        rates = outflow_rates(self.part.edges, fluxes, 1 / self.volume)
        go_on(self.comm)
        self.dt = dwarf.time_step(self.comm.allreduce(float(rates.max(initial=0.0)), MPI.MAX))
        worst = np.argsort(rates)[-1:]
        check_fits(
            float(rates.max(initial=0.0)) * self.dt,
            COURANT_LIMIT * (1 + 1e-12),
            self.dt,
            self.part.own[worst],
            self.mesh,
        )
        go_on(self.comm)
        self.flux = np.ascontiguousarray((fluxes[:, None] * dwarf.level_speeds).astype(dwarf.precision))

    def _check_sign(self) -> None:
        minimum = float(self.field[self.own].min(initial=0.0))
        if minimum < 0 and not self.dwarf.gauge:
            raise InputError(f"the field has values down to {minimum:g}: the basic form is for 0 and more; use gauge")
        go_on(self.comm)

    def _name_nodes(self) -> None:
        """Rim and interior as the strategy names them."""
        count, rim = len(self.part.own), self.part.rim()
        self.all_own = _core.Nodes((0, count))
        if self.dwarf.strategy == "renumbered":
            self.interior, self.rim = _core.Nodes((0, count - len(rim))), _core.Nodes((count - len(rim), count))
        elif self.dwarf.strategy in ("indirection", "fused"):
            interior = np.setdiff1d(np.arange(count, dtype=np.int32), rim)
            self.interior, self.rim = _core.Nodes((0, len(interior)), interior), _core.Nodes((0, len(rim)), rim)
            near = self.part.near_rim()
            self.near_rim = _core.Nodes((0, len(near)), near)
        else:
            mask = np.zeros(count, np.uint8)
            mask[rim] = 1
            self.interior = _core.Nodes((0, count), None, mask, False)
            self.rim = _core.Nodes((0, count), None, mask, True)

    def _stages(self) -> list[Stage]:
        """The stages of a step, and the plans of their exchanges."""
        halo = self.halo
        there: dict[str, Array] = {}
        if self.dwarf.strategy == "staged":
            there = {
                name: self.columns(self.graph.all, *([2] if name == "limits" else []), plan=name)
                for name in self._names
            }

        def plan(name: str, *arrays: Array) -> Exchanges:
            return self.plan(name, halo, *arrays, *([there[name]] if there else []), axis=0)

        self._swap = plan("tracer", self.field, self._next)
        made = {"tracer": self._swap, "divergence": plan("divergence", self._divergence)}
        if self.dwarf.limiter:
            self._limits = self.columns(self.graph.all, 2, plan="limits")
            made["limits"] = plan("limits", self._limits)
        if self.dwarf.strategy == "plain":
            self._through = np.empty_like(self.flux)
        if self.dwarf.strategy == "fused":
            rows = self.graph.kept_rows * self.team.threads
            self._kept = np.zeros((rows, self.levels), self.dwarf.precision)
        self._between = [
            (np.empty_like(self.flux), self.columns(self.graph.all)) for _ in range(min(self.dwarf.passes - 2, 2))
        ]
        stages = []
        divergences = 0
        for name in self.dwarf.stage_names():
            staged = (there[name], self._stage) if there else None
            if name == "divergence":
                before = self._next_pass if divergences else None
                divergences += 1
                stages.append(
                    Stage(
                        made[name],
                        self._compute_divergence,
                        lambda: self._divergence,
                        before=before,
                        plain=self._divergence_plainly,
                        staged=staged,
                    )
                )
            elif name == "limits":
                stages.append(Stage(made[name], self._compute_limits, lambda: self._limits, staged=staged))
            else:
                loop, plainly = self._compute_tracer, self._tracer_plainly
                stages.append(Stage(made[name], loop, lambda: self._next, plain=plainly, staged=staged))
        return stages

    @property
    def _names(self) -> tuple[str, ...]:
        """The exchanges of this run."""
        return tuple(dict.fromkeys(self.dwarf.stage_names()))

    def _stage(self, source: Array, target: Array) -> None:
        """Copy a whole array between the two memories, once, whatever `work` says."""
        begin = perf_counter()
        np.copyto(target, source)
        end = perf_counter()
        self._seconds["staging"] += end - begin
        if self._events is not None:
            self._events.append(("staging", -1, -1, 0, begin, end))

    # The loops over nodes.

    def _compute_divergence(self, nodes: _core.Nodes) -> None:
        self.timed(_core.mpdata_divergence, self.graph, nodes, self._flux_now, self._q_now, self._divergence, self.team)

    def _compute_limits(self, nodes: _core.Nodes) -> None:
        arrays = self._flux_now, self._q_now, self._divergence, self._limits
        self.timed(_core.mpdata_limits, self.graph, nodes, *arrays, self.dt, self.dwarf.gauge, self.team)

    def _compute_tracer(self, nodes: _core.Nodes) -> None:
        arrays = self._flux_now, self._q_now, self._divergence, self._next
        limits = self._limits if self.dwarf.limiter else None
        self.timed(_core.mpdata_corrected, self.graph, nodes, *arrays, self.dt, self.dwarf.gauge, limits, self.team)

    def _next_pass(self) -> None:
        """Compute the face fluxes of the next pass and the tracer after this one."""
        flux, q = self._between[0]
        self._between.reverse()
        limits = self._limits if self.dwarf.limiter else None
        arrays = self._flux_now, self._q_now, self._divergence, flux, q
        self.timed(_core.mpdata_next_pass, self.graph, *arrays, self.dt, limits, self.team)
        self._flux_now, self._q_now = flux, q

    def _divergence_plainly(self) -> None:
        arrays = self.flux, self.field, None, self._through, self._divergence
        self.timed(_core.mpdata_plain, self.graph, *arrays, self.dt, self.team)

    def _tracer_plainly(self) -> None:
        arrays = self.flux, self.field, self._divergence, self._through, self._next
        self.timed(_core.mpdata_plain, self.graph, *arrays, self.dt, self.team)

    def sweep_interior(self) -> None:
        """Compute both passes of the interior in one sweep."""
        arrays = self.flux, self.field, self._kept, self._next
        self.timed(_core.mpdata_swept, self.graph, (0, self.graph.nodes), *arrays, self.dt, self.team)

    def turn(self) -> None:
        """Make the next values the present ones."""
        self.field, self._next = self._next, self.field
        self._flux_now, self._q_now = self.flux, self.field
        self.steps += 1

    # The state, and how good it is.

    @property
    def minimum_bytes(self) -> int:
        """See the base class: of what a step must read and write, half.

        Each face flux and each value of the tracer is read once, each new value written once.
        """
        return (self.flux.nbytes + 2 * self.field[self.own].nbytes) // 2

    def exact(self) -> Array:
        """The exact solution [node][level] at own nodes, now."""
        times = self.steps * self.dt * self.dwarf.level_speeds
        return exact(self.mesh, self.part.own, self.dwarf.tracer, self.dwarf.alpha, times)

    def diagnose(self) -> Norms:
        """Mass, extremes and errors of the whole field, the same bits on any ranks. Collective.

        Raises NotFiniteError on all ranks.
        """
        return norms(self.comm, self.field[self.own], self.exact(), self.volume, self.part.own, self.team)

    def gathered(self) -> Array | None:
        """The whole field [node][level] on rank 0. Collective."""
        return self.whole(self.field[self.own])

    def map(self) -> Array | None:
        """The middle level as a map, on rank 0. Collective."""
        return self.as_map(self.field[self.own][:, self.levels // 2])
