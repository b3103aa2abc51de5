"""Result of a simulation, from the result of the core."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradewind import _core
from tradewind.base.deferred import Deferred
from tradewind.base.files import replaced
from tradewind.machine import Machine
from tradewind.machine.link_loads import link_bandwidths
from tradewind.workload.program import ProgramWorkload
from tradewind.workload.repetitions import Repetitions
from tradewind.workload.workload import Workload

if TYPE_CHECKING:
    import numpy as np
else:
    np = Deferred("numpy")

LOADS = "loads of links"
"""Name of such a file in errors."""


def figures_of(result: _core.SimulationResult, exchange: Workload, model: str, copies: bool = False) -> dict[str, Any]:
    """Times and counts. `copies`: what came before its receive was posted is copied, so how much that was, too."""
    if isinstance(exchange, ProgramWorkload) and exchange.order is not None:
        return _figures(result, model, copies) | _ends(result, exchange)
    steps: dict[str, float] = {}
    before = 0.0
    names = [step.name for step in exchange.steps()]
    for i, (name, end) in enumerate(zip(names, result.step_end_s, strict=not isinstance(exchange, Repetitions))):
        steps[name if name not in steps else f"{name} {i + 1}"] = end - before  # a transposition that is repeated
        before = end
    figures: dict[str, Any] = {
        "time_s": result.time_s,
        "step_time_s": steps,
        **({"step_end_s": result.step_end_s} if isinstance(exchange, Repetitions) else {}),
    }
    return figures | _figures(result, model, copies)


def _ends(result: _core.SimulationResult, program: ProgramWorkload) -> dict[str, Any]:
    """Return the end of each step on the last rank, and the number of stages."""
    ends = {step.name: end for step, end in zip(program.steps(), result.step_end_s, strict=True)}
    found: dict[str, Any] = {"step_end_s": ends, "stages": program.stages}
    if len(program.groups) == 1 and program.groups[0].repeat == 1:
        before = [0.0, *ends.values()]
        found["step_time_s"] = {name: end - start for (name, end), start in zip(ends.items(), before, strict=False)}
    return found


def _figures(result: _core.SimulationResult, model: str, copies: bool) -> dict[str, Any]:
    figures: dict[str, Any] = {"time_s": result.time_s, "messages": result.messages, "bytes": result.bytes}
    if model == "packet":
        figures |= {
            **({"unexpected_bytes": result.unexpected_bytes} if copies else {}),
            "packet_hops": result.packet_hops,
            "bound_s": result.bound_s,
            "bound_by": result.bound_by,
            "imbalance": result.imbalance,
            "delay": _delay(result.delay_counts),
            **_skipped(result),
        }
    return figures


def _skipped(result: _core.SimulationResult) -> dict[str, Any]:
    """Return the numbers of repetitions that were simulated and skipped, and why none was skipped."""
    if result.steps_simulated == 0:
        return {}
    found = {"steps_simulated": result.steps_simulated, "steps_skipped": result.steps_skipped}
    return found | ({"no_skip": result.no_skip} if result.no_skip else {})


def over_time(result: _core.SimulationResult) -> dict[str, Any]:
    """Packets that arrived, and their mean delay, in bins of equal time from the start."""
    packets, delay = np.asarray(result.delay_series).T
    used = int(np.nonzero(packets)[0][-1]) + 1 if packets.any() else 0
    means = delay[:used] / np.maximum(packets[:used], 1)
    return {"bin_s": result.delay_bin_s, "packets": packets[:used].tolist(), "mean_delay_s": means.tolist()}


def mean_delays(result: _core.SimulationResult) -> list[list[float]]:
    """Mean delays (s), [source block][destination block]; 0 where nothing was sent."""
    packets, delay = np.asarray(result.delay_pairs).T
    blocks = round(len(packets) ** 0.5)
    mean: list[list[float]] = (delay / np.maximum(packets, 1)).reshape(blocks, blocks).tolist()
    return mean


def _delay(counts: list[int]) -> dict[str, list[float]]:
    """The histogram without the empty bins at its end; edges are one more than counts."""
    used = max((i + 1 for i, count in enumerate(counts) if count), default=1)
    return {
        "edges_s": [_core.delay_lower_edge_s(i) for i in range(used + 1)],
        "counts": [float(c) for c in counts[:used]],
    }


def write_link_loads(path: Path, result: _core.SimulationResult, topology: _core.Topology, machine: Machine) -> None:
    """Writes the load of every link and NIC that was used, one per line of a CSV file.

    Columns: kind (local, global, injection, ejection), from_switch, from_port, to_switch, to_port, node (injection and
    ejection only), bytes, busy_s (bytes over the bandwidth). Raises InputError where the file cannot be written.
    """
    bandwidths = {
        **link_bandwidths(machine),
        "injection": machine.nic.injection_bandwidth,
        "ejection": machine.nic.ejection_bandwidth,
    }
    first, hosted = topology.first_terminal, topology.nodes_per_switch
    rows: list[tuple[Any, ...]] = []
    nic_bytes, port_bytes = result.nic_bytes, result.port_bytes  # a copy each time that they are asked for
    for node in np.flatnonzero(nic_bytes).tolist():
        to = (node // hosted, first + node % hosted)
        rows.append(("injection", "", "", *to, node, int(nic_bytes[node])))
    for index in np.flatnonzero(port_bytes).tolist():
        switch, port = divmod(index, topology.radix)
        kind, to_switch, to_port = topology.port(switch, port)
        end = ("ejection", switch, port, "", "", switch * hosted + port - first)
        row = end if kind == "terminal" else (kind, switch, port, to_switch, to_port, "")
        rows.append((*row, int(port_bytes[index])))
    with replaced(path, LOADS) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
        writer = csv.writer(text)
        writer.writerow(("kind", "from_switch", "from_port", "to_switch", "to_port", "node", "bytes", "busy_s"))
        writer.writerows((*row, row[-1] / bandwidths[row[0]]) for row in rows)
        text.detach()  # which writes what is left, and leaves the stream open
