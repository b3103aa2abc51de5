"""Place of a command that measures: it starts MPI ranks, or is one of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any

from tradewind.base.remaining import remaining_text
from tradewind.cli.parameters import ONE_OR_MORE, Option

Ranks = Annotated[
    int | None,
    Option(
        "-n",
        "--ranks",
        help="Number of MPI ranks to start; under mpiexec or srun, the ranks that run.",
        show_default=False,
        allowed=ONE_OR_MORE,
    ),
]
Check = Annotated[bool, Option("--check/--no-check", help="First compare with the reference result, bit for bit.")]
Watchdog = Annotated[
    float,
    Option("--watchdog", help="Maximum seconds per exchange; a longer one is an error.", show_default="never"),
]
Timeout = Annotated[
    str | None, Option("--timeout", help="Stop the ranks after this time, like 10min.", show_default="never")
]


@dataclass(frozen=True)
class RankPlace:
    """Place of this process: alone, or one of the ranks of a job that was started outside."""

    ranks: int
    rank: int | None = None

    @property
    def prints(self) -> bool:
        """Whether this process prints: alone, or as rank 0."""
        return not self.rank

    @contextmanager
    def collective(self, as_json: bool) -> Iterator[None]:
        """Among ranks an error of one ends all: the others would wait for it."""
        from tradewind.base.errors import TradewindError
        from tradewind.cli.output import refuse
        from tradewind.launch.worker import fail_collectively, flush_output, is_consequence, wait_for_cause

        try:
            yield
        except TradewindError as error:
            if self.rank is None:
                raise
            if is_consequence(error):
                wait_for_cause()
            refuse(str(error), as_json)
            flush_output()
            fail_collectively(error)


def place_of(ranks: int | None) -> RankPlace:
    """Return the place of this process and the number of ranks. Raises InputError."""
    from tradewind.base.errors import InputError
    from tradewind.launch import is_rank

    if not is_rank():
        if ranks is None:
            raise InputError("how many ranks? Say -n RANKS, or start this command with mpiexec or srun")
        return RankPlace(ranks)
    from tradewind.launch.worker import abort_on_error
    from tradewind.mpi.library import MPI

    abort_on_error()
    running = MPI.COMM_WORLD.Get_size()
    place = RankPlace(running, MPI.COMM_WORLD.Get_rank())
    if ranks not in (None, running):
        with place.collective(as_json=False):
            raise InputError(f"-n {ranks}, but {running} ranks are running: leave it out under mpiexec or srun")
    return place


class ProgressLine:
    """A line on a terminal about what ranks do, and how long it still takes."""

    def __init__(self, text: str, update: Callable[[str], None]) -> None:
        self._text, self._update, self._began = text, update, time.monotonic()
        self._last = 0.0

    def __call__(self, more: str, fraction: float = 0.0) -> None:
        """Show `more`; of work of which `fraction` is done, with the time left."""
        if fraction < self._last:  # the next part of the work
            self._began = time.monotonic()
        self._last = fraction
        left = remaining_text(time.monotonic() - self._began, fraction)
        self._update(f"{self._text}: {more}{left}")


@contextmanager
def busy(text: str, *, quiet: bool) -> Iterator[ProgressLine | None]:
    """Show progress on a terminal while ranks are at work; yields what shows it."""
    from rich.console import Console

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    with console.status(text) as status:
        yield ProgressLine(text, status.update)


def seconds(text: str | None) -> float | None:
    """Return the seconds of an option like --timeout. Raises InputError."""
    from tradewind.base import units

    return units.seconds(text) if text else None


def show_left_out(rows: list[dict[str, Any]], heading: str) -> None:
    """One line for each reason, with the methods that it excludes."""
    from tradewind.cli.screen import show_text

    methods: dict[str, list[str]] = {}
    for row in rows:
        name = ", ".join(row[part] for part in ("algorithm", "transport", "packing") if row[part] is not None)
        methods.setdefault(row["reason"], []).append(name)
    for reason, names in methods.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        show_text(f"{heading} {names[0]}{more}: {reason}", "dim", indent="  ")


def show_warnings(warnings: list[str]) -> None:
    """Print why measured times should not be trusted, and what to do."""
    from tradewind.cli.screen import show_text

    for text in warnings:
        show_text(f"warning: {text}", "bold yellow")
