"""`tradewind verify`: runs an exchange in one process and checks that it is right and free of deadlock."""

from __future__ import annotations

import sys
from typing import Annotated, Any

from tradewind.cli import options
from tradewind.cli.kinds import Asked
from tradewind.cli.output import print_result
from tradewind.cli.parameters import Option


@options.of_patterns
def command(
    pattern: options.Pattern,
    ranks: options.Ranks,
    algorithm: options.Algorithm = None,
    transport: Annotated[
        str,
        Option("--transport", help="Posting order: sendrecv, isend-recv, send-irecv, isend-irecv or even-odd."),
    ] = "isend-irecv",
    *,
    asked: Asked,
    as_json: options.Json = False,
) -> None:
    """Check that every point arrives exactly once, and that the ranks cannot deadlock."""
    from tradewind.verification import verify

    exchange = options.exchange(asked, pattern, ranks, algorithm)
    if sys.stderr.isatty() and not as_json:
        with _ProgressBar() as bar:
            result = verify(exchange, transport, bar.update)
    else:
        result = verify(exchange, transport)
    print_result(result, as_json, lambda: _show(result))


class _ProgressBar:
    """A bar of stages on standard error, where somebody looks on."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import Progress, TaskID

        self._progress = Progress(console=Console(stderr=True), transient=True)
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> _ProgressBar:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def update(self, step: str, stage: int, stages: int) -> None:
        if step not in self._tasks:
            self._tasks[step] = self._progress.add_task(step, total=stages)
        self._progress.update(self._tasks[step], completed=stage)


def _show(result: dict[str, Any]) -> None:
    from tradewind.base import units
    from tradewind.cli.screen import show_table, show_text
    from tradewind.cli.table import TextColumn, TextTable

    columns = [
        TextColumn("step"),
        *(TextColumn(title, number=True) for title in ("stages", "messages", "bytes")),
        TextColumn("largest message", number=True, drop=1),
        TextColumn("copied within ranks", number=True, drop=2),
    ]
    rows = []
    for step in result["steps"]:
        sizes = (units.format_bytes(step[key]) for key in ("bytes", "largest_message_bytes", "copied_bytes"))
        rows.append([step["name"], f"{step['stages']:,}", f"{step['messages']:,}", *sizes])
    show_table(TextTable(columns, rows, f"{result['pattern']}, {result['algorithm']}, {result['ranks']} ranks"))
    show_text("verified: every expected point arrives exactly once, and nothing else is touched")
    show_text(f"verified: free of deadlock with {result['transport']}, even where every send is synchronous")
    show_text(f"in {units.format_seconds(result['wall_s'])}")
