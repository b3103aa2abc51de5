"""The trace that a command is given, and what is left out of it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tradewind.trace.model import Trace


def opened(file: Path) -> Trace:
    """Return a trace, and print to the standard error output what is missing of it. Raises InputError."""
    from tradewind.cli.screen import folded, width_of
    from tradewind.trace.read import open_trace

    trace = open_trace(file)
    for problem in trace.problems:
        print(folded(f"warning: {problem}", width_of(sys.stderr), indent="  "), file=sys.stderr)
    return trace


def show_left_out(left: dict[str, Any]) -> None:
    """Print which calls and messages of a trace are left out."""
    from tradewind.base.units import format_bytes
    from tradewind.cli.screen import show_text

    if left["calls"]:
        named = [f"{n:,} {name} ({format_bytes(left['bytes'][name])})" for name, n in left["calls"].items()]
        show_text(f"warning: not replayed: {', '.join(named)}")
    if left["unmatched"]:
        show_text(f"warning: {left['unmatched']:,} sends and receives have no other end, and are not replayed")
    if left["not_known"]:
        show_text(
            f"warning: {left['not_known']:,} sends and receives, also of collective calls, are not replayed: "
            "their other ends would stand behind the last recorded calls of a rank"
        )
