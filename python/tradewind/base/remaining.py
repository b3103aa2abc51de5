"""Time that work still takes, if it goes on as so far."""

from __future__ import annotations

from tradewind.base.units import format_seconds


def remaining_s(elapsed_s: float, fraction: float) -> float | None:
    """Return the seconds until the end of work of which `fraction` is done; None before anything is."""
    return elapsed_s * (1 - fraction) / fraction if fraction > 0 else None


def remaining_text(elapsed_s: float, fraction: float) -> str:
    """Return the same for the end of a line, such as ", 12 s to go"; "" before anything is done."""
    left_s = remaining_s(elapsed_s, fraction)
    return "" if left_s is None else f", {format_seconds(left_s)} to go"
