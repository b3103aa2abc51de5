"""Says how a study goes on: a bar where a terminal looks on, a line per case elsewhere."""

from __future__ import annotations

import time
from typing import TextIO

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars
from rich.table import Column

from tradewind.base.remaining import remaining_s
from tradewind.base.units import format_duration, format_seconds
from tradewind.simulation import Progress
from tradewind.study.plan.planned import Planned, Result
from tradewind.study.runner.run import Observer

BAR_WIDTH = 16
"""Columns of the screen. Names of cases need the others."""
LINE_PAUSE_S = 30.0
"""Between two lines about a running case, where no terminal looks on."""


def result_text(planned: Planned, result: Result) -> str:
    """The result of a case in a few words."""
    if planned.case.kind == "verify":
        return "proved"
    if planned.case.kind == "run":
        return f"{format_seconds(result['wall_s'] / result['steps'])} a step"
    seconds = result["results"][0]["median_s"] if planned.case.kind == "measure" else result["time_s"]
    return format_seconds(seconds)


def make_observer(stream: TextIO) -> Observer:
    """The observer that suits a stream."""
    console = Console(file=stream, soft_wrap=True)
    return BarObserver(console) if console.is_terminal else LineObserver(stream)


class LineObserver(Observer):
    """A line for each case."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._total = self._number = 0
        self._printed_at: dict[str, float] = {}

    def _print(self, text: str) -> None:
        print(text, file=self._stream, flush=True)

    def begin(self, total: int, reused: int, cost_s: float = 0.0) -> None:
        """Print the number of cases."""
        self._total, self._number = total, reused
        self._print(f"{total} cases, {reused} of them stored already")

    def note(self, text: str) -> None:
        """Print a note."""
        self._print(f"note: {text}")

    def done(self, planned: Planned, result: Result, wall_s: float) -> None:
        """Print the result of a case and the time that it took."""
        self._number += 1
        took = format_seconds(wall_s)
        self._print(f"[{self._number}/{self._total}] {planned.case.name}: {result_text(planned, result)} (took {took})")

    def failed(self, planned: Planned, reason: str) -> None:
        """Print the error of a case."""
        self._number += 1
        self._print(f"[{self._number}/{self._total}] {planned.case.name}: FAILED: {reason}")

    def running(self, planned: Planned, progress: Progress) -> None:
        """Print the progress of a case, at most every `LINE_PAUSE_S`."""
        now = time.monotonic()
        if now - self._printed_at.setdefault(planned.key, now) >= LINE_PAUSE_S:
            self._printed_at[planned.key] = now
            self._print(f"    {planned.case.name}: {100 * progress.fraction:.0f} %, {progress.text}")


class BarObserver(Observer):
    """A bar for the study, with the case that ended last, and one for each case that takes long."""

    def __init__(self, console: Console) -> None:
        whole, folded = Column(no_wrap=True, min_width=7), Column(overflow="fold")  # else rich cuts what is too long
        columns = (
            SpinnerColumn(),
            BarColumn(BAR_WIDTH, table_column=Column(min_width=BAR_WIDTH)),
            TextColumn("{task.fields[count]}", table_column=whole),
            TimeElapsedColumn(whole),
        )
        self._bars = Bars(
            *columns, TextColumn("{task.description}", table_column=folded), console=console, transient=True
        )
        self._study = self._bars.add_task("", total=None, count="")
        self._cases: dict[str, TaskID] = {}
        self._running: dict[str, float] = {}
        self._total = self._number = 0
        self._cost_s = self._done_s = 0.0
        self._began = time.monotonic()

    def begin(self, total: int, reused: int, cost_s: float = 0.0) -> None:
        """Show the bar of the study."""
        self._total, self._number, self._cost_s = total, reused, cost_s
        self._bars.start()
        self._advance("")

    def note(self, text: str) -> None:
        """Print a note above the bars."""
        self._bars.console.print(escape(f"note: {text}"))

    def done(self, planned: Planned, result: Result, wall_s: float) -> None:
        """Remove the bar of a case, and show its result."""
        self._number += 1
        self._count(planned)
        self._remove(planned)
        self._advance(f"{planned.case.name}: {result_text(planned, result)}")

    def failed(self, planned: Planned, reason: str) -> None:
        """Print the error of a case above the bars, and remove its bar."""
        self._bars.console.print(f"[red]failed[/red] {escape(planned.case.name)}: {escape(reason)}")
        self._number += 1
        self._count(planned)
        self._remove(planned)
        self._advance("")

    def running(self, planned: Planned, progress: Progress) -> None:
        """Show the progress of a case as a bar."""
        bar = self._cases.get(planned.key)
        if bar is None:
            bar = self._cases[planned.key] = self._bars.add_task("", total=1.0, count="")
        self._running[planned.key] = progress.fraction * planned.cost_s
        text = escape(f"{planned.case.name}: {progress.text}")
        percent = f"{100 * progress.fraction:.0f} %"
        self._bars.update(bar, completed=progress.fraction, description=text, count=percent)

    def end(self) -> None:
        """Remove all bars."""
        self._bars.update(self._study, description="")
        self._bars.stop()

    def _advance(self, text: str) -> None:
        count = f"{self._number}/{self._total}"
        text = "; ".join(each for each in (self.time_left(), text) if each)
        self._bars.update(self._study, total=self._total, completed=self._number, count=count, description=escape(text))

    def time_left(self) -> str:
        """Return the time that all simulations still take, by the forecasts of those that are done; "" at first."""
        done_s = self._done_s + sum(self._running.values())
        share = min(1.0, done_s / self._cost_s) if self._cost_s else 0.0
        left_s = remaining_s(time.monotonic() - self._began, share)
        return "" if left_s is None or share == 1 else f"{format_duration(left_s)} to go"

    def _count(self, planned: Planned) -> None:
        """Count a case that is done; the time of those without a forecast, which come first, is left out."""
        self._running.pop(planned.key, None)
        self._done_s += planned.cost_s
        if self._done_s == 0:
            self._began = time.monotonic()

    def _remove(self, planned: Planned) -> None:
        if (bar := self._cases.pop(planned.key, None)) is not None:
            self._bars.remove_task(bar)
