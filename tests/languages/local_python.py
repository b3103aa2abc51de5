"""The Python that the library of a model starts as its local server."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

_SCRIPT = """#!/bin/sh
echo $$ >>processes
env >environment
ls /proc/self/fd >files
shift 3
exec {command} "$@"
"""
"""Writes its process, environment and open files, and leaves out -P -m tradewind."""


def local_environment(*start: str) -> dict[str, str]:
    """Return the environment for local servers of plan.toml; `start`: the arguments that Python is started with."""
    script = Path("python.sh").absolute()
    script.write_text(_SCRIPT.format(command=shlex.join([sys.executable, *start])))
    script.chmod(0o755)
    return {"TRADEWIND_PLAN": "plan.toml", "TRADEWIND_PYTHON": str(script)}
