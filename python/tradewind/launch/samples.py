"""Statistics of the samples of a benchmark, and the merge of several of its results."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from tradewind.base.intervals import median_interval
from tradewind.method.method import NATIVE, Method

Row = dict[str, Any]


def rates(median_s: float, size: int, copy_bytes_per_s: float, floor_s: float) -> Row:
    """An exchange of `size` bytes beside a memory copy and its floor; None where one of them is nothing."""
    return {
        "bytes_per_s": size / median_s,
        "ratio_to_copy": median_s * copy_bytes_per_s / size if size else None,
        "ratio_to_floor": median_s / floor_s if floor_s else None,
    }


def with_intervals(rows: Sequence[Row]) -> list[Row]:
    """Return rows with ``interval_s``, the 95 % confidence interval of the median; None where samples are too few."""
    intervals = [median_interval(row["samples_s"]) for row in rows]
    return [
        {**row, "interval_s": None if each is None else list(each)} for row, each in zip(rows, intervals, strict=True)
    ]


def combined(results: Sequence[Row]) -> Row:
    """Merge several results of `bench_methods` for the same exchange and methods into one with all their samples.

    Times of steps, ``copy_bytes_per_s`` and ``floor_s`` are medians over the results. A method that one of the results
    lacks is skipped, with that result's reason.
    """
    skipped = {_method_of(item): item for result in results for item in result["skipped"]}
    rows: dict[Method, list[Row]] = {}
    for result in results:
        for row in result["results"]:
            if _method_of(row) not in skipped:
                rows.setdefault(_method_of(row), []).append(row)
    whole = {key: statistics.median(result[key] for result in results) for key in ("copy_bytes_per_s", "floor_s")}
    return {
        **results[0],
        **whole,
        "results": [_row_of(each, results[0]["bytes"], **whole) for each in rows.values()],
        "skipped": list(skipped.values()),
    }


def _method_of(row: Row) -> Method:
    """Return the method of a row; rows of MPI's own algorithm name a transport, which does not count."""
    if row["algorithm"] == NATIVE:
        return Method(NATIVE)
    return Method(row["algorithm"], row["transport"], row["packing"])


def _row_of(rows: Sequence[Row], size: int, copy_bytes_per_s: float, floor_s: float) -> Row:
    samples = [seconds for row in rows for seconds in row["samples_s"]]
    steps = [
        {
            **step[0],
            "median_s": statistics.median(each["median_s"] for each in step),
            "min_s": min(each["min_s"] for each in step),
        }
        for step in zip(*(row["steps"] for row in rows), strict=True)
    ]
    times = {"median_s": statistics.median(samples), "min_s": min(samples), "samples_s": samples, "steps": steps}
    return {**rows[0], **times, **rates(times["median_s"], size, copy_bytes_per_s, floor_s)}
