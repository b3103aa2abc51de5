"""Output of `tradewind bench --sizes`: latency and bandwidth by size, in the columns of the OSU benchmarks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tradewind.cli.table import TextTable


def draw(chart: Path, result: Mapping[str, Any]) -> None:
    """Write the picture of a result."""
    from tradewind.plot.sizes import save_sizes_chart

    origin = result["provenance"]
    title = f"{result['pattern']} on {result['ranks']} ranks, {origin['mpi']}, {origin['cpu']}"
    save_sizes_chart(result, chart, title)


def sizes_table(result: Mapping[str, Any]) -> TextTable:
    """Return the table: a block per method, a row per size."""
    from tradewind.cli.table import TextColumn

    blocks: dict[str, list[list[str]]] = {}
    for each in result["sizes"]:
        for row in each["results"]:
            method = ", ".join(dict.fromkeys(row[part] for part in ("algorithm", "transport", "packing")))
            blocks.setdefault(method, []).append(_row(each["message_bytes"], row))
    headings, rows = dict[int, str](), list[list[str]]()
    for method, block in blocks.items():
        headings[len(rows)] = f"# {method}"
        rows += block
    titles = (("size", 0), ("latency us", 0), ("95 % within", 1), ("min us", 2), ("max us", 3), ("MB/s", 0))
    columns = [TextColumn(title, number=True, drop=drop) for title, drop in titles]
    over = "oversubscribed: more ranks than cores" if result["oversubscribed"] else ""
    return TextTable(columns, rows, f"{result['pattern']} on {result['ranks']} ranks", over, headings=headings)


def _row(size: int, row: Mapping[str, Any]) -> list[str]:
    samples = row["samples_s"]
    times = [f"{seconds * 1e6:.2f}" for seconds in (row["median_s"], min(samples), max(samples))]
    return [str(size), times[0], within(row), *times[1:], f"{row['bytes_per_s'] / 1e6:.2f}"]


def within(row: Mapping[str, Any]) -> str:
    """Return how far the ends of the confidence interval of a median are from it, in percent."""
    if row["interval_s"] is None:
        return "-"
    median = row["median_s"]
    return f"{max(abs(end / median - 1) for end in row['interval_s']):.0%}"
