"""Statistics of the samples of a benchmark, and the merge of several of its results."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from tradewind.method.method import NATIVE, Choice

Row = dict[str, Any]


def rates(median_s: float, size: int, copy_bytes_per_s: float, floor_s: float) -> Row:
    """An exchange of `size` bytes beside a memory copy and its floor; None where one of them is nothing."""
    return {
        "bytes_per_s": size / median_s,
        "ratio_to_copy": median_s * copy_bytes_per_s / size if size else None,
        "ratio_to_floor": median_s / floor_s if floor_s else None,
    }


def together(answers: Sequence[Row]) -> Row:
    """One answer of several of `bench_ways` about the same exchange and ways, as if it had all of their samples.

    Times of steps are the medians of those of the answers, and so are ``copy_bytes_per_s`` and ``floor_s``. A way that
    one of the answers lacks is left out, with that answer's reason.
    """
    skipped = {_way_of(item): item for answer in answers for item in answer["skipped"]}
    rows: dict[Choice, list[Row]] = {}
    for answer in answers:
        for row in answer["results"]:
            if _way_of(row) not in skipped:
                rows.setdefault(_way_of(row), []).append(row)
    whole = {key: statistics.median(answer[key] for answer in answers) for key in ("copy_bytes_per_s", "floor_s")}
    return {
        **answers[0],
        **whole,
        "results": [_row_of(each, answers[0]["bytes"], **whole) for each in rows.values()],
        "skipped": list(skipped.values()),
    }


def _way_of(row: Row) -> Choice:
    """Return the method of a row; rows of MPI's own algorithm name a transport, which does not count."""
    if row["algorithm"] == NATIVE:
        return Choice(NATIVE)
    return Choice(row["algorithm"], row["transport"], row["packing"])


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
