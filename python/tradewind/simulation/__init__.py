"""Simulated time of an exchange on a machine: packet by packet, or by the LogGP formula."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradewind.base.errors import PacketWarning
from tradewind.base.result import Result
from tradewind.machine import MachineFile, load_machine
from tradewind.simulation.checks import prepare, usable_cores
from tradewind.simulation.energy import with_energy
from tradewind.simulation.outcome import write_link_loads
from tradewind.simulation.prepared import Simulation, model_version
from tradewind.simulation.progress import Progress, Watch
from tradewind.simulation.steady import run_until_steady
from tradewind.workload.repetitions import first_of
from tradewind.workload.workload import Workload

if TYPE_CHECKING:
    from mpi4py import MPI

__all__ = [
    "Progress",
    "Simulation",
    "Watch",
    "forecast",
    "model_version",
    "prepare",
    "simulate",
    "usable_cores",
    "write_link_loads",
]


def simulate(
    exchange: Workload,
    machine: str | Path | MachineFile,
    *,
    progress: Watch | None = None,
    links: Path | None = None,
    congestion: bool | str | Path = False,
    steady: bool | float = False,
    force: bool = False,
    comm: MPI.Intracomm | None = None,
    warn: bool = True,
    **options: Any,
) -> dict[str, Any]:
    """Simulate an exchange on a machine.

    Options as in `prepare`. A simulation that needs more memory than this computer has is refused unless `force`.
    `links`: a CSV file for the load of every link and NIC (see `write_link_loads`). `congestion`: also return the
    share of time that links are busy (see `tradewind.machine.link_loads`) and the delays over time; with a folder,
    also draw them there, with the delays between 64 blocks of ranks if `pairs` names no other number (see
    `tradewind.plot.congestion`). `timeline`: a file for the time line of the ranks ``timeline_ranks="0:64"``, for
    Perfetto or, with the suffix svg, png, pdf or html, as a picture (see `tradewind.timeline`). `steady`: of an
    exchange that is repeated, simulate only the first repetitions and extrapolate the time of all, to 0.5 % or to this
    fraction (see `tradewind.workload.repetitions`). `progress`: see `Watch`. `comm`: a communicator of mpi4py whose
    processes all call this and share the simulation; all return the result, and process 0 reports progress (see
    `tradewind.simulation.processes`). Unless not to `warn`, warns (PacketWarning, once) of packets so coarse that the
    time misleads.

    Returns a dictionary of plain values: the inputs, and ``time_s`` (until the last rank is done), ``step_time_s`` (of
    each slab or step, from the end of the one before), ``messages``, ``bytes``, ``packet_hops`` (one packet through
    one port, injection and ejection included), ``bound_s`` (the time of the busiest link or NIC for its bytes;
    ``bound_by`` names its kind), ``imbalance`` (maximum over mean load of the links in use), ``delay`` (histogram of
    packets by arrival minus arrival on an empty network), ``wall_s``, ``peak_rss_bytes``; ``energy_j`` and more where
    the machine file has power, else ``no_energy``, the reason (see `tradewind.simulation.energy`). With `pairs`, also
    ``delay_pairs``: the mean delay in seconds between that many blocks of ranks, `[source block][destination block]`.
    Raises InputError.
    """

    processes = None
    if comm is not None:
        from tradewind.simulation.processes import Processes

        processes = Processes(comm)
        if options.get("threads") is None:
            options["threads"] = processes.threads

    def run(workload: Workload) -> dict[str, Any]:
        if processes is not None:
            simulation = processes.agree(lambda: prepare(workload, machine, **options))
            return processes.run(simulation, progress, force, links=links, congestion=congestion)
        simulation = prepare(workload, machine, **options)
        simulation.check_memory(force)
        if warn and (coarse := simulation.coarseness()) is not None:
            warnings.warn(PacketWarning(coarse), stacklevel=1)  # one place: Python shows each text once
        return simulation.run(progress, links, congestion)

    if steady is False:
        return Result(run(exchange))
    extrapolated = run_until_steady(exchange, run, steady)
    file = machine if isinstance(machine, MachineFile) else load_machine(machine, options.get("settings"))
    return Result(with_energy(extrapolated, file.machine.power))


def forecast(
    exchange: Workload,
    machine: str | Path | MachineFile,
    *,
    congestion: bool | str | Path = False,
    steady: bool | float = False,
    **options: Any,
) -> dict[str, Any]:
    """Estimate the cost of `simulate` with the same arguments: messages, packet_hops, memory_bytes, wall_s.

    For a steady simulation: the cost of the repetitions that are simulated in any case. Also returns ``program``, a
    hash of the simulated program: of its steps, its exchanges, and the flops and bytes of its computations.
    """
    prepared = prepare(exchange if steady is False else first_of(exchange, steady), machine, **options)
    return Result({**prepared.forecast(), "program": f"{prepared.program().fingerprint:016x}"})
