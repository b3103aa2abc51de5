"""MPDATA, advection of tracers that stays positive, on the finite volumes of an octahedral or a flat mesh.

    dq/dt = -div(v q)

Smolarkiewicz's scheme: a pass of the upwind scheme, then one or more with velocities, or fluxes, that undo the error of
the one before. A node needs its neighbours, so that each pass needs values of other ranks: in the variant of Kuehnlein
& Smolarkiewicz 2017 (doi:10.1016/j.jcp.2016.12.054) first the divergence of the upwind fluxes, then the tracer. The
formulas stand in `src/kernel/mpdata/mpdata.hpp`, the strategies below.

mpiexec -n 2 python -c "
from mpi4py import MPI
from tradewind.dwarfs.mpdata import Mpdata
run = Mpdata(ranks=2, grid='O24', strategy='renumbered').on(MPI.COMM_WORLD)
run.advance(64)
print(run.diagnose())"
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tradewind import _core
from tradewind.base.collective import proceed
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
from tradewind.dwarfs.frame.step import kernel
from tradewind.dwarfs.mpdata.reference import ReferenceMpdata
from tradewind.layout.mesh_outline import require_memory
from tradewind.method.method import default_algorithm
from tradewind.workload.options import option
from tradewind.workload.program import Compute

if TYPE_CHECKING:
    from mpi4py import MPI

    from tradewind.dwarfs.frame.step import Call, Step
    from tradewind.mpi.library import Array

COURANT_LIMIT = 1.0
"""Share of a node's volume that may flow out of it in a step: beyond it the upwind scheme makes negative values."""
FORMS = ("gauge", "basic")
STAGED = "in the other memory"
"""Name of the array of a stage that the strategy staged exchanges."""
_MAX_PASSES = 8


# The loops over nodes. Costs are per node and level, for six neighbours: values are fluxes, fields in and fields out.

FACES = 3
"""Faces per node, nearly: a node has six, each of which it shares. It computes all of them, but a sweep each once."""
_divergence, _tracer = kernel(43, FACES + 2), kernel(77, FACES + 3)


@_divergence
def divergence(run: MpdataRun, nodes: _core.Nodes) -> None:
    """Compute the divergence of the upwind fluxes at nodes."""
    _core.mpdata_divergence(run.graph, nodes, run.flux_now, run.q_now, run.divergence, run.team)


@kernel(126, FACES + 4)
def limits(run: MpdataRun, nodes: _core.Nodes) -> None:
    """Compute the limits of the corrective fluxes at nodes."""
    assert run.limits is not None
    arrays = run.flux_now, run.q_now, run.divergence, run.limits
    _core.mpdata_limits(run.graph, nodes, *arrays, run.dt, run.dwarf.gauge, run.team)


@_tracer
def tracer(run: MpdataRun, nodes: _core.Nodes) -> None:
    """Compute the new tracer at nodes, with corrective fluxes."""
    arrays = run.flux_now, run.q_now, run.divergence, run.next
    _core.mpdata_corrected(run.graph, nodes, *arrays, run.dt, run.dwarf.gauge, run.limits, run.team)


@kernel(57, FACES + 2)
def sweep(run: MpdataRun, nodes: _core.Nodes) -> None:
    """Compute both passes of the interior in one sweep."""
    _core.mpdata_swept(run.graph, (0, run.graph.nodes), run.flux, run.field, run.kept, run.next, run.dt, run.team)


@kernel(None)
def next_pass(run: MpdataRun, nodes: None) -> None:
    """Compute the face fluxes of the next pass and the tracer after this one, of own nodes and the halo."""
    arrays = run.flux_now, run.q_now, run.divergence, *run.next_arrays()
    _core.mpdata_next_pass(run.graph, *arrays, run.dt, run.limits, run.team)


@kernel(None, part="")
def begin_pass(run: MpdataRun, nodes: None) -> None:
    """Take what `next_pass` has computed."""
    run.flux_now, run.q_now = run.next_arrays()


@_divergence
def plain_divergence(run: MpdataRun, nodes: _core.Nodes) -> None:
    """Compute the divergence of the upwind fluxes edge by edge, as plain code does."""
    _core.mpdata_plain(run.graph, run.flux, run.field, None, run.through, run.divergence, run.dt, run.team)


@_tracer
def plain_tracer(run: MpdataRun, nodes: _core.Nodes) -> None:
    """Compute the new tracer edge by edge, as plain code does."""
    _core.mpdata_plain(run.graph, run.flux, run.field, run.divergence, run.through, run.next, run.dt, run.team)


@kernel(0, 2, part="staging", once=True)
def copy_to_host(run: MpdataRun, nodes: None, stage: str) -> None:
    """Copy what a stage sends from the device to its copy in the host's memory."""
    np.copyto(run.array_of(stage, STAGED), run.array_of(stage, stage))


@kernel(0, 2, part="staging", once=True)
def copy_from_host(run: MpdataRun, nodes: None, stage: str) -> None:
    """Copy what a stage has received from the host's memory to the device."""
    np.copyto(run.array_of(stage, stage), run.array_of(stage, STAGED))


LOOPS = {"divergence": divergence, "limits": limits, "tracer": tracer}
PLAIN = {"divergence": plain_divergence, "tracer": plain_tracer}


# The time loop: of each stage the values of own nodes are computed, and those of the halo come from other ranks.


def _stages(step: Step) -> Iterator[tuple[str, str]]:
    """Stages and their labels, one after another; before a further pass that needs it, what all nodes have of it."""
    for number, stage in enumerate(step.dwarf.stage_names(), 1):
        if number > 1 and stage == "divergence":
            step.compute(next_pass, points="all")
            step.compute(begin_pass, points="all")
        yield stage, f"{number} {stage}"


def exchange(step: Step, steps: int) -> int:
    """Compute, then exchange."""
    for stage, label in _stages(step):
        step.compute(LOOPS[stage], label=label)
        step.exchange(stage, stage)
    step.finish()
    return 1


def overlap(step: Step, steps: int) -> int:
    """Compute what others wait for, send it, and compute the rest meanwhile."""
    for stage, label in _stages(step):
        step.compute(LOOPS[stage], points="rim", label=f"{label} of the rim")
        step.start(stage, stage)
        step.compute(LOOPS[stage], points="interior", label=label)
        step.wait(stage)
    step.finish()
    return 1


def fused(step: Step, steps: int) -> int:
    """Take both passes of the interior in one sweep through memory, while the divergences of the rim travel."""
    step.compute(divergence, points="near rim", label="divergence near the rim")
    step.start("divergence", "divergence")
    step.compute(sweep, points="interior", label="interior")
    step.wait("divergence")
    step.compute(tracer, points="rim", label="tracer of the rim")
    step.exchange("tracer", "tracer")
    step.finish()
    return 1


def plain(step: Step, steps: int) -> int:
    """Compute by loops as one writes them first, to be measured beside the others."""
    for stage, label in _stages(step):
        step.compute(PLAIN[stage], label=label)
        step.exchange(stage, stage)
    step.finish()
    return 1


def staged(step: Step, steps: int) -> int:
    """Copy whole fields to another memory, exchange there, and copy them back, as codes on GPUs do at first."""
    for stage, label in _stages(step):
        step.compute(LOOPS[stage], label=label)
        step.compute(copy_to_host, stage, points="all", label=f"{label} to the host")
        step.exchange(stage, STAGED)
        step.compute(copy_from_host, stage, points="all", label=f"{label} from the host")
    step.finish()
    return 1


# Three ways to name the rim and the interior: a mask over all nodes, two lists, or, renumbered, two runs of memory.
STRATEGIES: dict[str, Callable[[Step, int], int]] = {
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
        """A short label, for tables and plots."""
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

    def pattern(self, name: str) -> _core.Fetch:
        """The exchange of all levels of a stage."""
        return self.halo().with_levels((self.levels, _width(name)))

    def computation(self, label: str, calls: Sequence[Call], during: _core.Schedule | None = None) -> Compute:
        """See the base class. Copies to the host or back go at the rate of that way, or through the node's memory."""
        (call,) = calls
        if call.kernel not in (copy_to_host, copy_from_host):
            return super().computation(label, calls, during)
        points = [float(_width(call.arguments[0]) * self.levels * n) for n in self.counts(call.points)]
        if self.host_bandwidth is None:
            return Compute(label, bytes=float(self.element_bytes), points=points)
        return Compute(label, point_s=self.element_bytes / self.host_bandwidth, points=points)

    def simulation_problems(self) -> list[str]:
        """Return what `program` raises, of algorithms that the ranks cannot have, without dividing a mesh."""
        problems: list[str] = []
        with gathered(problems):
            require_memory(self.grid)
        if problems:
            return problems
        ids = np.arange(self.ranks)
        empty = _core.fetch_of_ids(np.split(ids, self.ranks), [ids[:0]] * self.ranks)
        for name in dict.fromkeys(self.stage_names()):
            with gathered(problems):
                _core.make_schedule(empty, self.method(name).algorithm or default_algorithm("fetch"))
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


def _width(stage: str) -> int:
    """Values per node and level of a stage."""
    return 2 if stage == "limits" else 1


class MpdataRun(MeshRunning):
    """The dwarf on MPI ranks, one of which this process is."""

    dwarf: Mpdata

    def __init__(self, dwarf: Mpdata, comm: MPI.Intracomm, initial: Array | None, record: str) -> None:
        super().__init__(dwarf, comm, record, order=ORDERS.get(dwarf.strategy or "", ""))
        self.field, self.next = (self.columns(self.graph.all, plan="tracer") for _ in range(2))
        self.divergence = self.columns(self.graph.all, plan="divergence")
        self._make_flow()
        self._name_nodes()
        self._make_plans()
        if initial is None:
            self.field[self.own] = self.exact()
        else:
            self.field[self.own] = initial[self.part.own]
        self._check_sign()
        self.flux_now, self.q_now = self.flux, self.field
        self.exchange("tracer")

    def _make_flow(self) -> None:
        from tradewind.mpi.library import MPI

        dwarf = self.dwarf
        fluxes = FLUXES[dwarf.fluxes](self.mesh, dwarf.alpha)
        rates = outflow_rates(self.part.edges, fluxes, 1 / self.volume)
        proceed(self.comm)
        self.dt = dwarf.time_step(self.comm.allreduce(float(rates.max(initial=0.0)), MPI.MAX))
        worst = np.argsort(rates)[-1:]
        check_fits(
            float(rates.max(initial=0.0)) * self.dt,
            COURANT_LIMIT * (1 + 1e-12),
            self.dt,
            self.part.own[worst],
            self.mesh,
        )
        proceed(self.comm)
        self.flux = np.ascontiguousarray((fluxes[:, None] * dwarf.level_speeds).astype(dwarf.precision))

    def _check_sign(self) -> None:
        minimum = float(self.field[self.own].min(initial=0.0))
        if minimum < 0 and not self.dwarf.gauge:
            raise InputError(f"the field has values down to {minimum:g}: the basic form is for 0 and more; use gauge")
        proceed(self.comm)

    def _name_nodes(self) -> None:
        """Rim and interior as the strategy names them."""
        count, edge = len(self.part.own), self.part.rim()
        self._nodes: dict[str, _core.Nodes | None] = {"own": _core.Nodes((0, count)), "all": None}
        if self.dwarf.strategy == "renumbered":
            interior, rim = _core.Nodes((0, count - len(edge))), _core.Nodes((count - len(edge), count))
        elif self.dwarf.strategy in ("indirection", "fused"):
            others, near = np.setdiff1d(np.arange(count, dtype=np.int32), edge), self.part.near_rim()
            interior, rim = _core.Nodes((0, len(others)), others), _core.Nodes((0, len(edge)), edge)
            self._nodes["near rim"] = _core.Nodes((0, len(near)), near)
        else:
            mask = np.zeros(count, np.uint8)
            mask[edge] = 1
            interior = _core.Nodes((0, count), None, mask, False)
            rim = _core.Nodes((0, count), None, mask, True)
        self._nodes |= {"interior": interior, "rim": rim}

    def places(self, points: Any) -> Sequence[Any]:
        """Return the nodes of this rank of a kind, such as "own", "rim" or "interior"."""
        return (self._nodes[points],)

    def array_of(self, exchange: str, of: Any) -> Array:
        """The array of a stage; that in the other memory; or the field."""
        if of == STAGED:
            return self._there[exchange]
        found: Array = getattr(self, {"tracer": "next"}.get(of, of))
        return found

    def _make_plans(self) -> None:
        """The plans of the stages' exchanges, and what else a strategy needs."""
        dwarf, halo = self.dwarf, self.halo
        names = dict.fromkeys(dwarf.stage_names())
        self._there: dict[str, Array] = {}
        if dwarf.strategy == "staged":
            self._there = {
                name: self.columns(self.graph.all, *([2] if name == "limits" else []), plan=name) for name in names
            }

        def plan(name: str, *arrays: Array) -> None:
            self.plan(name, halo, *arrays, *([self._there[name]] if self._there else []), axis=0)

        plan("tracer", self.field, self.next)
        plan("divergence", self.divergence)
        self.limits: Array | None = None
        if dwarf.limiter:
            self.limits = self.columns(self.graph.all, 2, plan="limits")
            plan("limits", self.limits)
        if dwarf.strategy == "plain":
            self.through = np.empty_like(self.flux)
        if dwarf.strategy == "fused":
            rows = self.graph.kept_rows * self.team.threads
            self.kept = np.zeros((rows, self.levels), dwarf.precision)
        self._between = [
            (np.empty_like(self.flux), self.columns(self.graph.all)) for _ in range(min(dwarf.passes - 2, 2))
        ]

    def next_arrays(self) -> tuple[Array, Array]:
        """The arrays of face fluxes and tracer that the next pass begins with."""
        return self._between[self.flux_now is self._between[0][0]]

    def finish(self, *result: Any) -> None:
        """Make the next values the present ones."""
        super().finish()
        self.field, self.next = self.next, self.field
        self.flux_now, self.q_now = self.flux, self.field

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
        return exact(self.mesh, np.arange(len(self.part.own)), self.dwarf.tracer, self.dwarf.alpha, times)

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
