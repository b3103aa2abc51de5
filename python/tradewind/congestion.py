"""How evenly an exchange loads a network: which part of the time the links between switches are busy.

Switches are taken together, so many in a row that a picture can show all of them: a cell of the matrix is the busiest
link from any switch of one bin to any of another.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind import _core

if TYPE_CHECKING:
    from tradewind.machine import Machine

MOST_BINS = 250
"""Bins of switches along each side of the matrix."""
QUANTILES = (0.1, 0.5, 0.9, 1.0)


def link_bandwidths(machine: Machine) -> dict[str, float]:
    """Bytes a second of the two kinds of links between switches."""
    local = machine.link.bandwidth
    return {"local": local, "global": machine.link.global_.bandwidth or local}


def link_shares(result: _core.SimulationResult, topology: _core.Topology, machine: Machine) -> dict[str, Any]:
    """The part of the whole time that each link between switches is busy (0..1), by bins of switches.

    Returns plain values: ``switches``, ``switches_per_bin``, ``from`` and ``to`` (numbers of bins) with ``share`` (the
    busiest link between the two; bins without traffic are left out), ``links`` (those used) and ``quantiles`` of their
    shares at `QUANTILES`.
    """
    per_bin = math.ceil(topology.switches / MOST_BINS)
    bandwidths = link_bandwidths(machine)
    shares: list[float] = []
    busiest: dict[tuple[int, int], float] = {}
    for index in np.flatnonzero(result.port_bytes).tolist():
        switch, port = divmod(index, topology.radix)
        kind, to_switch, _ = topology.port(switch, port)
        if kind not in bandwidths:
            continue
        share = int(result.port_bytes[index]) / bandwidths[kind] / result.time_s
        shares.append(share)
        cell = switch // per_bin, to_switch // per_bin
        busiest[cell] = max(share, busiest.get(cell, 0.0))
    return {
        "switches": topology.switches,
        "switches_per_bin": per_bin,
        "from": [sender for sender, _ in busiest],
        "to": [receiver for _, receiver in busiest],
        "share": list(busiest.values()),
        "links": len(shares),
        "quantiles": [float(q) for q in np.quantile(shares, QUANTILES)] if shares else [],
    }
