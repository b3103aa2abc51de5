"""Loads of the links between switches: the share of the time that each is busy.

Only switches whose links carry something count. Consecutive switches are put into bins, so that a picture can show all
of them: a cell of the matrix is the busiest link from any switch of one bin to any of another. The same is done by the
groups of the machine (see `tradewind.machine.groups`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tradewind import _core
from tradewind.base.deferred import Deferred
from tradewind.machine.groups import groups_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tradewind.machine import Machine

    Integers = NDArray[np.int64]
    Numbers = NDArray[np.float64]
else:
    np = Deferred("numpy")

MAX_BINS = 125
"""Bins of switches along each side of the matrix."""
QUANTILES = (0.1, 0.5, 0.9, 1.0)


def link_bandwidths(machine: Machine) -> dict[str, float]:
    """Bytes a second of the two kinds of links between switches."""
    local = machine.link.bandwidth
    return {"local": local, "global": machine.link.global_.bandwidth or local}


@dataclass(frozen=True)
class Loads:
    """The links between switches that carried something, one way each, and the NICs. Shares are parts of the time."""

    senders: Integers
    receivers: Integers
    ports: Integers
    """The port that a link leaves by, switch * radix + port."""
    backs: Integers
    """The port at its other end, by which the link back leaves."""
    bytes: Integers
    shares: Numbers
    nics: Numbers
    """[node]: the share of its busier direction."""

    @cached_property
    def _share_of_port(self) -> dict[int, float]:
        return dict(zip(self.ports.tolist(), self.shares.tolist(), strict=True))

    def share(self, *ports: int) -> float:
        """The share of the busiest of the links that leave by these ports."""
        return max(self._share_of_port.get(port, 0.0) for port in ports)

    @property
    def busiest_switch(self) -> int:
        """The one that the busiest link leaves; 0 where nothing crosses a link."""
        return int(self.senders[self.shares.argmax()]) if self.shares.size else 0

    def busiest_first(self) -> list[int]:
        """The numbers of all links."""
        order: list[int] = np.argsort(-self.shares, kind="stable").tolist()
        return order

    def cells(self, bin_of: Integers) -> dict[tuple[int, int], tuple[float, int]]:
        """Share of the busiest link, and bytes of all, from bin to bin; `bin_of`: the bin of each switch."""
        bins = int(bin_of.max()) + 1
        found, cell = np.unique(bin_of[self.senders] * bins + bin_of[self.receivers], return_inverse=True)
        maximum, total = np.zeros(found.size), np.zeros(found.size, dtype=np.int64)
        np.maximum.at(maximum, cell, self.shares)
        np.add.at(total, cell, self.bytes)
        pairs = [divmod(pair, bins) for pair in found.tolist()]
        return dict(zip(pairs, zip(maximum.tolist(), total.tolist(), strict=True), strict=True))


def loads_of(result: _core.SimulationResult, topology: _core.Topology, machine: Machine) -> Loads:
    """Return the loads of links and NICs in a simulation."""
    bandwidths = link_bandwidths(machine)
    port_bytes = result.port_bytes  # a copy each time that it is asked for
    links: list[tuple[int, int, int, int]] = []
    rates: list[float] = []
    for index in np.flatnonzero(port_bytes).tolist():
        switch, port = divmod(index, topology.radix)
        kind, to_switch, to_port = topology.port(switch, port)
        if kind in bandwidths:
            links.append((switch, to_switch, index, to_switch * topology.radix + to_port))
            rates.append(bandwidths[kind])
    senders, receivers, ports, backs = np.array(links, dtype=np.int64).reshape(-1, 4).T
    sent = port_bytes[ports].astype(np.int64)
    shares = sent / np.array(rates) / result.time_s
    return Loads(senders, receivers, ports, backs, sent, shares, _nic_shares(result, topology, machine))


def _nic_shares(result: _core.SimulationResult, topology: _core.Topology, machine: Machine) -> Numbers:
    hosted, first = topology.nodes_per_switch, topology.first_terminal
    terminals = result.port_bytes.reshape(-1, topology.radix)[: topology.nodes // hosted, first : first + hosted]
    out_s = result.nic_bytes / machine.nic.injection_bandwidth
    in_s = terminals.reshape(-1) / machine.nic.ejection_bandwidth
    busier: Numbers = np.maximum(out_s, in_s) / (result.time_s or 1.0)
    return busier


def link_shares(loads: Loads) -> dict[str, Any]:
    """The part of the whole time that each link between switches is busy (0..1), by bins of switches in use.

    Returns plain values: ``switches`` (those in use), ``switches_per_bin``, ``from`` and ``to`` (numbers of bins) with
    ``share`` (the busiest link between the two; bins without traffic are left out), ``links`` (those used) and
    ``quantiles`` of their shares at `QUANTILES`.
    """
    used = np.union1d(loads.senders, loads.receivers)
    per_bin = max(1, math.ceil(used.size / MAX_BINS))
    bin_of = np.zeros(int(used.max(initial=0)) + 1, dtype=np.int64)
    bin_of[used] = np.arange(used.size) // per_bin
    cells = loads.cells(bin_of)
    return {
        "switches": int(used.size),
        "switches_per_bin": per_bin,
        "from": [sender for sender, _ in cells],
        "to": [receiver for _, receiver in cells],
        "share": [share for share, _ in cells.values()],
        "links": int(loads.shares.size),
        "quantiles": [float(q) for q in np.quantile(loads.shares, QUANTILES)] if loads.shares.size else [],
    }


def group_shares(loads: Loads, topology: _core.Topology, machine: Machine) -> dict[str, Any] | None:
    """The same by the groups of the machine, those within a group included; None where it has no groups.

    Returns plain values: ``name`` (what they are: groups, planes, subtrees), ``groups`` (how many), ``groups_per_bin``,
    ``from`` and ``to`` (numbers of bins) with ``share`` (of the busiest link between the two) and ``bytes`` (of all).
    """
    groups = groups_of(machine.topology, topology.switches)
    if groups is None:
        return None
    per_bin = math.ceil(groups.count / MAX_BINS)
    cells = loads.cells(groups.of // per_bin)
    return {
        "name": groups.name,
        "groups": groups.count,
        "groups_per_bin": per_bin,
        "from": [sender for sender, _ in cells],
        "to": [receiver for _, receiver in cells],
        "share": [share for share, _ in cells.values()],
        "bytes": [total for _, total in cells.values()],
    }
