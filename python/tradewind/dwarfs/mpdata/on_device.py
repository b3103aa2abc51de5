"""The loops of MPDATA by kernels of a device (`tradewind/device/kernels/mpdata.cpp`), for the same strategies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tradewind.device import Device
    from tradewind.dwarfs.mpdata.winds import Terms, Wind

Run = Any
_MOST_TERMS = 4
"""Terms of a flow that the kernel adds up."""


@dataclass(frozen=True)
class DeviceNodes:
    """Nodes of a loop: `count` numbers from `begin` on, or as many entries of a list; of these the wanted of a mask."""

    begin: int
    count: int
    list: Any = None
    mask: Any = None
    wanted: bool = False


class OnDevice:
    """The parts of a mesh and of a flow that kernels read and that do not change."""

    def __init__(self, device: Device, part: Any, inverse_volume: NDArray[np.float64], wind: Wind) -> None:
        self.device = device
        self.mesh = (
            device.to_device(np.asarray(part.offsets, np.int64)),
            device.to_device(np.asarray(part.neighbours, np.int32)),
            device.to_device(np.asarray(part.faces, np.int32)),
            device.to_device(np.asarray(part.edges, np.int32)),
            device.to_device(inverse_volume),
        )
        self.across = self.down = None
        if not wind.steady:
            self.across, self.down = self._terms(wind.across), self._terms(wind.down)

    def _terms(self, terms: Terms | None) -> tuple[Any, Any] | None:
        if terms is None:
            return None
        assert terms.rows.shape[1] <= _MOST_TERMS
        return self.device.to_device(terms.rows), self.device.to_device(terms.levels)

    def nodes(
        self, begin: int, end: int, list: NDArray[np.int32] | None = None, mask: Any = None, wanted: bool = False
    ) -> DeviceNodes:
        """Return nodes, as `_core.Nodes` names them."""
        entries, mask = (
            None if each is None or not len(each) else self.device.to_device(each) for each in (list, mask)
        )
        return DeviceNodes(begin, end - begin, entries, mask, wanted)


def _run(run: Run, kernel: str, points: int, flux: Any, q: Any, *arguments: Any, limits: Any = None) -> None:
    """Run a kernel of a pass."""
    precision = run.dwarf.precision
    dt = np.dtype(precision).type(run.dt)
    arrays = flux, q, run.divergence, limits, *run.columns_now
    fixed = *run.on_device.mesh, run.levels, dt, int(run.dwarf.gauge)
    run.device.run(f"mpdata_{kernel}_{precision}", points, *fixed, *arrays, *arguments)


def _of_nodes(run: Run, kernel: str, nodes: DeviceNodes, flux: Any, q: Any, out: Any, limits: Any = None) -> None:
    selected = nodes.begin, nodes.count, nodes.list, nodes.mask, int(nodes.wanted)
    _run(run, kernel, nodes.count * run.levels, flux, q, *selected, out, limits=limits)


def divergence(run: Run, nodes: DeviceNodes) -> None:
    """Compute the divergence of the upwind fluxes at nodes."""
    _of_nodes(run, "divergence", nodes, run.flux_now, run.q_now, run.divergence)


def limits(run: Run, nodes: DeviceNodes) -> None:
    """Compute the limits of the corrective fluxes at nodes."""
    _of_nodes(run, "limits", nodes, run.flux_now, run.q_now, run.limits)


def tracer(run: Run, nodes: DeviceNodes) -> None:
    """Compute the new tracer at nodes, with corrective fluxes."""
    _of_nodes(run, "corrected", nodes, run.flux_now, run.q_now, run.next, run.limits)


def upwind(run: Run, nodes: DeviceNodes) -> None:
    """Compute the new tracer at nodes by the upwind scheme alone."""
    _of_nodes(run, "upwind", nodes, run.flux, run.field, run.next)


def next_pass(run: Run, nodes: None) -> None:
    """Compute the face fluxes of the next pass and the tracer after this one, of own nodes and the halo."""
    graph, levels, (flux, q, down) = run.graph, run.levels, run.next_arrays()
    now = run.flux_now, run.q_now
    _run(run, "next_fluxes", graph.edges * levels, *now, graph.edges, flux, limits=run.limits)
    if down is not None:
        _run(run, "next_columns", graph.nodes * levels, *now, graph.nodes, down, limits=run.limits)
    _run(run, "advance", graph.all * levels, *now, graph.all, q)


def blow(run: Run, nodes: None) -> None:
    """Compute the face fluxes of a flow that changes, in the middle of the step."""
    weights: Sequence[float] = run.wind.weights((run.steps + 0.5) * run.dt).tolist()
    for terms, out in ((run.on_device.across, run.flux), (run.on_device.down, run.down)):
        if terms is None or out is None:
            continue
        by_row, by_level = terms
        extents = *by_row.shape, run.levels
        padded = [*weights, *[0.0] * (_MOST_TERMS - len(weights))]
        name = f"mpdata_flow_{run.dwarf.precision}"
        run.device.run(name, by_row.shape[0] * run.levels, by_row, by_level, *extents, *padded, out)


def plain_divergence(run: Run, nodes: DeviceNodes) -> None:
    """Compute the divergence of the upwind fluxes edge by edge, a thread for all levels of each."""
    edges, own = run.graph.edges, run.graph.nodes
    _run(run, "plain_fluxes", edges, run.flux, run.field, edges, run.through)
    _run(run, "plain_sums", own, run.through, run.field, own, 0, run.divergence)


def plain_tracer(run: Run, nodes: DeviceNodes) -> None:
    """Compute the new tracer edge by edge, a thread for all levels of each."""
    edges, own = run.graph.edges, run.graph.nodes
    _run(run, "plain_corrections", edges, run.flux, run.field, edges, run.through)
    _run(run, "plain_sums", own, run.through, run.field, own, 1, run.next)


def copy_to_host(run: Run, nodes: None, stage: str) -> None:
    """Copy what a stage sends from the device to the host."""
    run.device.to_host(run.array_of(stage, stage), out=run.staged(stage))


def copy_from_host(run: Run, nodes: None, stage: str) -> None:
    """Copy what a stage has received from the host to the device."""
    run.device.update(run.array_of(stage, stage), run.staged(stage))
