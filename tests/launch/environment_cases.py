"""One program, unchanged, by every way that the environment can name; imported by the tests and by the ranks."""

from __future__ import annotations

import contextlib
import io
import os
import runpy
import traceback
from pathlib import Path
from typing import Any

from tradewind import _core

EXAMPLE = Path(__file__).parents[2] / "examples" / "14_redistribution.py"
METHODS = [(entry.name, packing) for entry in _core.transports() for packing in entry.packings if not entry.on_devices]


def every_way(comm: Any, _: None) -> list[str]:
    """Return the output of rank 0 for each method, or how a rank has failed."""
    text = []
    for transport, packing in METHODS:
        os.environ["TRADEWIND_TRANSPOSE"] = f"burst,{transport},{packing}"
        failed = ""
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            try:
                runpy.run_path(str(EXAMPLE))
            except Exception:
                failed = traceback.format_exc()
        text.append("".join(comm.allgather(failed)) or printed.getvalue())
    return text
