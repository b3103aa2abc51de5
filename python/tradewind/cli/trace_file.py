"""The trace that a command is given."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

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
