"""Which planted fault is active in this process: the number in TRADEWIND_FAULT. Stands in the planted environment."""

from __future__ import annotations

import mmap
import os

active = int(os.environ.get("TRADEWIND_FAULT", "0"))
reached: mmap.mmap | None = None
"""One byte per fault, in the file TRADEWIND_FAULTS_REACHED, where there is one."""


def open_reached() -> None:
    """Map the file in which each process notes the faults that it has come by."""
    global reached
    name = os.environ.get("TRADEWIND_FAULTS_REACHED")
    if name and os.path.exists(name):
        with open(name, "r+b") as file:
            reached = mmap.mmap(file.fileno(), 4096)


def fault(number: int) -> bool:
    """Return whether a fault is active."""
    if reached is not None:
        reached[number] = 1
    return active == number


open_reached()
