"""A simulation that is checked and ready to run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradewind import _core
from tradewind.base import memory
from tradewind.base.errors import InputError, VerificationError
from tradewind.base.files import check_folder, check_target
from tradewind.base.noise import ARRIVALS, Noise
from tradewind.machine import MachineFile
from tradewind.machine.link_loads import group_shares, link_shares, loads_of
from tradewind.method.method import DEFAULT_TRANSPORT
from tradewind.simulation.coarseness import coarse_packets
from tradewind.simulation.energy import Held, energy_of, usage_of
from tradewind.simulation.outcome import LOADS, figures_of, mean_delays, over_time, write_link_loads
from tradewind.simulation.progress import Progress, Watch
from tradewind.verification.order import check_order
from tradewind.workload.exchange import Exchange
from tradewind.workload.packet_order import PORTS
from tradewind.workload.program import ProgramWorkload
from tradewind.workload.repetitions import Repetitions
from tradewind.workload.simulation_options import SimulationOptions, options_of_simulations
from tradewind.workload.workload import Workload

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PICTURE_BLOCKS = 64
"""Blocks of ranks in a picture of their delays, unless another number is asked for; fewer of fewer ranks."""
HOPS_PER_SECOND = 12e6
"""Packet-hops that one thread is expected to simulate in a second, for forecasts; benchmarks/ measures it."""
HOPS_OF_PACKET = 5.0
"""Ports that a packet goes through in the replay of a trace, for the same."""
BYTES_OF_CALL, BYTES_OF_MESSAGE = 72.0, 24.0
"""Memory of a call of a trace, with the time at which it ends, and of the times of a message."""


@dataclass(frozen=True)
class Cost:
    """Estimates of what a simulation asks for."""

    messages: float
    bytes: float
    packet_hops: float
    memory_bytes: float


def model_version(machine: MachineFile, ranks_per_node: int, steady: bool = False, routing: str | None = None) -> int:
    """Goes up whenever the same inputs give other times: a study then simulates its cases again.

    Of the parts of the model that a case uses: those who share a NIC, several ranks of a node or a rank and the
    messages that others have asked it for, take turns in the order in which they ask only since 3; repetitions that
    are simulated until they are steady are simulated in one go only since 4; where the machine says how transports
    carry messages, reductions that are not gathered count as if they were only since 5; ugal-sst71 (as `routing`, or
    the machine's own) decides as SST/macro 7.1 does only since 6.
    """
    if (routing or machine.machine.routing) == "ugal-sst71":
        return 6
    if machine.machine.intranode:
        return 5
    if steady:
        return 4
    shares = ranks_per_node > 1 or machine.machine.mpi.eager_limit is not None
    return 3 if shares else 2


@dataclass(frozen=True)
class Simulation:
    """One simulation, checked and ready to run. `prepare` makes it."""

    exchange: Workload
    file: MachineFile
    machine: _core.Machine
    placement: _core.Placement
    options: SimulationOptions
    """As they were asked for, with the number of threads."""
    packet_bytes: int
    """0: one packet per message."""
    orders: tuple[str, ...] = (PORTS,)
    """Orders of packets that come to a switch at one time; the result is that of the first; see `prepare`."""
    shown: tuple[int, ...] = ()
    """Ranks of the time line."""
    intranode: _core.IntranodeTransport | None = None
    """Transport model within a node, if a transport is named."""
    method: tuple[str, str] | None = None
    """That transport, and the packing."""
    noise: Noise | None = None
    """Detours of the CPUs."""
    held: Held = field(default_factory=Held)
    peers: _core.Peers | None = None
    """The processes that share it; see `tradewind.simulation.processes`."""
    unloaded: bool = False
    """Whether messages are never in the way of others in the network; see `tradewind.simulation.causes`."""
    free_copies: bool = False
    """Whether copies take no time."""

    @property
    def model(self) -> str:
        """Name of the network model."""
        return self.options.model

    @property
    def threads(self) -> int:
        """Number of threads of this process."""
        return self.options.threads or 1

    def with_options(self, **changed: Any) -> Simulation:
        """Return the same with other values of options."""
        return replace(self, options=replace(self.options, **changed))

    def _arguments(self) -> tuple[_core.Machine, _core.Program, _core.Placement, _core.SimulationOptions]:
        arguments: dict[str, Any] = {}
        if isinstance(self.exchange, Repetitions):
            arguments = {
                "repetition_steps": len(self.exchange.one()),
                "asked": self.exchange.asked,
                "enough": self.exchange.enough,
            }
        for name, each in options_of_simulations().items():
            if each.core is not None:
                arguments |= each.core(getattr(self.options, name))
        options = _core.SimulationOptions(
            packet_bytes=self.packet_bytes,
            shown=self.shown,
            peers=self.peers,
            intranode=self.intranode,
            **_detours(self.noise),
            unloaded=self.unloaded,
            free_copies=self.free_copies,
            **arguments,
        )
        return self.machine, self.program(), self.placement, options

    def program(self) -> _core.Program:
        """Return the program for the core."""
        return self._program

    @cached_property
    def _program(self) -> _core.Program:
        return self.changed.core()

    @cached_property
    def changed(self) -> Workload:
        """The workload as options change it: in its posting order."""
        workload = self.exchange
        for name, each in options_of_simulations().items():
            if each.changes is not None:
                workload = each.changes(workload, getattr(self.options, name))
        return workload

    @cached_property
    def _cost(self) -> Cost:
        """Estimate the cost of the run from a sample of ranks, or of the calls of a trace from their messages."""
        if (calls := self.exchange.calls) is not None:
            packets = calls.messages + calls.bytes / (self.packet_bytes or _core.largest_packet)
            held = BYTES_OF_CALL * calls.calls + BYTES_OF_MESSAGE * calls.messages
            return Cost(calls.messages, calls.bytes, HOPS_OF_PACKET * packets, held)
        cost = _core.forecast(*self._arguments())
        return Cost(cost.messages, cost.bytes, cost.packet_hops, cost.memory_bytes)

    def forecast(self, processes: int = 1) -> dict[str, float]:
        """Estimate the cost of the run on `processes` processes: messages, packet_hops, memory_bytes, wall_s."""
        cost = self._cost
        events = cost.packet_hops if self.model == "packet" else cost.messages
        return {
            "messages": cost.messages,
            "packet_hops": cost.packet_hops if self.model == "packet" else 0.0,
            "memory_bytes": cost.memory_bytes,
            "wall_s": len(self.orders) * events / (HOPS_PER_SECOND * (1 + 0.7 * (self.threads * processes - 1))),
        }

    def coarseness(self) -> str | None:
        """Warning that packets are so coarse that the time misleads, and the size to use instead; None without one."""
        own = self.file.machine.packet.size
        if self.model != "packet" or self.packet_bytes == own:
            return None
        cost = self._cost
        if not cost.messages:
            return None
        channel, output, _ = self.machine.buffer_sizes
        buffer = None if self.options.buffers == "unbounded" else min(channel, output or channel)
        kind = self.file.machine.topology.kind
        return coarse_packets(self.packet_bytes, own, cost.bytes / cost.messages, buffer, kind, self.machine.routing)

    def check_memory(self, force: bool = False, share: float = 1) -> None:
        """Refuses what the memory of this computer cannot hold, of its share, unless forced."""
        if not force:
            needed = share * self.forecast()["memory_bytes"]
            memory.require("this simulation", needed, "name fewer ranks, a larger packet, or force it")

    def check_files(self, links: Path | None = None, congestion: bool | str | Path = False) -> None:
        """Raises InputError for what `run` could not write, before it begins."""
        if links is not None:
            check_target(links, LOADS)
        if not isinstance(congestion, bool):
            check_folder(Path(congestion), "pictures in")

    def run(
        self, progress: Watch | None = None, links: Path | None = None, congestion: bool | str | Path = False
    ) -> dict[str, Any]:
        """Runs it; see `simulate` for the result and for what the arguments ask for beside it."""
        if (links is not None or congestion) and self.model != "packet":
            raise InputError("loads of links: only the packet model knows links")
        if not isinstance(congestion, bool) and not self.options.pairs:
            blocks = min(self.exchange.ranks, PICTURE_BLOCKS)
            return self.with_options(pairs=blocks).run(progress, links, congestion)
        if self.peers is None:  # else all of them have checked, and raise together
            self.check_files(links, congestion)
        begin = time.perf_counter()
        result = self._simulated(self._watch(progress, begin))
        wall_s = time.perf_counter() - begin
        if links is not None:
            write_link_loads(links, result, self.machine.topology, self.file.machine)
        carried = result.carried_bytes if self.model == "packet" else None
        own = self.exchange.figures(result)
        usage = usage_of(self.machine, self._busy_s(result, own), self.placement, self.held, carried)
        figures = (
            self.inputs()
            | figures_of(result, self.exchange, self.model, self.file.machine.mpi.unexpected_bandwidth is not None)
            | own
            | energy_of(self.file.machine.power, usage, result.time_s)
            | {
                "usage": usage,
                "wall_s": wall_s,
                "packet_hops_per_s": result.packet_hops / wall_s,
                "peak_rss_bytes": memory.peak_rss_bytes(),
            }
            | ({"delay_pairs": mean_delays(result)} if self.options.pairs else {})
        )
        if self.options.timeline is not None:
            self._save_time_line(Path(self.options.timeline), result)
            figures["timeline"] = str(Path(self.options.timeline))
        if others := self._others():
            times = [
                other._simulated(self._watch(progress, begin, done, result.packet_hops)).time_s
                for done, other in enumerate(others, 1)
            ]
            figures["order_time_s"] = dict(zip(self.orders, [figures["time_s"], *times], strict=True))
        return figures | self._congestion(result, figures, congestion) if congestion else figures

    def _busy_s(self, result: _core.SimulationResult, own: dict[str, Any]) -> tuple[float, float, float]:
        """Return the seconds that ranks compute: of all, and of those with the least and the most.

        `own`: figures of the workload, from which those of a trace are taken. Noise makes them what the run has met.
        """
        of_calls: tuple[float, float, float] | None = own.pop("busy_s", None)
        if found := of_calls or result.busy_s:
            return found
        return _core.busy_time_s(self.machine, self.program(), self.placement, self.options.seed)

    def _congestion(
        self, result: _core.SimulationResult, figures: dict[str, Any], wanted: bool | str | Path
    ) -> dict[str, Any]:
        """Return the loads of links and the delays of packets; draw them if a folder is given."""
        topology, machine = self.machine.topology, self.file.machine
        loads = loads_of(result, topology, machine)
        found: dict[str, Any] = {"congestion": link_shares(loads), "delay_over_time": over_time(result)}
        groups = group_shares(loads, topology, machine)
        if groups is not None:
            found["congestion"]["groups"] = groups
        if not isinstance(wanted, bool):
            from tradewind.plot.congestion import save_pictures

            pictures = save_pictures(Path(wanted), figures | found, self.file, loads)
            found["pictures"] = [str(path) for path in pictures]
        return found

    def _save_time_line(self, path: Path, result: _core.SimulationResult) -> None:
        from tradewind.replay.workload import TraceWorkload
        from tradewind.timeline.files import save
        from tradewind.timeline.simulated import time_line
        from tradewind.timeline.simulated_order import time_line_of_order

        title = f"{self.exchange.name} on {self.exchange.ranks} ranks of {self.file.name}, simulated"
        workload = self.changed
        if isinstance(workload, TraceWorkload):
            save(workload.time_line(result, self.shown, title), path)
            return
        steps = workload.steps()
        if isinstance(workload, ProgramWorkload) and workload.order is not None:
            exchanges, names = [each.name for each in workload.exchanges], [step.name for step in steps]
            line = time_line_of_order(result.trace_events, workload.order, exchanges, names, title)
        else:
            line = time_line(result.trace_events, [step.core() for step in steps], title)
        save(line, path)

    def _others(self) -> list[Simulation]:
        """The simulations of all orders but the first, of which nothing but the time is asked."""
        alone = replace(self.with_options(pairs=0), shown=())
        return [replace(alone.with_options(order=order), orders=(order,)) for order in self.orders[1:]]

    def _watch(self, progress: Watch | None, begin: float, done: int = 0, hops: int = 0) -> Watch | None:
        """Report one simulation as a part of those of all orders, `done` of which, of `hops` each, are complete."""
        if progress is None:
            return None
        return lambda now: progress(
            replace(
                now,
                fraction=(done + now.fraction) / len(self.orders),
                packet_hops=done * hops + now.packet_hops,
                wall_s=time.perf_counter() - begin,
            )
        )

    def time_s(self) -> float:
        """Run it and return its time alone."""
        return self._simulated(None).time_s

    def trace_events(self) -> NDArray[np.int64]:
        """Run it and return the trace events of the ranks that are shown; see ``SimulationResult.trace_events``."""
        return self._simulated(None).trace_events

    def take_part(self) -> dict[str, Any]:
        """Does the share of a process that does not return the result."""
        for each in (self, *self._others()):
            each._simulated(None)
        return {}

    def _simulated(self, progress: Watch | None) -> _core.SimulationResult:
        try:
            arguments, report = self._arguments(), self._reporter(progress) if progress else None
            if self.model == "packet":  # loggp takes no memory for messages
                report = memory.while_it_lasts(report)
        except BaseException:
            if self.peers is not None:
                self.peers.refuse()  # the others would wait
            raise
        run: Callable[..., _core.SimulationResult] = (
            _core.simulate_packets if self.model == "packet" else _core.simulate_loggp
        )
        if (calls := self.exchange.calls) is not None:
            built, _, placement, options = arguments
            return _core.simulate_calls(built, calls, placement, options, report)
        try:
            return run(*arguments, report)
        except VerificationError:  # ranks wait for each other
            if isinstance(self.changed, ProgramWorkload) and self.changed.order is not None:
                check_order(self.changed, [DEFAULT_TRANSPORT])  # says which, and in what
            raise

    def _reporter(self, progress: Watch) -> Callable[..., None]:
        """Return a callback for the core."""
        total, begin = max(1.0, self._cost.bytes), time.perf_counter()
        parts = [1.0]  # of the whole, after which it may end
        if isinstance(self.exchange, Repetitions):
            parts = [*(number / self.exchange.exchange.times for number in self.exchange.asked), 1.0]

        def report(simulated_s: float, arrived: int, packet_hops: int) -> None:
            ahead = next((part for part in parts if arrived < part * total), 1.0)
            fraction = min(1.0, arrived / (ahead * total))
            progress(Progress(simulated_s, fraction, packet_hops, time.perf_counter() - begin))

        return report

    def inputs(self) -> dict[str, Any]:
        """Return the first values of a result."""
        options, known = self.options, options_of_simulations()
        changes = {name: getattr(options, name) for name, each in known.items() if each.changes is not None}
        packet = {
            "packet_bytes": self.packet_bytes or "message",
            "buffers": options.buffers,
            "routing": self.machine.routing,
        }
        return {
            **self.exchange.as_dict(),
            "model": options.model,
            "machine": self.file.name,
            **({"settings": dict(self.file.settings)} if self.file.settings else {}),
            "topology": self.machine.topology.describe(),
            "protocol": options.protocol,
            **(packet if options.model == "packet" else {}),
            **({"transport": self.method[0], "packing": self.method[1]} if self.method else {}),
            **{name: value for name, value in changes.items() if value != known[name].default},
            **({"noise": self.noise.text} if self.noise else {}),
            **({"background": options.background} if options.background else {}),
            **({"order": self.orders[0]} if self.orders != (PORTS,) else {}),
            **({"split_imbalance": self.exchange.imbalance()} if isinstance(self.exchange, Exchange) else {}),
            "processes": self.peers.processes if self.peers else 1,
            "threads": options.threads,
            "seed": options.seed,
        }


def _detours(noise: Noise | None) -> dict[str, Any]:
    """Return the arguments of the core's options for noise."""
    if noise is None:
        return {}
    return {
        "noise_period_s": 1 / noise.frequency_hz,
        "noise_duration_s": noise.duration_s,
        "noise_scattered": noise.arrival != ARRIVALS[0],
    }
