"""The request for MPDATA: its options, its program and its reference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tradewind import _core
from tradewind.base.errors import gathered
from tradewind.dwarfs.frame.advection import DIAGNOSTICS, FLUXES, TRACERS, shear_option, step_option
from tradewind.dwarfs.frame.dwarf import device_option, method_option
from tradewind.dwarfs.frame.on_mesh import MeshDwarf, mesh_by_name
from tradewind.dwarfs.mpdata import air
from tradewind.dwarfs.mpdata.loops import EXCHANGED, STRATEGIES, TWO_PASSES, copy_from_host, copy_to_host
from tradewind.dwarfs.mpdata.reference import ReferenceMpdata
from tradewind.dwarfs.mpdata.run import MpdataRun
from tradewind.dwarfs.mpdata.winds import COURANT_LIMIT, FLOWS, GAUGE_LIMIT, Wind
from tradewind.layout.mesh_outline import require_memory
from tradewind.layout.mesh_rows import mesh_extents
from tradewind.method.method import default_algorithm
from tradewind.workload.options import option
from tradewind.workload.program import Compute

if TYPE_CHECKING:
    from mpi4py import MPI

    from tradewind.dwarfs.frame.step import Call
    from tradewind.mpi.library import Array

FORMS = ("gauge", "basic")
_MAX_PASSES, _FEWEST_LEVELS = 8, 2
COURANT, GAUGE_COURANT = 0.8, 0.7
"""Courant number unless given, and where the limit is `GAUGE_LIMIT`."""
_GROWING = "on a flat mesh waves grow with the infinite gauge and no limiter;"
ALL_TRACERS = (*TRACERS, "layer")
"""A layer is for three dimensions."""


@dataclass(frozen=True)
class Mpdata(MeshDwarf):
    """A request for the dwarf; `on` ranks it runs, on a machine of the simulator it is simulated."""

    passes: int = option("Passes; the first is the upwind scheme.", 2, minimum=1, maximum=_MAX_PASSES, label="passes")
    form: str = option(
        "gauge, fluxes that correct, linear in the tracer (infinite gauge); or basic, velocities that keep its sign.",
        "gauge",
        known=lambda: FORMS,
        label="form of MPDATA",
    )
    limiter: bool = option("No new extremes (non-oscillatory).", False, label="limiter")
    tracer: str = option(
        f"What is advected: {', '.join(TRACERS)}; or a layer, in three dimensions.",
        "bell",
        known=lambda: ALL_TRACERS,
        label="tracer",
    )
    flow: str = option(
        "rotation; deformation, which reverses in 12 days; or overturning, in three dimensions, which does in one.",
        "rotation",
        known=lambda: FLOWS,
        label="flow",
        swept=False,
    )
    mountain: float = option(
        "Height in m of a mountain, over which levels rise, in three dimensions; 0: no mountain.",
        0.0,
        minimum=0.0,
        maximum=air.CALM_M,
        swept=False,
    )
    alpha: float = option(
        "Angle between the axis of flow rotation and the poles, or of the wind on a flat mesh, in radians.",
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
        "Largest share of a node's volume that flows out of it in a step.",
        None,
        minimum=1e-6,
        maximum=COURANT_LIMIT,
        shown=f"{COURANT}, or {GAUGE_COURANT} on a flat mesh with the infinite gauge and no limiter",
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
    device: str = device_option()

    kind: ClassVar[str] = "mpdata"
    strategies: ClassVar = STRATEGIES
    host_only: ClassVar = ("fused",)
    plans: ClassVar = {"tracer": "fetch", "divergence": "fetch", "limits": "fetch"}
    diagnostics: ClassVar = DIAGNOSTICS
    added_later: ClassVar = {"flow": "rotation", "mountain": 0.0}

    def _problems(self) -> list[str]:
        problems = self.rank_problems()
        if self.gauge and self.passes > 2:
            problems.append(f"passes {self.passes}: with the infinite gauge 2 are allowed; further ones change nothing")
        if self.strategy in TWO_PASSES and (self.passes != 2 or self.limiter or not self.gauge):
            problems.append(f"strategy {self.strategy}: two passes with the infinite gauge, no limiter, are allowed")
        if self.passes == 1 and self.limiter:
            problems.append("limiter: one pass alone makes no new extremes, 2 or more are allowed")
        if self.courant is not None and self.courant_limit < self.courant <= COURANT_LIMIT:
            problems.append(
                f"courant {self.courant:g}: {_GROWING} up to {self.courant_limit:g} is allowed, or use the limiter"
            )
        self._choose(courant=GAUGE_COURANT if self.courant_limit < COURANT_LIMIT else COURANT)
        return problems + self._flow_problems()

    def _flow_problems(self) -> list[str]:
        problems = []
        if self.flow != "rotation" or self.mountain:
            what = f"flow {self.flow}" if self.flow != "rotation" else f"mountain {self.mountain:g}"
            if self.shear:
                problems.append(f"shear {self.shear:g}: with {what} 0 is allowed")
            if self.fluxes != "stream":
                problems.append(f"fluxes {self.fluxes}: with {what} stream is allowed")
            if mesh_extents(self.grid)[1]:
                problems.append(f"grid {self.grid}: with {what} O<N> is allowed")
        if self.mountain and self.flow != "rotation":
            problems.append(f"mountain {self.mountain:g}: with flow {self.flow} 0 is allowed")
        if self.has_columns and self.levels < _FEWEST_LEVELS:
            problems.append(f"levels {self.levels}: in three dimensions {_FEWEST_LEVELS} or more are allowed")
        if self.has_columns and self.strategy == "plain":
            problems.append("strategy plain: two dimensions are allowed")
        if self.tracer == "layer" and not self.has_columns:
            problems.append("tracer layer: three dimensions, flow overturning or a mountain, are allowed")
        return problems

    @property
    def courant_limit(self) -> float:
        """The largest Courant number with which no wave grows.

        On squares the infinite gauge without a limiter multiplies the shortest wave along x by 1 - 4 c^2.
        """
        is_flat = "x" in self.grid.lower()  # NXxNY, and no octahedral one; other names are problems of their own
        return GAUGE_LIMIT if is_flat and self.gauge and self.passes > 1 and not self.limiter else COURANT_LIMIT

    @property
    def has_columns(self) -> bool:
        """Whether it is in three dimensions: levels are columns of air."""
        return self.flow == "overturning" or self.mountain > 0

    @property
    def is_steady(self) -> bool:
        """Whether the flow does not change with time."""
        return self.flow == "rotation"

    @property
    def name(self) -> str:
        """A short label, for tables and plots."""
        return f"{super().name} {self.grid}x{self.levels}"

    def stage_names(self) -> list[str]:
        """Name what a step computes, one after the other, each with its exchange."""
        if self.passes == 1:
            return ["upwind"]
        further = ["limits", "divergence"] if self.limiter else ["divergence"]
        last = ["limits", "tracer"] if self.limiter else ["tracer"]
        return ["divergence", *further * (self.passes - 2), *last]

    def exchange_names(self) -> list[str]:
        """Name the exchanges of a step, each once."""
        return list(dict.fromkeys(EXCHANGED.get(stage, stage) for stage in self.stage_names()))

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
        problems = self.device_problems()
        with gathered(problems):
            require_memory(self.grid)
        if problems:
            return problems
        ids = np.arange(self.ranks)
        empty = _core.fetch_of_ids(np.split(ids, self.ranks), [ids[:0]] * self.ranks)
        for name in self.exchange_names():
            with gathered(problems):
                _core.make_schedule(empty, self.method(name).algorithm or default_algorithm("fetch"))
        return problems

    @cached_property
    def _wind(self) -> Wind:
        """The flow on the whole mesh."""
        return Wind(self, mesh_by_name(self.grid))

    @cached_property
    def _reference(self) -> ReferenceMpdata:
        mesh, wind, precision = mesh_by_name(self.grid), self._wind, self.precision
        dt = self.time_step(float(wind.outflow_rates().max()))
        flux, down = wind.at(dt / 2)
        inverse = 1 / (mesh.volume[:, None] if wind.mass is None else wind.mass)
        down = None if wind.mass is None else (np.zeros_like(inverse) if down is None else down).astype(precision)
        flux, inverse = flux.astype(precision), inverse.astype(precision)
        return ReferenceMpdata(mesh.edges, flux, down, inverse, dt, self.passes, self.gauge, self.limiter)

    def reference_step(self, whole: Array) -> Array:
        """The whole field [node][level] after the first step, in NumPy alone."""
        return self.reference(whole, 1)

    def reference(self, whole: Array, steps: int) -> Array:
        """The whole field [node][level] after the first steps, in NumPy alone."""
        reference = self._reference
        for number in range(steps):
            if not self.is_steady:
                flux, down = self._wind.at((number + 0.5) * reference.dt)
                reference = replace(
                    reference,
                    flux=flux.astype(self.precision),
                    down=None if down is None else down.astype(self.precision),
                )
            whole = reference.step(whole)
        return whole

    def time_step(self, rate: float) -> float:
        """Seconds of a step; `rate`: the largest share of a node's volume that flows out per second."""
        return self.courant / rate if self.dt_s is None else self.dt_s


def _width(stage: str) -> int:
    """Values per node and level of a stage."""
    return 2 if stage == "limits" else 1
