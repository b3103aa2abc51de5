"""Simulating on MPI processes that are started for it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradewind.launch import job
from tradewind.workload.exchange import Exchange

if TYPE_CHECKING:
    from mpi4py import MPI

    from tradewind.simulation import Progress, Watch


def simulate(
    processes: int, exchange: Exchange, machine: str, *, progress: Watch | None = None, **options: Any
) -> dict[str, Any]:
    """As `tradewind.simulate`, on `processes` processes that this one starts and waits for.

    `options` are JSON values and paths. Raises InputError; MissingMPIError; PlanError where a process has died.
    """
    from tradewind.simulation import Progress

    for name in ("links", "congestion", "timeline"):
        if isinstance(options.get(name), Path):
            options[name] = str(options[name])
    payload = {"exchange": asdict(exchange), "machine": machine, "options": options}
    watch = None if progress is None else lambda values: progress(Progress(**values))
    result: dict[str, Any] = job.run(processes, f"{__name__}:take_part", payload, watch=watch)
    return result


def take_part(comm: MPI.Intracomm, payload: dict[str, Any]) -> dict[str, Any]:
    """Simulate on each process."""
    from tradewind.launch import worker
    from tradewind.simulation import simulate as simulate_shared

    def report(progress: Progress) -> None:
        worker.report_progress(asdict(progress))

    options = payload["options"]
    if options.get("links") is not None:
        options["links"] = Path(options["links"])
    exchange = Exchange.from_plain(payload["exchange"])
    return simulate_shared(exchange, payload["machine"], comm=comm, progress=report, **options)
