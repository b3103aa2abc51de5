"""Says how a study goes on: a bar where a terminal looks on, a line a case elsewhere."""

from __future__ import annotations

from typing import TextIO

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from tradewind.study.plan import Planned, Result
from tradewind.study.runner import Observer
from tradewind.units import format_seconds


def answer_text(planned: Planned, result: Result) -> str:
    """The answer of a case in a few words."""
    if planned.case.kind == "verify":
        return "proved"
    seconds = result["time_s"] if planned.case.kind == "simulate" else result["results"][0]["median_s"]
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

    def _print(self, text: str) -> None:
        print(text, file=self._stream, flush=True)

    def begin(self, total: int, reused: int) -> None:
        self._total, self._number = total, reused
        self._print(f"{total} cases, {reused} of them stored already")

    def note(self, text: str) -> None:
        self._print(f"note: {text}")

    def done(self, planned: Planned, result: Result, wall_s: float) -> None:
        self._number += 1
        took = format_seconds(wall_s)
        self._print(f"[{self._number}/{self._total}] {planned.case.name}: {answer_text(planned, result)} (took {took})")

    def failed(self, planned: Planned, reason: str) -> None:
        self._number += 1
        self._print(f"[{self._number}/{self._total}] {planned.case.name}: FAILED: {reason}")


class BarObserver(Observer):
    """A progress bar, with the case that was answered last."""

    def __init__(self, console: Console) -> None:
        columns = (
            SpinnerColumn(),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
        )
        self._progress = Progress(*columns, console=console)
        self._task = self._progress.add_task("", total=None)

    def begin(self, total: int, reused: int) -> None:
        self._progress.start()
        self._progress.update(self._task, total=total, completed=reused)

    def note(self, text: str) -> None:
        self._progress.console.print(escape(f"note: {text}"))

    def done(self, planned: Planned, result: Result, wall_s: float) -> None:
        text = escape(f"{planned.case.name}: {answer_text(planned, result)}")
        self._progress.update(self._task, advance=1, description=text)

    def failed(self, planned: Planned, reason: str) -> None:
        self._progress.console.print(f"[red]failed[/red] {escape(planned.case.name)}: {escape(reason)}")
        self._progress.update(self._task, advance=1)

    def end(self) -> None:
        self._progress.update(self._task, description="")
        self._progress.stop()
