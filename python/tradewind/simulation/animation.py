"""A workload in motion, as a page: by stages, or as it runs on a machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from tradewind.base.errors import InputError
from tradewind.machine import MachineFile
from tradewind.simulation.checks import prepare
from tradewind.timeline.animation import MAX_MOVES, WHAT, Network, check, save
from tradewind.timeline.transfers import count_messages, motion_by_stages, simulated_motion
from tradewind.workload.workload import Workload


def animate(
    workload: Workload, file: str | Path, machine: str | Path | MachineFile | None = None, **options: Any
) -> Path:
    """Write a page on which the messages of a workload move, with a slider for the time; return its path.

    `file`: FILE.html. Without a machine every stage takes the same time; with one the messages move as the packet
    model times them, between ranks and, beside these, between nodes and switches; `options`: those of
    `tradewind.simulation.prepare`. At most 400 ranks and 20,000 messages. Raises InputError with what is too large,
    or cannot be written.
    """
    path, ranks = Path(file), workload.ranks
    check(path, ranks)
    if machine is None and options:
        raise InputError(f"{WHAT}: {', '.join(options)} changes a simulation; name a machine")
    workload = workload.program()
    if (messages := count_messages(workload.steps(), ranks, MAX_MOVES)) > MAX_MOVES:
        raise InputError(f"{WHAT} of {messages} messages or more: at most {MAX_MOVES} are allowed; name fewer ranks")
    if machine is None:
        motion, network = motion_by_stages(workload.steps(), ranks, workload.bytes_per_point), None
    else:
        simulation = replace(prepare(workload, machine, **options), shown=tuple(range(ranks)))
        if simulation.model != "packet":
            raise InputError(f"{WHAT}: only the packet model knows what ranks do when, not {simulation.model}")
        motion = simulated_motion(simulation.trace_events())
        nodes = [simulation.placement.node(rank) for rank in range(ranks)]
        network = Network(simulation.file, simulation.machine, nodes)
    save(motion, ranks, workload.split, f"{workload.name} on {ranks} ranks", path, network)
    return path
