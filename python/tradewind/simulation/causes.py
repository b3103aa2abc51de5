"""Time of a program by cause: what goes away when the causes of waiting are taken away, one after another.

A step is simulated again on machines that lack one thing after another, each all that those before it lack, too. The
difference of two times is the cause between them, so that all causes add up to the time of the step:

- congestion: the time over that on an unloaded network, on which each message takes the latencies of its shortest path
  and the time of its narrowest link, after what the NIC of its node has sent before;
- bandwidth: what goes away when links and NICs are infinitely fast;
- latency: what goes away when latencies and the CPU time per message are none;
- pack: what goes away when copies take no time: within a node, of what comes before it is asked for, and of packing
  where a transport with measured costs is named;
- waiting for servers: what goes away when reading, writing and encoding files take no time;
- imbalance: what is left over the computation of a rank in the mean of all ranks that compute, noise of the operating
  system among it;
- compute: that mean.

The transfer efficiency of the POP project is a difference of the same kind, to an ideal network: Rosas, Giménez &
Labarta 2014, Scalability prediction for fundamental performance factors, doi:10.14529/jsfi140201.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tradewind import _core
from tradewind.base.file_work import NO_FILES
from tradewind.base.tables import Table
from tradewind.machine import MachineFile
from tradewind.simulation.checks import prepare
from tradewind.simulation.prepared import Simulation
from tradewind.simulation.progress import Watch
from tradewind.workload.program import ProgramWorkload
from tradewind.workload.workload import Workload

CAUSES = ("compute", "imbalance", "waiting for servers", "pack", "latency", "bandwidth", "congestion")
"""All causes, from what is left at the end to what is taken away first."""
ROOFS = ("memory bandwidth", "processors", "stated times")
"""Limits of a computation: bytes, flops, or times that the program itself has."""

_INFINITE = 1000e12
"""Bytes per second that count as infinite: the highest bandwidth that a machine can have."""
_NOTHING = 1e-12
"""Seconds that count as none: the simulator needs a latency to look ahead."""


@dataclass(frozen=True)
class Idealized:
    """Times of a program on machines that lack one cause of waiting after another."""

    time_s: list[float]
    """Times on the machine as it is, and without each cause, in the reverse order of `CAUSES`; the last one: without
    everything but computations, as they are on each rank."""
    computing_s: list[float]
    """[step] seconds of a rank in the mean."""
    roofs: list[str]
    """[step] one of `ROOFS`."""
    simulations: int
    """Number of simulations that this has taken."""


def idealized(workload: Workload, file: MachineFile, time_s: float, options: Mapping[str, Any]) -> Idealized:
    """Simulate a program on an unloaded network, and without one cause after another.

    `time_s`: its time on the machine as it is, with `options`, those of `tradewind.simulation.prepare`.
    """
    keep = {name: value for name, value in options.items() if name not in _NOT_REPEATED}
    times = [time_s]
    for change in _CHANGES:
        last = change(file, workload, keep)
        times.append(last.time_s())
    simulations = len(_CHANGES)
    if last.copies:
        last = replace(last, free_copies=True)
        simulations += 1
        times.append(last.time_s())
    else:
        times.append(times[-1])
    if isinstance(workload, ProgramWorkload) and workload.has_files:
        last = _without_files(file, workload, keep)
        simulations += 1
        times.append(last.time_s())
    else:
        times.append(times[-1])
    return Idealized(times, _computing(last), _roofs(workload, file, keep), simulations)


def simulate_unloaded(
    program: Workload, file: MachineFile, *, force: bool = False, progress: Watch | None = None, **options: Any
) -> dict[str, Any]:
    """Simulate a program on an unloaded network, which costs little; as `tradewind.simulation.simulate` does."""
    simulation = _unloaded(file, program, options)
    simulation.check_memory(force)
    return simulation.run(progress)


def by_cause(times: Sequence[float], compute_s: float) -> dict[str, float]:
    """Return the seconds of each cause, which add up to the first time; `times`: those of `Idealized`.

    Where a step takes longer without a cause, which a changed order of messages can bring about, that cause has none.
    """
    found: dict[str, float] = {}
    left = times[0]
    for name, time in zip(reversed(CAUSES[2:]), times[1:], strict=True):
        found[name] = left - min(left, time)
        left = min(left, time)
    found["imbalance"] = left - min(left, compute_s)
    found["compute"] = min(left, compute_s)
    return {name: found[name] for name in CAUSES}


_NOT_REPEATED = ("settings", "timeline", "timeline_ranks", "pairs", "order", "buffers", "packet")

Prepare = Callable[[MachineFile, Workload, Mapping[str, Any]], Simulation]


def _unloaded(file: MachineFile, workload: Workload, options: Mapping[str, Any]) -> Simulation:
    return replace(prepare(workload, file, **{**options, "buffers": "unbounded"}), unloaded=True)


def _fast(file: MachineFile, workload: Workload, options: Mapping[str, Any]) -> Simulation:
    return _unloaded(_with_bandwidth(file), workload, options)


def _immediate(file: MachineFile, workload: Workload, options: Mapping[str, Any]) -> Simulation:
    return _unloaded(_without_latency(_with_bandwidth(file)), workload, options)


def _without_copies(file: MachineFile, workload: Workload, options: Mapping[str, Any]) -> Simulation:
    return replace(_immediate(file, workload, options), free_copies=True)


_CHANGES: tuple[Prepare, ...] = (_unloaded, _fast, _immediate)


def _without_files(file: MachineFile, program: ProgramWorkload, options: Mapping[str, Any]) -> Simulation:
    without = program.with_computations(lambda compute, _: replace(compute, files=NO_FILES))
    return _without_copies(file, without, options)


def _with_bandwidth(file: MachineFile) -> MachineFile:
    machine = file.machine
    link_global = machine.link.global_.model_copy(update={"bandwidth": _INFINITE})
    link = machine.link.model_copy(update={"bandwidth": _INFINITE, "global_": link_global})
    nic = machine.nic.model_copy(update={"injection_bandwidth": _INFINITE, "ejection_bandwidth": _INFINITE})
    return replace(file, machine=machine.model_copy(update={"link": link, "nic": nic}))


def _without_latency(file: MachineFile) -> MachineFile:
    machine = file.machine
    link_global = machine.link.global_.model_copy(update={"latency": _NOTHING})
    link = machine.link.model_copy(update={"latency": _NOTHING, "global_": link_global})
    nic = machine.nic.model_copy(update={"latency": _NOTHING, "send_overhead": 0.0, "receive_overhead": 0.0})
    mpi = machine.mpi.model_copy(update={"connection_overhead": 0.0})
    return replace(file, machine=machine.model_copy(update={"link": link, "nic": nic, "mpi": mpi}))


def _computing(simulation: Simulation) -> list[float]:
    return _core.mean_computing_s(simulation.machine, simulation.program(), simulation.placement)


def _roofs(workload: Workload, file: MachineFile, options: Mapping[str, Any]) -> list[str]:
    """Return what limits each step: the rate that, twice as high, saves time."""
    memory = _faster(file, _MEMORY, ("bandwidth",))
    processors = _faster(file, _PROCESSORS, ("flops", "busy_flops"), ("point_time",))
    own, *others = (_computing(prepare(workload, each, **options)) for each in (file, memory, processors))
    return [
        ROOFS[0] if less < whole else ROOFS[1] if other < whole else ROOFS[2]
        for whole, less, other in zip(own, *others, strict=True)
    ]


def _faster(
    file: MachineFile, of_node: Sequence[str], of_kernels: Sequence[str], times: Sequence[str] = ()
) -> MachineFile:
    """Return the machine with some rates of its nodes and of its kernels twice as high, and some times half as long."""

    def scaled(table: Table, keys: Sequence[str], factor: float) -> dict[str, float]:
        return {key: factor * value for key in keys if (value := getattr(table, key)) is not None}

    node = file.machine.node
    kernels = {
        name: each.model_copy(update=scaled(each, of_kernels, 2.0) | scaled(each, times, 0.5))
        for name, each in file.machine.kernel.items()
    }
    changed = {"node": node.model_copy(update=scaled(node, of_node, 2.0)), "kernel": kernels}
    return replace(file, machine=file.machine.model_copy(update=changed))


_MEMORY = ("memory_bandwidth", "flow_memory_bandwidth")
_PROCESSORS = ("flops", "core_flops")
