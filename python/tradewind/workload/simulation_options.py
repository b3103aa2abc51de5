"""Options of a simulation: how a workload is simulated on a machine, be it an exchange, a program or a dwarf.

Each is declared once, in `SimulationOptions`. From its record follow the command line, the keywords of
`tradewind.simulation.prepare`, the keys of sweeps and bases of studies, the labels of cases, the tables of the
reference, and what the core is given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from tradewind import _core
from tradewind.base.errors import InputError, gathered
from tradewind.base.imbalance import imbalance_of
from tradewind.base.noise import NAMED, noise_of
from tradewind.base.units import byte_count
from tradewind.workload.options import Option, option, options_of
from tradewind.workload.packet_order import PORTS, each_order, seed_of

if TYPE_CHECKING:
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
POSTINGS = ("together", "ascending", "sendrecv", "transport")
"""Ranks post all messages of a stage together, in the order of the algorithm or in ascending order of receivers; or
each send with a receive, and await both before the next; or as the transport of each exchange of a program does,
sendrecv or another one."""
CORES = "cores"
"""As many ranks per node as a node of the machine file has cores."""
WHOLE = "message"
"""One packet per message."""
MAX_PAIRS = 4096
"""Maximum blocks of ranks between which delays are kept."""


@dataclass(frozen=True)
class SimulationOption(Option):
    """Option of simulations. One with a label is a key of sweeps: each value of a list makes a case of its own."""

    on_command_line: bool = True
    in_bases: bool = False
    """Whether bases of studies have it, too."""
    only_named: bool = False
    """Whether only cases whose sweep names it have it: keys of cases that were stored before there was such an option
    stay what they are."""
    split: Callable[[Any], list[Any]] | None = None
    """Returns the values of several cases from one value of a sweep."""
    core: Callable[[Any], Mapping[str, Any]] | None = None
    """Returns arguments of the core's options for a value."""
    changes: Callable[[Workload, Any], Workload] | None = None
    """Returns what is simulated in place of a workload. Results name a value that is not the default."""


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


def _pairs_problems(pairs: int) -> list[str]:
    return [] if 0 <= pairs <= MAX_PAIRS else [f"pairs of {pairs} blocks of ranks: 0..{MAX_PAIRS} are allowed"]


def _imbalance_problems(imbalance: str) -> list[str]:
    problems: list[str] = []
    with gathered(problems):
        imbalance_of(imbalance)
    return problems


def _background_problems(background: float) -> list[str]:
    return [] if background < 1 else [f"background {background:g}: 0 or more, and less than 1 is allowed"]


def _noise_problems(noise: str) -> list[str]:
    problems: list[str] = []
    with gathered(problems):
        noise_of(noise)
    return problems


def _imbalanced(workload: Workload, imbalance: str | None) -> Workload:
    from tradewind.workload.imbalanced import imbalanced  # which help and checks do without

    return imbalanced(workload, imbalance)


def _posted(workload: Workload, posting: str) -> Workload:
    from tradewind.workload.posting import posted  # which help and checks do without

    return posted(workload, posting)


_option = partial(option, of=SimulationOption)


@dataclass(frozen=True, kw_only=True)
class SimulationOptions:
    """How a workload is simulated. All fields are plain values, which `problems_of` checks."""

    routing: str | None = _option(
        "See `tradewind list routings`.", None, shown="the machine's own", label="routing of packets"
    )
    model: str = _option(
        "packet, or loggp (no congestion).", "packet", known=lambda: MODELS, label="network model", in_bases=True
    )
    buffers: str = _option(
        "Switch buffers: credits (finite) or unbounded (faster).",
        "credits",
        known=lambda: BUFFERS,
        what="kind of buffers",
        label="buffers of the switches",
        in_bases=True,
        core=lambda buffers: {"finite_buffers": buffers == "credits"},
    )
    protocol: str = _option(
        "send, or put (one-sided).",
        "send",
        known=lambda: PROTOCOLS,
        core=lambda protocol: {"one_sided": protocol == "put"},
    )
    packet: str | None = _option(
        f"Packet size, or `{WHOLE}` for one packet per message.",
        None,
        problems=_packet_problems,
        shown="the machine's own",
        label="largest packet",
        in_bases=True,
    )
    placement: str = _option(
        "linear, round-robin, random, scattered, blocks or box.",
        "linear",
        known=lambda: PLACEMENTS,
        label="placement of ranks on nodes",
        in_bases=True,
    )
    ranks_per_node: int | str = _option(
        f"Ranks per node, or `{CORES}`: as many as a node of the machine has.",
        1,
        minimum=1,
        maximum=2**31 - 1,
        words=(CORES,),
        label="ranks on each node",
        in_bases=True,
    )
    seed: int = _option(
        "Random seed for routing, placement, imbalance and noise.",
        1,
        minimum=0,
        maximum=2**63 - 1,
        label="seed of the random numbers",
        core=lambda seed: {"seed": seed},
    )
    compute_imbalance: str | None = _option(
        "Random factor on the time of computations that name none, by rank: distribution and spread, like normal,0.05, "
        "or normal,0.05,step to draw it each time.",
        None,
        problems=_imbalance_problems,
        shown="none",
        label="random factor on the time of computations",
        in_bases=True,
        only_named=True,
        metavar="DISTRIBUTION,SPREAD",
        changes=_imbalanced,
    )
    noise: str | None = _option(
        "Detours of the operating system: none, frequency and duration like 100Hz,250us, or a published one "
        f"({', '.join(NAMED)}).",
        None,
        problems=_noise_problems,
        metavar="FREQUENCY,DURATION",
        shown="the machine's own",
        label="noise of the operating system",
        in_bases=True,
        only_named=True,
    )
    background: float = _option(
        "Traffic of other jobs: the fraction of the bandwidth of all links between switches that it takes, below 1.",
        0.0,
        minimum=0,
        problems=_background_problems,
        metavar="FRACTION",
        label="fraction of the links that other jobs take",
        in_bases=True,
        only_named=True,
    )
    mpi_progress: str = _option(
        "When open exchanges progress: calls (while their rank waits for them), pokes (also at poke steps) or "
        "thread (always).",
        "pokes",
        known=lambda: PROGRESS,
        what="progress of MPI",
        label="when open exchanges progress",
        only_named=True,
        core=lambda progress: {"progress_by": progress},
    )
    posting: str = _option(
        "When messages of a stage are posted: together; ascending, together, and all ranks begin with the first one; "
        "sendrecv, one exchange after another; or transport, as that of each exchange of a program does.",
        "together",
        known=lambda: POSTINGS,
        label="when messages of a stage are posted",
        only_named=True,
        changes=_posted,
    )
    order: str = _option(
        "Order of packets that come to a switch at one time: ports (lowest first), or seed=N (at random); of several, "
        "like ports,seed=1..8, the spread of the times is shown.",
        PORTS,
        problems=_order_problems,
        label="order of packets that come to a switch at one time",
        only_named=True,
        split=each_order,
        core=lambda order: {"order_seed": seed_of(each_order(order)[0])},
    )
    transport: str | None = _option(
        "Transport within a node; needs a machine file from `tradewind calibrate`.", None, shown="memory bandwidth only"
    )
    packing: str | None = _option("Packing of that transport.", None, shown="buffer")
    threads: int | None = _option(
        "Threads per process.",
        None,
        minimum=1,
        maximum=256,
        shown="all cores",
        core=lambda threads: {"threads": threads},
    )
    timeline: str | None = _option(
        "Write a time line of the ranks: for Perfetto, or a picture (.svg, .png, .pdf, .html).", None
    )
    timeline_ranks: str | None = _option("Ranks on the time line, like 0:64 or 0,7,100:110.", None, shown="0:64")
    pairs: int = _option(
        "Keep the delays between this many blocks of ranks.",
        0,
        problems=_pairs_problems,
        on_command_line=False,
        core=lambda pairs: {"blocks": pairs},
    )
    skip: bool = _option(
        "Simulate all repetitions, also those that are the same as others.",
        True,
        flag="--full",
        negated=True,
        core=lambda skip: {"skip": skip},
    )


def options_of_simulations() -> Mapping[str, SimulationOption]:
    """Return the records of all options, by name."""
    return cast("Mapping[str, SimulationOption]", options_of(SimulationOptions))


def swept_options() -> Mapping[str, SimulationOption]:
    """Return those that are keys of sweeps, in the order in which the cases of a sweep differ."""
    return {name: each for name, each in options_of_simulations().items() if each.label}
