"""What the page of a study says of runs of dwarfs, measured and published."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tradewind.study.quantity import quantity_of
from tradewind.study.records import Record
from tradewind.units import format_seconds

Row = dict[str, Any]


def run_rows(records: Sequence[Record]) -> list[Row]:
    """Each run, or published time, of a step."""
    return [_row(record) for record in records if record["kind"] in ("run", "published")]


def _row(record: Record) -> Row:
    result, published = record["result"], record["kind"] == "published"
    samples = [seconds / result["steps"] for seconds in result.get("samples_s", [])]
    compute, ratio = quantity_of(record, "compute"), quantity_of(record, "copy-ratio")
    way = (record["transport"], record["packing"], f"{record['threads']} threads" if record["threads"] else None)
    points = quantity_of(record, "points") or 0.0
    return {
        "run": record["exchange"] + (f", work {record['work']}" if (record["work"] or 1) > 1 else ""),
        "where": f"published, {record['nodes']} nodes" if published else "here",
        "source": record["sweep"],
        "grid": record["grid"],
        "ranks": record["ranks"],
        "split": record["split"],
        "way": ", ".join(filter(None, way)),
        "step": format_seconds(record["time_s"]),
        "span": f"{format_seconds(min(samples))} .. {format_seconds(max(samples))}" if samples else "",
        "compute": "" if compute is None else format_seconds(compute),
        "points": f"{points / 1e9:.3g}",
        "ratio": "" if ratio is None else f"{ratio:.2f}",
        "oversubscribed": bool(result.get("oversubscribed")),
        "foreign": record["environment"]["host"] if record["is_foreign"] else "",
    }
