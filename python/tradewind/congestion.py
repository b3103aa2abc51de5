"""How evenly an exchange loads a network: which part of the time the links between switches are busy.

Only switches whose links carry something count. They are taken together, so many in a row that a picture can show all
of them: a cell of the matrix is the busiest link from any switch of one bin to any of another.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind import _core

if TYPE_CHECKING:
    from tradewind.machine import Machine

MOST_BINS = 125
"""Bins of switches along each side of the matrix."""
QUANTILES = (0.1, 0.5, 0.9, 1.0)


def link_bandwidths(machine: Machine) -> dict[str, float]:
    """Bytes a second of the two kinds of links between switches."""
    local = machine.link.bandwidth
    return {"local": local, "global": machine.link.global_.bandwidth or local}


def link_shares(result: _core.SimulationResult, topology: _core.Topology, machine: Machine) -> dict[str, Any]:
    """The part of the whole time that each link between switches is busy (0..1), by bins of switches in use.

    Returns plain values: ``switches`` (those in use), ``switches_per_bin``, ``from`` and ``to`` (numbers of bins) with
    ``share`` (the busiest link between the two; bins without traffic are left out), ``links`` (those used) and
    ``quantiles`` of their shares at `QUANTILES`.
    """
    links = list(_used_links(result, topology, machine))
    used = sorted({switch for sender, receiver, _ in links for switch in (sender, receiver)})
    place = {switch: i for i, switch in enumerate(used)}
    per_bin = max(1, math.ceil(len(used) / MOST_BINS))
    busiest: dict[tuple[int, int], float] = {}
    for sender, receiver, share in links:
        cell = place[sender] // per_bin, place[receiver] // per_bin
        busiest[cell] = max(share, busiest.get(cell, 0.0))
    shares = [share for _, _, share in links]
    return {
        "switches": len(used),
        "switches_per_bin": per_bin,
        "from": [sender for sender, _ in busiest],
        "to": [receiver for _, receiver in busiest],
        "share": list(busiest.values()),
        "links": len(links),
        "quantiles": [float(q) for q in np.quantile(shares, QUANTILES)] if shares else [],
    }


def _used_links(
    result: _core.SimulationResult, topology: _core.Topology, machine: Machine
) -> Iterator[tuple[int, int, float]]:
    """(from switch, to switch, busy share) of every link that carried something."""
    bandwidths = link_bandwidths(machine)
    port_bytes = result.port_bytes  # a copy each time that it is asked for
    for index in np.flatnonzero(port_bytes).tolist():
        switch, port = divmod(index, topology.radix)
        kind, to_switch, _ = topology.port(switch, port)
        if kind in bandwidths:
            yield switch, to_switch, int(port_bytes[index]) / bandwidths[kind] / result.time_s
