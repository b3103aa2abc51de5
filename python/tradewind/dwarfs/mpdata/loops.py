"""The loops of MPDATA with their costs, and the strategies: a time step, written once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind import _core
from tradewind.dwarfs.frame.step import Cost, kernel
from tradewind.dwarfs.mpdata import on_device

if TYPE_CHECKING:
    from tradewind.dwarfs.frame.step import Step

Run = Any
"""A `tradewind.dwarfs.mpdata.run.MpdataRun`, whose module imports this one."""
STAGED = "in the other memory"
"""Name of the array of a stage that the strategy staged exchanges."""

# The loops over nodes. Costs are per node and level, for six neighbours: values are fluxes, fields in and fields out.

FACES = 3
"""Faces per node, nearly: a node has six, each of which it shares. It computes all of them, but a sweep each once."""


def _costs(flops: float, values: float, more_flops: float) -> tuple[Cost, Cost]:
    """Costs in two dimensions; in three each level has a face more, a flux and a mass that are read."""
    return (
        lambda dwarf, *_: flops + (more_flops if dwarf.has_columns else 0),
        lambda dwarf, *_: values + (2 if dwarf.has_columns else 0),
    )


_DIVERGENCE, _TRACER = _costs(43, FACES + 2, 7), _costs(77, FACES + 3, 14)


@kernel(*_DIVERGENCE, on_device=on_device.divergence)
def divergence(run: Run, nodes: _core.Nodes) -> None:
    """Compute the divergence of the upwind fluxes at nodes."""
    _core.mpdata_divergence(run.graph, nodes, run.flux_now, run.q_now, run.divergence, run.team, *run.columns_now)


@kernel(*_costs(126, FACES + 4, 30), on_device=on_device.limits)
def limits(run: Run, nodes: _core.Nodes) -> None:
    """Compute the limits of the corrective fluxes at nodes."""
    assert run.limits is not None
    arrays = run.flux_now, run.q_now, run.divergence, run.limits
    _core.mpdata_limits(run.graph, nodes, *arrays, run.dt, run.dwarf.gauge, run.team, *run.columns_now)


@kernel(*_TRACER, on_device=on_device.tracer)
def tracer(run: Run, nodes: _core.Nodes) -> None:
    """Compute the new tracer at nodes, with corrective fluxes."""
    arrays = run.flux_now, run.q_now, run.divergence, run.next
    gauge = run.dwarf.gauge
    _core.mpdata_corrected(run.graph, nodes, *arrays, run.dt, gauge, run.limits, run.team, *run.columns_now)


@kernel(*_costs(45, FACES + 2, 7), on_device=on_device.upwind)
def upwind(run: Run, nodes: _core.Nodes) -> None:
    """Compute the new tracer at nodes by the upwind scheme alone."""
    _core.mpdata_upwind(run.graph, nodes, run.flux, run.field, run.next, run.dt, run.team, *run.columns_now)


@kernel(*_costs(57, FACES + 2, 21))
def sweep(run: Run, nodes: _core.Nodes) -> None:
    """Compute both passes of the interior in one sweep."""
    arrays = run.flux, run.field, run.kept, run.next
    _core.mpdata_swept(run.graph, (0, run.graph.nodes), *arrays, run.dt, run.team, *run.columns_now)


def _blow_flops(dwarf: Any) -> float:
    """Two for each term of each face that a node has its share of."""
    return 2.0 * (FACES + 1) * 2 if dwarf.has_columns else 2.0 * FACES * 4


@kernel(_blow_flops, lambda dwarf: FACES + dwarf.has_columns, once=True, on_device=on_device.blow)
def blow(run: Run, nodes: None) -> None:
    """Compute the face fluxes of a flow that changes, in the middle of the step."""
    run.blow()


@kernel(None, on_device=on_device.next_pass)
def next_pass(run: Run, nodes: None) -> None:
    """Compute the face fluxes of the next pass and the tracer after this one, of own nodes and the halo."""
    flux, q, down = run.next_arrays()
    arrays = run.flux_now, run.q_now, run.divergence, flux, q
    above, inverse_mass = run.columns_now
    _core.mpdata_next_pass(run.graph, *arrays, run.dt, run.limits, run.team, above, inverse_mass, down)


@kernel(None, part="", anywhere=True)
def begin_pass(run: Run, nodes: None) -> None:
    """Take what `next_pass` has computed."""
    run.flux_now, run.q_now, run.down_now = run.next_arrays()


@kernel(*_DIVERGENCE, on_device=on_device.plain_divergence)
def plain_divergence(run: Run, nodes: _core.Nodes) -> None:
    """Compute the divergence of the upwind fluxes edge by edge, as plain code does."""
    _core.mpdata_plain(run.graph, run.flux, run.field, None, run.through, run.divergence, run.dt, run.team)


@kernel(*_TRACER, on_device=on_device.plain_tracer)
def plain_tracer(run: Run, nodes: _core.Nodes) -> None:
    """Compute the new tracer edge by edge, as plain code does."""
    _core.mpdata_plain(run.graph, run.flux, run.field, run.divergence, run.through, run.next, run.dt, run.team)


@kernel(0, 2, part="staging", once=True, on_device=on_device.copy_to_host)
def copy_to_host(run: Run, nodes: None, stage: str) -> None:
    """Copy what a stage sends from the device to its copy in the host's memory."""
    np.copyto(run.staged(stage), run.array_of(stage, stage))


@kernel(0, 2, part="staging", once=True, on_device=on_device.copy_from_host)
def copy_from_host(run: Run, nodes: None, stage: str) -> None:
    """Copy what a stage has received from the host's memory to the device."""
    np.copyto(run.array_of(stage, stage), run.staged(stage))


LOOPS = {"divergence": divergence, "limits": limits, "tracer": tracer, "upwind": upwind}
PLAIN = {"divergence": plain_divergence, "tracer": plain_tracer}
EXCHANGED = {"upwind": "tracer"}
"""Exchanges of the stages that have another name."""


# The time loop: of each stage the values of own nodes are computed, and those of the halo come from other ranks.


def _begin(step: Step) -> None:
    """Compute the flow, where it changes."""
    if not step.dwarf.is_steady:
        step.compute(blow, points="all", label="flow")


def _stages(step: Step) -> Iterator[tuple[str, str, str]]:
    """Stages, what they exchange, and their labels, one after another; before a further pass that needs it, what all
    nodes have of it."""
    _begin(step)
    for number, stage in enumerate(step.dwarf.stage_names(), 1):
        if number > 1 and stage == "divergence":
            step.compute(next_pass, points="all")
            step.compute(begin_pass, points="all")
        yield stage, EXCHANGED.get(stage, stage), f"{number} {stage}"


def exchange(step: Step, steps: int) -> int:
    """Compute, then exchange."""
    for stage, exchanged, label in _stages(step):
        step.compute(LOOPS[stage], label=label)
        step.exchange(exchanged, exchanged)
    step.finish()
    return 1


def overlap(step: Step, steps: int) -> int:
    """Compute what others wait for, send it, and compute the rest meanwhile."""
    for stage, exchanged, label in _stages(step):
        step.compute(LOOPS[stage], points="rim", label=f"{label} of the rim")
        step.start(exchanged, exchanged)
        step.compute(LOOPS[stage], points="interior", label=label)
        step.wait(exchanged)
    step.finish()
    return 1


def fused(step: Step, steps: int) -> int:
    """Take both passes of the interior in one sweep through memory, while the divergences of the rim travel."""
    _begin(step)
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
    for stage, exchanged, label in _stages(step):
        step.compute(PLAIN[stage], label=label)
        step.exchange(exchanged, exchanged)
    step.finish()
    return 1


def staged(step: Step, steps: int) -> int:
    """Copy whole fields to another memory, exchange there, and copy them back, as codes on GPUs do at first."""
    for stage, exchanged, label in _stages(step):
        step.compute(LOOPS[stage], label=label)
        step.compute(copy_to_host, exchanged, points="all", label=f"{label} to the host")
        step.exchange(exchanged, STAGED)
        step.compute(copy_from_host, exchanged, points="all", label=f"{label} from the host")
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
