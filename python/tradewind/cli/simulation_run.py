"""Output of commands while they simulate: the cost, a warning, the progress."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tradewind.cli.options import Simulated
    from tradewind.simulation import Progress, Simulation, Watch


def simulate_here(
    simulation: Simulation, simulated: Simulated, as_json: bool, folder: Path | None = None
) -> dict[str, Any]:
    """Simulate in this process, and return the result. Raises InputError, before it begins, for what cannot be.

    `folder`: for the pictures of congestion; None: as it is asked for.
    """
    congestion = folder or simulated.congestion or False
    simulation.check_files(simulated.links, congestion)
    simulation.check_memory(simulated.force)
    announce(simulation, 1, as_json)
    with progress_bar() as report:
        return simulation.run(report, simulated.links, congestion)


def announce(simulation: Simulation, processes: int, as_json: bool) -> None:
    """Print on standard error the cost of a simulation on `processes` processes, and a warning if it is coarse."""
    from tradewind.base.units import format_bytes, format_count, format_seconds
    from tradewind.cli.screen import folded, width_of

    lines = []
    if not as_json or sys.stderr.isatty():
        cost = simulation.forecast(processes)
        hops = f"{format_count(cost['packet_hops'])} packet-hops, " if simulation.model == "packet" else ""
        lines.append(
            f"{simulation.exchange.name} on {simulation.file.name}: about {format_count(cost['messages'])} messages, "
            f"{hops}{format_bytes(cost['memory_bytes'])} of memory, {format_seconds(cost['wall_s'])}"
        )
    if (coarse := simulation.coarseness()) is not None:
        lines.append(f"warning: {coarse}")
    for line in lines:
        print(folded(line, width_of(sys.stderr), indent="  "), file=sys.stderr)


def line_report(as_json: bool) -> Callable[[str], None]:
    """Return what prints a line on standard error for each of many simulations; with --json on a terminal only."""
    from tradewind.cli.screen import folded, width_of

    def report(text: str) -> None:
        if not as_json or sys.stderr.isatty():
            print(folded(text, width_of(sys.stderr), indent="  "), file=sys.stderr)

    return report


@contextmanager
def progress_bar(*, quiet: bool = False) -> Iterator[Watch | None]:
    """Show progress on standard error, where that is a terminal, unless `quiet`."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn
    from rich.progress import Progress as Bars

    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.description}"))
    with Bars(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0)

        def watch(now: Progress) -> None:
            bar.update(task, completed=now.fraction, description=now.text)

        yield watch


def say_orders(result: dict[str, Any]) -> None:
    """Say which times other orders of simultaneous packets give, if they were simulated."""
    from tradewind.base.units import format_seconds
    from tradewind.cli.screen import show_text

    if "order_time_s" in result:
        shortest, median, longest = map(format_seconds, spread_of(result))
        show_text(
            f"{len(result['order_time_s'])} orders of packets that come at one time: {shortest} to {longest}, "
            f"median {median}; all else is that of {result['order']}"
        )


def say_disturbed(result: Mapping[str, Any]) -> None:
    """Say what disturbs ranks and links, if anything does."""
    from tradewind.base.noise import noise_of
    from tradewind.cli.screen import show_text

    if (noise := result.get("noise")) is not None and (detours := noise_of(noise)) is not None:
        show_text(f"noise {noise}: detours take {detours.share:.2%} of the time of each CPU")
    if "compute_imbalance" in result:
        show_text(f"computations take a random factor of their time, {result['compute_imbalance']}")
    if "background" in result:
        show_text(f"other jobs take {result['background']:.0%} of the bandwidth of all links between switches")


def spread_of(result: dict[str, Any]) -> tuple[float, float, float]:
    """Return the shortest, the median and the longest time of the orders of a simulation; of one order, its time."""
    from statistics import median

    times = list(result.get("order_time_s", {"": result["time_s"]}).values())
    return min(times), median(times), max(times)


def say_skipped(result: dict[str, Any]) -> None:
    """Say how many repetitions of steps were simulated, if there are any."""
    from tradewind.cli.screen import show_text

    if "steps_simulated" in result:
        skipped = result["steps_skipped"]
        why = f"{skipped:,} skipped, which are the same" if skipped else f"none skipped: {result['no_skip']}"
        show_text(f"{result['steps_simulated']:,} repetitions simulated, {why}")
