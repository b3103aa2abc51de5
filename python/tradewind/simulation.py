"""How long an exchange takes on a machine: packet by packet, or by the LogGP formula."""

from __future__ import annotations

import csv
import os
import resource
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind import _core, memory, units
from tradewind.congestion import group_shares, link_bandwidths, link_shares, loads_of
from tradewind.errors import InputError, gathered
from tradewind.exchange import Exchange, Workload, unknown
from tradewind.machine import Machine, MachineFile, load_machine
from tradewind.program import Program
from tradewind.steady import Repetitions, first_of, run_until_steady
from tradewind.trace.ranks import ranks_shown
from tradewind.ways import DEFAULT_PACKING, DEFAULT_TRANSPORT

if TYPE_CHECKING:
    from mpi4py import MPI

MODELS = ("packet", "loggp")
BUFFERS = ("credits", "unbounded")
"""Of switches: finite, and a packet waits until the next one has room; or as large as need be."""
PROTOCOLS = ("send", "put")
"""Messages are sent, and long ones announced first where the machine has an eager limit; or put into the memory of
their receivers, whose CPUs have nothing to do with it."""
PLACEMENTS = tuple(_core.placements())
PICTURE_BLOCKS = 64
"""Blocks of ranks in a picture of their delays, unless another number is asked for; fewer of fewer ranks."""


@dataclass(frozen=True)
class Progress:
    """How far a simulation is."""

    simulated_s: float
    fraction: float
    """Of all bytes, those that have arrived."""
    packet_hops: float
    """So far."""
    wall_s: float
    """Since it began."""

    @property
    def packet_hops_per_s(self) -> float:
        return self.packet_hops / self.wall_s if self.wall_s > 0 else 0.0

    @property
    def to_go_s(self) -> float | None:
        """Wall time until the end, if it goes on as so far; None before anything has arrived."""
        return self.wall_s * (1 - self.fraction) / self.fraction if self.fraction > 0 else None

    @property
    def text(self) -> str:
        """For a reader, in one line."""
        left = "" if self.to_go_s is None else f", {units.format_seconds(self.to_go_s)} to go"
        rate = units.format_count(self.packet_hops_per_s)
        return f"simulated {units.format_seconds(self.simulated_s)}, {rate} packet-hops/s{left}"


Watch = Callable[[Progress], None]
"""Called now and then while a simulation runs; what it raises ends the simulation."""


def model_version(machine: MachineFile, ranks_per_node: int, steady: bool = False) -> int:
    """Goes up whenever the same inputs give other times: a study then simulates its cases again.

    Of the parts of the model that a case uses: those who share a NIC, several ranks of a node or a rank and the
    messages that others have asked it for, take turns in the order in which they ask only since 3; repetitions that
    are simulated until they are steady are simulated in one go only since 4.
    """
    if steady:
        return 4
    shares = ranks_per_node > 1 or machine.machine.mpi.eager_limit is not None
    return 3 if shares else 2


HOPS_PER_SECOND = 12e6
"""Packet-hops that one thread is expected to simulate in a second, for forecasts; benchmarks/ measures it."""


@dataclass(frozen=True)
class Simulation:
    """One simulation, checked and ready to run. `prepare` makes it."""

    exchange: Workload | Program
    file: MachineFile
    machine: _core.Machine
    placement: _core.Placement
    model: str
    packet_bytes: int
    """0: one packet a message."""
    threads: int
    seed: int
    buffers: str = "credits"
    protocol: str = "send"
    pairs: int = 0
    """Blocks of ranks by whose pairs delays are kept; 0: they are not."""
    carriage: _core.Carriage | None = None
    """How messages are carried within a node, where a transport is named."""
    way: tuple[str, str] | None = None
    """That transport, and the packing."""
    peers: _core.Peers | None = None
    """The processes that share it; see `tradewind.processes`."""
    timeline: Path | None = None
    """A file for a time line."""
    shown: tuple[int, ...] = ()
    """Ranks of it."""

    def _arguments(self) -> tuple[_core.Machine, _core.Program, _core.Placement, _core.SimulationOptions]:
        early: dict[str, Any] = {}
        if isinstance(self.exchange, Repetitions):
            early = {
                "turn_steps": len(self.exchange.one()),
                "asked": self.exchange.asked,
                "enough": self.exchange.enough,
            }
        options = _core.SimulationOptions(
            packet_bytes=self.packet_bytes,
            threads=self.threads,
            seed=self.seed,
            finite_buffers=self.buffers == "credits",
            one_sided=self.protocol == "put",
            blocks=self.pairs,
            shown=self.shown,
            peers=self.peers,
            carriage=self.carriage,
            **early,
        )
        return self.machine, self.program(), self.placement, options

    def program(self) -> _core.Program:
        """What the core simulates."""
        return _core.Program([step.core() for step in self.exchange.steps()], self.exchange.bytes_per_point)

    def forecast(self) -> dict[str, float]:
        """What the run will cost: messages, packet_hops, memory_bytes, wall_s (from a sample of the ranks)."""
        cost = _core.forecast(*self._arguments())
        events = cost.packet_hops if self.model == "packet" else cost.messages
        return {
            "messages": cost.messages,
            "packet_hops": cost.packet_hops if self.model == "packet" else 0.0,
            "memory_bytes": cost.memory_bytes,
            "wall_s": events / (HOPS_PER_SECOND * (1 + 0.7 * (self.threads - 1))),
        }

    def check_memory(self, force: bool = False, share: float = 1) -> None:
        """Refuses what the memory of this computer cannot hold, of its share, unless forced."""
        if not force:
            needed = share * self.forecast()["memory_bytes"]
            memory.require("this simulation", needed, "name fewer ranks, a larger packet, or force it")

    def run(
        self, progress: Watch | None = None, links: Path | None = None, congestion: bool | str | Path = False
    ) -> dict[str, Any]:
        """Runs it; see `simulate` for the answer and for what the arguments ask for beside it."""
        if (links is not None or congestion) and self.model != "packet":
            raise InputError("loads of links: only the packet model knows links")
        if not isinstance(congestion, bool) and not self.pairs:
            return replace(self, pairs=min(self.exchange.ranks, PICTURE_BLOCKS)).run(progress, links, congestion)
        begin = time.perf_counter()
        result = self._simulated(progress)
        wall_s = time.perf_counter() - begin
        if links is not None:
            write_link_loads(links, result, self.machine.topology, self.file.machine)
        answer = (
            self.inputs()
            | _figures(result, self.exchange, self.model)
            | {
                "wall_s": wall_s,
                "packet_hops_per_s": result.packet_hops / wall_s,
                "peak_rss_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            }
            | ({"delay_pairs": self._pairs(result)} if self.pairs else {})
        )
        if self.timeline is not None:
            self._save_time_line(self.timeline, result)
            answer["timeline"] = str(self.timeline)
        return answer | self._congestion(result, answer, congestion) if congestion else answer

    def _congestion(
        self, result: _core.SimulationResult, answer: dict[str, Any], wanted: bool | str | Path
    ) -> dict[str, Any]:
        """What links did and when packets waited; with a folder wanted, also as pictures."""
        topology, machine = self.machine.topology, self.file.machine
        loads = loads_of(result, topology, machine)
        found: dict[str, Any] = {"congestion": link_shares(loads), "delay_over_time": _over_time(result)}
        groups = group_shares(loads, topology, machine)
        if groups is not None:
            found["congestion"]["groups"] = groups
        if not isinstance(wanted, bool):
            from tradewind.plot.congestion import save_pictures

            pictures = save_pictures(Path(wanted), answer | found, self.file, loads)
            found["pictures"] = [str(path) for path in pictures]
        return found

    def _save_time_line(self, path: Path, result: _core.SimulationResult) -> None:
        from tradewind.trace.files import save
        from tradewind.trace.simulated import time_line

        title = f"{self.exchange.name} on {self.exchange.ranks} ranks of {self.file.name}, simulated"
        steps = [step.core() for step in self.exchange.steps()]
        save(time_line(result.acts, steps, title), path)

    def take_part(self) -> dict[str, Any]:
        """Does the share of a process that does not answer."""
        self._simulated(None)
        return {}

    def _simulated(self, progress: Watch | None) -> _core.SimulationResult:
        try:
            arguments, report = self._arguments(), memory.while_it_lasts(self._reporter(progress) if progress else None)
        except BaseException:
            if self.peers is not None:
                self.peers.refuse()  # the others would wait
            raise
        run: Callable[..., _core.SimulationResult] = (
            _core.simulate_packets if self.model == "packet" else _core.simulate_loggp
        )
        return run(*arguments, report)

    def _pairs(self, result: _core.SimulationResult) -> list[list[float]]:
        """Mean delays (s), [source block][destination block]; 0 where nothing was sent."""
        packets, delay = np.asarray(result.delay_pairs).T
        blocks = round(len(packets) ** 0.5)
        mean: list[list[float]] = (delay / np.maximum(packets, 1)).reshape(blocks, blocks).tolist()
        return mean

    def _reporter(self, progress: Watch) -> Callable[..., None]:
        """What the core calls now and then."""
        total, begin = max(1.0, _core.forecast(*self._arguments()).bytes), time.perf_counter()
        parts = [1.0]  # of the whole, after which it may end
        if isinstance(self.exchange, Repetitions):
            parts = [*(number / self.exchange.exchange.times for number in self.exchange.asked), 1.0]

        def report(simulated_s: float, arrived: int, packet_hops: int) -> None:
            ahead = next((part for part in parts if arrived < part * total), 1.0)
            fraction = min(1.0, arrived / (ahead * total))
            progress(Progress(simulated_s, fraction, packet_hops, time.perf_counter() - begin))

        return report

    def inputs(self) -> dict[str, Any]:
        """What an answer begins with."""
        packet = {
            "packet_bytes": self.packet_bytes or "message",
            "buffers": self.buffers,
            "protocol": self.protocol,
            "routing": self.machine.routing,
        }
        return {
            **self.exchange.as_dict(),
            "model": self.model,
            "machine": self.file.name,
            "topology": self.machine.topology.describe(),
            **(packet if self.model == "packet" else {}),
            **({"transport": self.way[0], "packing": self.way[1]} if self.way else {}),
            **({"split_imbalance": self.exchange.imbalance()} if isinstance(self.exchange, Exchange) else {}),
            "processes": self.peers.processes if self.peers else 1,
            "threads": self.threads,
            "seed": self.seed,
        }


def prepare(
    exchange: Workload | Program,
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
) -> Simulation:
    """Checks all that a simulation needs. Raises InputError with every problem at once.

    `timeline`: a file for what ranks do when; `timeline_ranks` says which (see `tradewind.trace.ranks`).
    `transport`, `packing` (its default where only a transport is named): how messages are carried within a node, and
    what they cost the CPUs, of a machine whose file says so; None: by the node's memory bandwidth alone.
    """
    problems = [
        unknown(what, name, known)
        for what, name, known in (
            ("model", model, MODELS),
            ("placement", placement, PLACEMENTS),
            ("kind of buffers", buffers, BUFFERS),
            ("protocol", protocol, PROTOCOLS),
        )
        if name not in known
    ]
    problems += _out_of_range(pairs, threads, seed, ranks_per_node)
    can_be_placed = not problems
    line = None if timeline is None else Path(timeline)
    shown: tuple[int, ...] = ()
    with gathered(problems):
        shown = ranks_shown(line, timeline_ranks, exchange.ranks, model)
    packet_bytes: int | None = None
    with gathered(problems):
        packet_bytes = _packet_bytes(packet)
    file = built = place = carriage = None
    way = _way(transport, packing)
    if way is not None and model != "packet":
        problems.append(f"transport {way[0]}: only the packet model knows transports, not {model}")
    with gathered(problems):
        file = machine if isinstance(machine, MachineFile) else load_machine(machine, settings)
        built = file.machine.build(routing)
        if packet is None:
            packet_bytes = file.machine.packet.size
        if way is not None:
            carriage = file.machine.carries(*way, exchange.element_bytes)
        if model == "packet" and buffers == "credits":
            problems += _no_room(packet_bytes, built.buffer)
        if can_be_placed:
            split = exchange.split or (0, 0)
            place = _core.Placement(placement, exchange.ranks, ranks_per_node, built.nodes, seed, split)
    if problems or file is None or built is None or place is None or packet_bytes is None:
        raise InputError(*problems)
    threads = threads or usable_cores()
    return Simulation(
        exchange,
        file,
        built,
        place,
        model,
        packet_bytes,
        threads,
        seed,
        buffers,
        protocol,
        pairs,
        carriage,
        way,
        None,
        line,
        shown,
    )


def _way(transport: str | None, packing: str | None) -> tuple[str, str] | None:
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
    """What an option asks for; 0 for one packet a message, or where nothing is asked for. Raises InputError."""
    if packet in (None, "message"):
        return 0
    try:
        size = units.byte_count(packet)
    except InputError as error:
        raise InputError(f"packet {error}") from None
    if not 1 <= size <= _core.largest_packet:
        raise InputError(f"packet {packet!r}: 1B to 128MiB are allowed, or 'message' for one packet a message")
    return size


def _no_room(packet_bytes: int | None, buffer_bytes: int) -> list[str]:
    """Why a packet cannot wait in a buffer."""
    if packet_bytes is None or packet_bytes <= buffer_bytes:
        return []
    return [
        f"a packet of {units.format_bytes(packet_bytes)} does not fit a buffer of "
        f"{units.format_bytes(buffer_bytes)}: name a smaller packet, a larger switch.buffer, or unbounded buffers"
    ]


def simulate(
    exchange: Workload | Program,
    machine: str | Path | MachineFile,
    *,
    progress: Watch | None = None,
    links: Path | None = None,
    congestion: bool | str | Path = False,
    steady: bool = False,
    force: bool = False,
    comm: MPI.Intracomm | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Simulates an exchange on a machine.

    Options as in `prepare`. What the memory of this computer cannot hold is refused unless forced. `links`: a CSV file
    for the load of every link and NIC (see `write_link_loads`). `congestion`: also answer the busy shares of the links
    between switches (see `tradewind.congestion`) and the delays over time; a folder: also draw them there, and the
    delays between 64 blocks of ranks if `pairs` names no other number (see `tradewind.plot.congestion`).
    `timeline`: a file for what ranks do when, for Perfetto or, with the suffix svg, png, pdf or html, as a picture;
    ``timeline_ranks="0:64"`` says which (see `tradewind.trace`).
    `steady`: of an exchange that is repeated, simulate only so many repetitions that the time of all can be reckoned
    from them (see `tradewind.steady`). `progress`: see `Watch`.
    `comm`: a communicator of mpi4py, whose processes all call this and share the simulation; all have the answer,
    process 0 alone tells of progress (see `tradewind.processes`).

    Returns a dictionary of plain values: the inputs, and ``time_s`` (until the last rank is done), ``step_time_s`` (of
    each slab or step, from the end of the one before), ``messages``, ``bytes``, ``packet_hops`` (one packet through
    one port, injection and ejection included), ``bound_s`` (what the most loaded link or NIC needs for its bytes, and
    ``bound_by`` which), ``imbalance`` (most loaded over mean of the links in use), ``delay`` (histogram of packets by
    arrival minus arrival on an empty network), ``wall_s``, ``peak_rss_bytes``. With `pairs`, also ``delay_pairs``: of
    so many blocks of ranks, [source block][destination block], the mean delay in seconds. Raises InputError.
    """

    processes = None
    if comm is not None:
        from tradewind.processes import Processes

        processes = Processes(comm)
        if options.get("threads") is None:
            options["threads"] = processes.threads

    def run(workload: Workload | Program) -> dict[str, Any]:
        if processes is not None:
            simulation = processes.agree(lambda: prepare(workload, machine, **options))
            return processes.run(simulation, progress, force, links=links, congestion=congestion)
        simulation = prepare(workload, machine, **options)
        simulation.check_memory(force)
        return simulation.run(progress, links, congestion)

    return run_until_steady(exchange, run) if steady else run(exchange)


def forecast(
    exchange: Workload | Program,
    machine: str | Path | MachineFile,
    *,
    congestion: bool | str | Path = False,
    steady: bool = False,
    **options: Any,
) -> dict[str, float]:
    """What `simulate` with the same arguments will cost: messages, packet_hops, memory_bytes, wall_s.

    Of a steady simulation, what the repetitions cost that are simulated in any case.
    """
    return prepare(first_of(exchange) if steady else exchange, machine, **options).forecast()


def write_link_loads(path: Path, result: _core.SimulationResult, topology: _core.Topology, machine: Machine) -> None:
    """Writes the load of every link and NIC that was used, one a line of a CSV file.

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
    part = path.with_name(path.name + ".part")
    try:
        with part.open("w", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(("kind", "from_switch", "from_port", "to_switch", "to_port", "node", "bytes", "busy_s"))
            writer.writerows((*row, row[-1] / bandwidths[row[0]]) for row in rows)
        part.replace(path)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None


def usable_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))


def _figures(result: _core.SimulationResult, exchange: Workload | Program, model: str) -> dict[str, Any]:
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
        "messages": result.messages,
        "bytes": result.bytes,
    }
    if model == "packet":
        figures |= {
            "packet_hops": result.packet_hops,
            "bound_s": result.bound_s,
            "bound_by": result.bound_by,
            "imbalance": result.imbalance,
            "delay": _delay(result.delay_counts),
        }
    return figures


def _over_time(result: _core.SimulationResult) -> dict[str, Any]:
    """Packets that arrived, and their mean delay, in bins of equal time from the start."""
    packets, delay = np.asarray(result.delay_series).T
    used = int(np.nonzero(packets)[0][-1]) + 1 if packets.any() else 0
    means = delay[:used] / np.maximum(packets[:used], 1)
    return {"bin_s": result.delay_bin_s, "packets": packets[:used].tolist(), "mean_delay_s": means.tolist()}


def _delay(counts: list[int]) -> dict[str, list[float]]:
    """The histogram without the empty bins at its end; edges are one more than counts."""
    used = max((i + 1 for i, count in enumerate(counts) if count), default=1)
    return {
        "edges_s": [_core.delay_lower_edge_s(i) for i in range(used + 1)],
        "counts": [float(c) for c in counts[:used]],
    }
