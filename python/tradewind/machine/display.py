"""Machines in notebooks: a table of the values of a file, each with the evidence for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tradewind.base.html import html_table
from tradewind.machine.evidence import Evidence


def machine_table(title: str, values: Mapping[str, Any], evidence: Mapping[str, Evidence]) -> str:
    """Return the table of the `values` of a file in SI units, by table and key."""
    rows = [(key, value, evidence.get(key, "-")) for key, value in _flat(values)]
    return html_table(title, rows, ("key", "value (B, s, B/s)", "evidence"))


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", f"{value:.6g}" if isinstance(value, float) else str(value)
