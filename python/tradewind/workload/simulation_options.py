"""Options of a simulation: how a workload is simulated on a machine, be it an exchange, a program or a dwarf.

Commands take them from the command line and `tradewind.simulation.prepare` as keywords. Defaults, checks and help
follow from this one record.
"""

from __future__ import annotations

from dataclasses import dataclass

from tradewind import _core
from tradewind.base.errors import InputError, gathered
from tradewind.base.units import byte_count
from tradewind.workload.options import option
from tradewind.workload.packet_order import PORTS, each_order

MODELS = ("packet", "loggp")
BUFFERS = ("credits", "unbounded")
"""Buffers of switches: finite, so that a packet waits for room in the next one, or unbounded."""
PROTOCOLS = ("send", "put")
"""Messages are sent, and long ones announced first where the machine has an eager limit; or put into the memory of
their receivers, whose CPUs have nothing to do with it."""
PLACEMENTS = tuple(_core.placements())
PROGRESS = tuple(_core.progress_kinds)
"""Kinds of progress: when MPI progresses open exchanges."""
POSTINGS = ("together", "ascending", "sendrecv", "transport")
"""Ranks post all messages of a stage together, in the order of the algorithm or in ascending order of receivers; or
each send with a receive, and await both before the next; or as the transport of each exchange of a program does,
sendrecv or another one."""
CORES = "cores"
"""As many ranks per node as a node of the machine file has cores."""
WHOLE = "message"
"""One packet per message."""


def _packet_problems(packet: str) -> list[str]:
    if packet == WHOLE:
        return []
    try:
        size = byte_count(packet)
    except InputError as error:
        return [f"packet {error}"]
    if 1 <= size <= _core.largest_packet:
        return []
    return [f"packet {packet!r}: 1B to 128MiB are allowed, or '{WHOLE}' for one packet per message"]


def _order_problems(order: str) -> list[str]:
    problems: list[str] = []
    with gathered(problems):
        each_order(order)
    return problems


@dataclass(frozen=True, kw_only=True)
class SimulationOptions:
    """How a workload is simulated. All fields are plain values, which `problems_of` checks."""

    routing: str | None = option("See `tradewind list routings`.", None, shown="the machine's own")
    model: str = option("packet, or loggp (no congestion).", "packet", known=lambda: MODELS)
    buffers: str = option(
        "Switch buffers: credits (finite) or unbounded (faster).",
        "credits",
        known=lambda: BUFFERS,
        what="kind of buffers",
    )
    protocol: str = option("send, or put (one-sided).", "send", known=lambda: PROTOCOLS)
    packet: str | None = option(
        f"Packet size, or `{WHOLE}` for one packet per message.",
        None,
        problems=_packet_problems,
        shown="the machine's own",
    )
    order: str = option(
        "Order of packets that come to a switch at one time: ports (lowest first), or seed=N (at random); of several, "
        "like ports,seed=1..8, the spread of the times is shown.",
        PORTS,
        problems=_order_problems,
    )
    transport: str | None = option(
        "Transport within a node; needs a machine file from `tradewind calibrate`.", None, shown="memory bandwidth only"
    )
    packing: str | None = option("Packing of that transport.", None, shown="buffer")
    posting: str = option(
        "When messages of a stage are posted: together; ascending, together, and all ranks begin with the first one; "
        "sendrecv, one exchange after another; or transport, as that of each exchange of a program does.",
        "together",
        known=lambda: POSTINGS,
    )
    mpi_progress: str = option(
        "When open exchanges progress: calls (while their rank waits for them), pokes (also at poke steps) or "
        "thread (always).",
        "pokes",
        known=lambda: PROGRESS,
        what="progress of MPI",
    )
    threads: int | None = option("Threads per process.", None, minimum=1, maximum=256, shown="all cores")
    placement: str = option("linear, round-robin, random, scattered or blocks.", "linear", known=lambda: PLACEMENTS)
    seed: int = option("Random seed for routing and placement.", 1, minimum=0, maximum=2**63 - 1)
    ranks_per_node: int | str = option(
        f"Ranks per node, or `{CORES}`: as many as a node of the machine has.",
        1,
        minimum=1,
        maximum=2**31 - 1,
        words=(CORES,),
    )
    timeline: str | None = option(
        "Write a time line of the ranks: for Perfetto, or a picture (.svg, .png, .pdf, .html).", None
    )
    timeline_ranks: str | None = option("Ranks on the time line, like 0:64 or 0,7,100:110.", None, shown="0:64")
