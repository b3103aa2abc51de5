"""Checks of all that a simulation needs, before it begins."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tradewind import _core
from tradewind.base import units
from tradewind.base.errors import InputError, gathered
from tradewind.base.extents import whole_number
from tradewind.base.noise import NONE, noise_of
from tradewind.machine import Machine, MachineFile, load_machine
from tradewind.method.method import DEFAULT_PACKING, DEFAULT_TRANSPORT
from tradewind.simulation.energy import Held, node_share
from tradewind.simulation.prepared import Simulation
from tradewind.timeline.ranks import ranks_shown
from tradewind.workload.options import problems_of
from tradewind.workload.packet_order import PORTS, each_order
from tradewind.workload.repetitions import Repetitions
from tradewind.workload.simulation_options import CORES, WHOLE, SimulationOptions, options_of_simulations
from tradewind.workload.workload import Workload


def prepare(
    exchange: Workload,
    machine: str | Path | MachineFile,
    *,
    settings: Mapping[str, str] | None = None,
    **options: Any,
) -> Simulation:
    """Check everything that a simulation needs. Raises InputError with all problems at once.

    `exchange`: also a request that makes a program, such as a dwarf. `settings`: changed values of the machine.
    `options`: those of `tradewind.workload.simulation_options.SimulationOptions`. `pairs`: blocks of ranks between
    which delays are kept. `skip`: repetitions of steps that are the same as others but for the time are not simulated;
    the result is that of all. `timeline`: a file for the time line of the ranks `timeline_ranks` (see
    `tradewind.timeline.ranks`). `transport` and `packing` (None: the default of the transport): the transport within a
    node, for machines whose file has its costs; without a transport only the memory bandwidth of the node counts,
    unless the request names one whose costs the file has, as a dwarf may. `mpi_progress`: when exchanges that are
    started and awaited progress to their next stage. "calls": while their rank waits for them; "pokes": also at poke
    steps; "thread": always, by a thread that takes no time from the CPU. `posting`: when a rank posts the messages of a
    stage. "together": all at once; "ascending": all at once, but in ascending order of receivers, so that all ranks
    begin with the first one; "sendrecv": each send with a receive, both of which it awaits before the next;
    "transport": of a program, each exchange as its transport does, together or sendrecv. `order`: of packets, and of
    room in buffers, that come to a switch at one time. "ports": by the number of the port; "seed=7": drawn at random
    for each switch and time. Several, such as "ports,seed=1..8", are simulated one after another; the result is that of
    the first, with the times of all. `compute_imbalance`: of computations that name none, such as "normal,0.05" (see
    `tradewind.base.imbalance`). `noise`: detours of the operating system, such as "100Hz,250us" (see
    `tradewind.base.noise`); None: those of the machine. `background`: the fraction of the bandwidth of links between
    switches that other jobs take.
    """
    asked, request = SimulationOptions(**options), exchange
    exchange = request.program()
    problems = problems_of(asked)
    can_be_placed = not problems
    line = None if asked.timeline is None else Path(asked.timeline)
    shown: tuple[int, ...] = ()
    with gathered(problems):
        shown = ranks_shown(line, asked.timeline_ranks, exchange.ranks, asked.model)
        if shown:
            from tradewind.replay.workload import TraceWorkload  # here, as most simulations need no traces
            from tradewind.trace.time_line import check_shown

            if isinstance(exchange, TraceWorkload):
                check_shown(exchange.trace, shown)
    known = options_of_simulations()
    packet_bytes: int | None = None
    if not known["packet"].wrong(asked.packet):
        packet_bytes = 0 if asked.packet in (None, WHOLE) else units.byte_count(asked.packet)
    orders = [] if known["order"].wrong(asked.order) else each_order(asked.order)
    if orders not in ([], [PORTS]) and asked.model != "packet":
        problems.append(f"order {asked.order}: only the packet model knows ports, not {asked.model}")
    if asked.noise not in (None, NONE) and asked.model != "packet":
        problems.append(f"noise {asked.noise}: only the packet model knows detours, not {asked.model}")
    if asked.background and asked.model != "packet":
        problems.append(f"background {asked.background:g}: only the packet model knows links, not {asked.model}")
    if exchange.calls is not None and asked.model != "packet":
        problems.append(f"model {asked.model}: the calls of a trace are replayed by the packet model alone")
    if len(orders) > 1 and isinstance(exchange, Repetitions):
        problems.append(f"order {asked.order}: one order is allowed where repetitions are simulated until steady")
    file = built = place = intranode = None
    each, copied = 1, 0.0
    method = _method(asked.transport, asked.packing)
    if method is not None and asked.model != "packet":
        problems.append(f"transport {method[0]}: only the packet model knows transports, not {asked.model}")
    with gathered(problems):
        file = machine if isinstance(machine, MachineFile) else load_machine(machine, settings)
        if not known["background"].wrong(asked.background):
            file = file.with_background(asked.background)
        each = ranks_per_node_on(file, asked.ranks_per_node)
        copied = exchange.copied_bytes
        exchange = exchange.at_rates(file.machine, each, request.threads)
        built = file.machine.build(asked.routing, max(0, exchange.ranks - each))
        if asked.packet is None:
            packet_bytes = file.machine.packet.size
        if method is None and asked.model == "packet":
            method = method_known_to(file, request)
        if method is not None:
            intranode = file.machine.intranode_transport(*method, exchange.element_bytes)
        if asked.model == "packet" and asked.buffers == "credits":
            problems += _no_room(packet_bytes, file.machine, built)
        if can_be_placed:
            place = _placed(exchange.ranks, request.split, file, built, asked, each)
    if problems or file is None or built is None or place is None or packet_bytes is None:
        raise InputError(*problems)
    own_noise = None if file.machine.noise is None or asked.model != "packet" else file.machine.noise.made()
    simulation = Simulation(
        exchange=exchange,
        file=file,
        machine=built,
        placement=place,
        options=replace(asked, threads=asked.threads or usable_cores()),
        packet_bytes=packet_bytes,
        orders=tuple(orders),
        shown=shown,
        intranode=intranode,
        method=method,
        noise=own_noise if asked.noise is None else noise_of(asked.noise),
        held=Held(each, node_share(file.machine, exchange.ranks, each, request.threads), copied),
    )
    _ = simulation.changed  # refuses what has no such posting order
    return simulation


def ranks_per_node_on(file: MachineFile, asked: int | str) -> int:
    """Return the ranks per node of a machine; "cores": those of its nodes. Raises InputError where it has none."""
    if not isinstance(asked, str):
        return asked
    if file.machine.node.cores is None:
        raise InputError(f"ranks per node {asked!r}: the machine {file.name} does not say node.cores; name a number")
    return file.machine.node.cores


def threads_per_rank_on(machine: Machine, ranks_per_node: int, asked: int | None) -> int:
    """Return the threads of a rank that compute; None: as many as fill the cores of a node. Raises InputError.

    They count on a machine with rates of cores; elsewhere a rank has its share of its node, whatever its threads.
    """
    if asked is not None:
        return whole_number("threads per rank", asked, 1)
    return max(1, (machine.node.cores or 1) // ranks_per_node)


def method_known_to(file: MachineFile, workload: Workload) -> tuple[str, str] | None:
    """Return transport and packing that a workload names, where the machine file has their costs within a node."""
    transport, packing = workload.named_method
    packing = packing or DEFAULT_PACKING
    known = [each.packing for each in file.machine.intranode if each.transport == transport]
    return None if transport is None or packing not in known else (transport, packing)


def _placed(
    ranks: int,
    split: tuple[int, int] | None,
    file: MachineFile,
    built: _core.Machine,
    asked: SimulationOptions,
    each: int,
) -> _core.Placement:
    """Return the nodes of the ranks. Raises InputError, with the option to name where they need too many."""
    if math.ceil(ranks / each) > built.nodes:
        cores = file.machine.node.cores
        known = f" (`{CORES}`: the {cores} of a node)" if cores is not None and cores > each else ""
        raise InputError(
            f"{ranks} ranks with {each} per node need {math.ceil(ranks / each)} nodes; the machine "
            f"has {built.nodes}: increase --ranks-per-node{known}"
        )
    holders = built.topology.nodes // built.topology.nodes_per_switch // built.groups
    places = (built.groups, holders)
    topology = file.machine.topology
    torus = topology.shape if topology.kind == "torus" else []
    return _core.Placement(asked.placement, ranks, each, built.nodes, asked.seed, split or (0, 0), places, torus)


def _method(transport: str | None, packing: str | None) -> tuple[str, str] | None:
    """Transport and packing, where one of them is named."""
    if transport is None and packing is None:
        return None
    return transport or DEFAULT_TRANSPORT, packing or DEFAULT_PACKING


def _no_room(packet_bytes: int | None, machine: Machine, built: _core.Machine) -> list[str]:
    """Return why a packet does not fit a buffer."""
    channel, output, nic = built.buffer_sizes
    name = "switch.buffer" if machine.switch.port_buffer is None else "switch.port_buffer"
    buffers = {name: channel, "switch.output_buffer": output or None, "nic.buffer": nic}
    for name, size in buffers.items():
        if packet_bytes is not None and size is not None and packet_bytes > size:
            packet, largest = units.format_bytes(packet_bytes), units.format_bytes(size)
            if packet == largest:
                packet, largest = f"{packet_bytes} bytes", f"{size}"
            return [
                f"a packet of {packet} does not fit a buffer of {largest}: "
                f"name a smaller packet, a larger {name}, or unbounded buffers"
            ]
    return []


def usable_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))
