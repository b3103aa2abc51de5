"""MPDATA on MPI ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind import _core
from tradewind.base.collective import proceed
from tradewind.base.errors import InputError
from tradewind.dwarfs.frame.norms import Norms, norms
from tradewind.dwarfs.frame.on_mesh import MeshRunning, check_fits
from tradewind.dwarfs.mpdata.loops import ORDERS, STAGED
from tradewind.dwarfs.mpdata.on_device import OnDevice
from tradewind.dwarfs.mpdata.solution import solution
from tradewind.dwarfs.mpdata.winds import Wind

if TYPE_CHECKING:
    from mpi4py import MPI

    from tradewind.mpi.library import Array


class MpdataRun(MeshRunning):
    """The dwarf on MPI ranks, one of which this process is."""

    def __init__(self, dwarf: Any, comm: MPI.Intracomm, initial: Array | None, record: str) -> None:
        super().__init__(dwarf, comm, record, order=ORDERS.get(dwarf.strategy or "", ""))
        self.field, self.next = (self.columns(self.graph.all, plan="tracer") for _ in range(2))
        self.divergence = self.columns(self.graph.all, plan="divergence")
        self._make_flow()
        self._name_nodes()
        self._make_plans()
        self.device.put(self.field, self.own, self.exact() if initial is None else initial[self.part.own])
        self._check_sign()
        self.q_now = self.field
        if self._there and not self.device.is_host:
            self.device.to_host(self.field, out=self.staged("tracer"))
            self.exchange("tracer", STAGED)
            self.device.update(self.field, self.staged("tracer"))
        else:
            self.exchange("tracer")

    def _make_flow(self) -> None:
        from tradewind.mpi.library import MPI

        dwarf = self.dwarf
        self.wind = wind = Wind(dwarf, self.mesh)
        rates = wind.outflow_rates()
        proceed(self.comm)
        self.dt = dwarf.time_step(self.comm.allreduce(float(rates.max(initial=0.0)), MPI.MAX))
        worst = np.argsort(rates)[-1:]
        check_fits(
            float(rates.max(initial=0.0)) * self.dt,
            dwarf.courant_limit * (1 + 1e-12),
            self.dt,
            self.part.own[worst],
            self.mesh,
        )
        proceed(self.comm)
        flux, down = wind.at(self.dt / 2)
        self.flux = self._placed(flux)
        self.down = None if down is None else self._placed(down)
        self.inverse_mass = None if wind.mass is None else self._placed(1 / wind.mass)
        self.on_device: OnDevice | None = None
        """Mesh and flow as kernels of a device read them; None on the host."""
        if not self.device.is_host:
            self.on_device = OnDevice(self.device, self.part, 1 / self.volume, wind)
        self.flux_now, self.down_now = self.flux, self.down

    def _placed(self, values: Array) -> Array:
        """Return values in the dwarf's precision, where its loops run."""
        placed: Array = self.device.to_device(np.ascontiguousarray(values.astype(self.dwarf.precision)))
        return placed

    def blow(self) -> None:
        """Set the face fluxes to those in the middle of the present step."""
        weights = self.wind.weights((self.steps + 0.5) * self.dt)
        for terms, out in ((self.wind.across, self.flux), (self.wind.down, self.down)):
            if terms is not None and out is not None:
                _core.mpdata_flow(np.ascontiguousarray(weights * terms.rows), terms.levels, out, self.team)

    @property
    def columns_now(self) -> tuple[Array | None, Array | None]:
        """Fluxes down between levels in this pass, and one over the masses of these; None in two dimensions."""
        return self.down_now, self.inverse_mass

    def _check_sign(self) -> None:
        minimum = float(self.own_values().min(initial=0.0))
        if minimum < 0 and not self.dwarf.gauge:
            raise InputError(f"the field has values down to {minimum:g}: the basic form is for 0 and more; use gauge")
        proceed(self.comm)

    def _name_nodes(self) -> None:
        """Rim and interior as the strategy names them."""
        count, edge = len(self.part.own), self.part.rim()
        nodes = self._selected
        self._nodes: dict[str, Any] = {"own": nodes(0, count), "all": None}
        if self.dwarf.strategy == "renumbered":
            interior, rim = nodes(0, count - len(edge)), nodes(count - len(edge), count)
        elif self.dwarf.strategy in ("indirection", "fused"):
            others, near = np.setdiff1d(np.arange(count, dtype=np.int32), edge), self.part.near_rim()
            interior, rim = nodes(0, len(others), others), nodes(0, len(edge), edge)
            self._nodes["near rim"] = nodes(0, len(near), near)
        else:
            mask = np.zeros(count, np.uint8)
            mask[edge] = 1
            interior, rim = nodes(0, count, None, mask, False), nodes(0, count, None, mask, True)
        self._nodes |= {"interior": interior, "rim": rim}

    def _selected(self, begin: int, end: int, *more: Any) -> Any:
        """Return nodes as the loops of host or device take them; `more`: list, mask, and which of it is wanted."""
        if self.on_device is not None:
            return self.on_device.nodes(begin, end, *more)
        return _core.Nodes((begin, end), *more)

    def places(self, points: Any) -> Sequence[Any]:
        """Return the nodes of this rank of a kind, such as "own", "rim" or "interior"."""
        return (self._nodes[points],)

    def array_of(self, exchange: str, of: Any) -> Array:
        """The array of a stage; that in the other memory; or the field."""
        if of == STAGED:
            return self.staged(exchange)
        found: Array = getattr(self, {"tracer": "next"}.get(of, of))
        return found

    def staged(self, stage: str) -> Array:
        """Return the array of a stage in the other memory, of the strategy staged."""
        return self._there[stage]

    def _make_plans(self) -> None:
        """The plans of the stages' exchanges, and what else a strategy needs."""
        dwarf, halo = self.dwarf, self.halo
        names = dwarf.exchange_names()
        self._there: dict[str, Array] = {}
        if dwarf.strategy == "staged":
            self._there = {
                name: self.host_columns(self.graph.all, *([2] if name == "limits" else []), plan=name) for name in names
            }

        def plan(name: str, *arrays: Array) -> None:
            staged = [self._there[name]] if self._there else []
            self.plan(name, halo, *(() if staged and not self.device.is_host else arrays), *staged, axis=0)

        plan("tracer", self.field, self.next)
        if "divergence" in names:
            plan("divergence", self.divergence)
        self.limits: Array | None = None
        if dwarf.limiter:
            self.limits = self.columns(self.graph.all, 2, plan="limits")
            plan("limits", self.limits)
        if dwarf.strategy == "plain":
            self.through = self.device.empty(self.flux.shape, self.flux.dtype)
        if dwarf.strategy == "fused":
            rows = self.graph.kept_rows * self.team.threads
            self.kept = np.zeros((rows, self.levels), dwarf.precision)
        self._between = [
            (
                self.device.empty(self.flux.shape, self.flux.dtype),
                self.columns(self.graph.all),
                self.down if self.down is None else self.device.empty(self.down.shape, self.down.dtype),
            )
            for _ in range(min(dwarf.passes - 2, 2))
        ]

    def next_arrays(self) -> tuple[Array, Array, Array | None]:
        """The arrays of face fluxes, tracer, and fluxes between levels that the next pass begins with."""
        return self._between[self.flux_now is self._between[0][0]]

    def finish(self, *result: Any) -> None:
        """Make the next values the present ones."""
        super().finish()
        self.field, self.next = self.next, self.field
        self.flux_now, self.q_now, self.down_now = self.flux, self.field, self.down

    # The state, and how good it is.

    @property
    def minimum_bytes(self) -> int:
        """See the base class: of what a step must read and write, half.

        Each face flux, each mass and each value of the tracer is read once, each new value written once.
        """
        columns = sum(each.nbytes for each in (self.down, self.inverse_mass) if each is not None)
        return (self.flux.nbytes + columns + 2 * self.field[self.own].nbytes) // 2

    def exact(self) -> Array:
        """The exact solution [node][level] at own nodes, now."""
        return solution(self.dwarf, self.mesh, self.steps * self.dt)

    def diagnose(self) -> Norms:
        """Mass, extremes and errors of the whole field, the same bits on any ranks. Collective.

        Raises NotFiniteError on all ranks.
        """
        mass = self.volume if self.wind.mass is None else self.wind.mass
        return norms(self.comm, self.own_values(), self.exact(), mass, self.part.own, self.team)

    def gathered(self) -> Array | None:
        """The whole field [node][level] on rank 0. Collective."""
        return self.whole(self.own_values())

    def map(self) -> Array | None:
        """The middle level as a map, on rank 0. Collective."""
        return self.as_map(self.own_values()[:, self.levels // 2])
