"""Checks of all that a simulation needs, before it begins."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from tradewind import _core
from tradewind.base import units
from tradewind.base.errors import InputError, gathered
from tradewind.base.names import unknown
from tradewind.machine import Machine, MachineFile, load_machine
from tradewind.method.method import DEFAULT_PACKING, DEFAULT_TRANSPORT
from tradewind.simulation.prepared import Simulation
from tradewind.trace.ranks import ranks_shown
from tradewind.workload.posting import POSTINGS
from tradewind.workload.workload import Workload

MODELS = ("packet", "loggp")
BUFFERS = ("credits", "unbounded")
"""Buffers of switches: finite, so that a packet waits for room in the next one, or unbounded."""
PROTOCOLS = ("send", "put")
"""Messages are sent, and long ones announced first where the machine has an eager limit; or put into the memory of
their receivers, whose CPUs have nothing to do with it."""
PLACEMENTS = tuple(_core.placements())
PROGRESS = tuple(_core.progress_kinds)
"""Kinds of progress: when MPI progresses open exchanges."""


def prepare(
    exchange: Workload,
    machine: str | Path | MachineFile,
    *,
    routing: str | None = None,
    model: str = "packet",
    buffers: str = "credits",
    protocol: str = "send",
    transport: str | None = None,
    packing: str | None = None,
    pairs: int = 0,
    packet: str | None = None,
    threads: int | None = None,
    placement: str = "linear",
    seed: int = 1,
    ranks_per_node: int = 1,
    settings: Mapping[str, str] | None = None,
    timeline: str | Path | None = None,
    timeline_ranks: str | None = None,
    mpi_progress: str = "pokes",
    posting: str = "together",
) -> Simulation:
    """Check everything that a simulation needs. Raises InputError with all problems at once.

    `timeline`: a file for the time line of the ranks `timeline_ranks` (see `tradewind.trace.ranks`). `transport` and
    `packing` (None: the default of the transport): the transport within a node, for machines whose file has its costs;
    without a transport only the memory bandwidth of the node counts. `mpi_progress`: when exchanges that are started
    and awaited progress to their next stage. "calls": while their rank waits for them; "pokes": also at poke steps;
    "thread": always, by a thread that takes no time from the CPU. `posting`: when a rank posts the messages of a stage.
    "together": all at once; "sendrecv": each send with a receive, both of which it awaits before the next;
    "transport": of a program, each exchange as its transport does, one of these two.
    """
    problems = _unknown_names(model, placement, buffers, protocol, mpi_progress, posting)
    problems += _out_of_range(pairs, threads, seed, ranks_per_node)
    can_be_placed = not problems
    line = None if timeline is None else Path(timeline)
    shown: tuple[int, ...] = ()
    with gathered(problems):
        shown = ranks_shown(line, timeline_ranks, exchange.ranks, model)
    packet_bytes: int | None = None
    with gathered(problems):
        packet_bytes = _packet_bytes(packet)
    file = built = place = intranode = None
    method = _method(transport, packing)
    if method is not None and model != "packet":
        problems.append(f"transport {method[0]}: only the packet model knows transports, not {model}")
    with gathered(problems):
        file = machine if isinstance(machine, MachineFile) else load_machine(machine, settings)
        exchange = exchange.at_rates(file.machine.files)
        built = file.machine.build(routing, max(0, exchange.ranks - ranks_per_node))
        if packet is None:
            packet_bytes = file.machine.packet.size
        if method is not None:
            intranode = file.machine.intranode_transport(*method, exchange.element_bytes)
        if model == "packet" and buffers == "credits":
            problems += _no_room(packet_bytes, file.machine, built)
        if can_be_placed:
            split = exchange.split or (0, 0)
            holders = built.topology.nodes // built.topology.nodes_per_switch // built.groups
            place = _core.Placement(
                placement, exchange.ranks, ranks_per_node, built.nodes, seed, split, (built.groups, holders)
            )
    if problems or file is None or built is None or place is None or packet_bytes is None:
        raise InputError(*problems)
    simulation = Simulation(
        exchange=exchange,
        file=file,
        machine=built,
        placement=place,
        model=model,
        packet_bytes=packet_bytes,
        threads=threads or usable_cores(),
        seed=seed,
        buffers=buffers,
        protocol=protocol,
        pairs=pairs,
        intranode=intranode,
        method=method,
        timeline=line,
        shown=shown,
        mpi_progress=mpi_progress,
        posting=posting,
    )
    _ = simulation.posted  # refuses what has no such order
    return simulation


def _unknown_names(
    model: str, placement: str, buffers: str, protocol: str, mpi_progress: str, posting: str
) -> list[str]:
    return [
        unknown(what, name, known)
        for what, name, known in (
            ("model", model, MODELS),
            ("placement", placement, PLACEMENTS),
            ("kind of buffers", buffers, BUFFERS),
            ("protocol", protocol, PROTOCOLS),
            ("progress of MPI", mpi_progress, PROGRESS),
            ("posting", posting, POSTINGS),
        )
        if name not in known
    ]


def _method(transport: str | None, packing: str | None) -> tuple[str, str] | None:
    """Transport and packing, where one of them is named."""
    if transport is None and packing is None:
        return None
    return transport or DEFAULT_TRANSPORT, packing or DEFAULT_PACKING


def _out_of_range(pairs: int, threads: int | None, seed: int, ranks_per_node: int) -> list[str]:
    ranges = [
        (0 <= pairs <= 4096, f"pairs of {pairs} blocks of ranks: 0..4096 are allowed"),
        (threads is None or 1 <= threads <= 256, f"threads {threads}: 1..256 are allowed"),
        (0 <= seed < 2**63, f"seed {seed}: 0..{2**63 - 1} are allowed"),
        (1 <= ranks_per_node < 2**31, f"ranks per node {ranks_per_node}: 1..{2**31 - 1} are allowed"),
    ]
    return [problem for good, problem in ranges if not good]


def _packet_bytes(packet: str | None) -> int:
    """Return the bytes that an option names; 0 for one packet per message, or without the option. Raises InputError."""
    if packet in (None, "message"):
        return 0
    try:
        size = units.byte_count(packet)
    except InputError as error:
        raise InputError(f"packet {error}") from None
    if not 1 <= size <= _core.largest_packet:
        raise InputError(f"packet {packet!r}: 1B to 128MiB are allowed, or 'message' for one packet per message")
    return size


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
