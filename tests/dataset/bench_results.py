"""Results of commands as their --json prints them, with samples that are chosen."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

WHERE = {"host": "here", "cpu": "a CPU", "mpi": "an MPI"}
HALO = {"pattern": "halo", "ranks": 2, "grid": [64, 64, 4], "split": [2, 1], "width": 3, "periodic": "", "times": 1}
METHOD = ("algorithm", "transport", "packing")


def around(middle: float, count: int = 21, spread: float = 0.02) -> list[float]:
    """Return samples whose median is `middle`, evenly spread around it."""
    return [middle * (1 + spread * (2 * i / max(count - 1, 1) - 1)) for i in range(count)] if count > 1 else [middle]


def row(method: str, samples: Sequence[float]) -> dict[str, Any]:
    """Return the row of a method that was measured."""
    times = {"median_s": statistics.median(samples), "min_s": min(samples), "samples_s": list(samples)}
    step = {"name": "halo", "repeat": 1, "median_s": times["median_s"], "min_s": times["min_s"]}
    return {**dict(zip(METHOD, method.split(","), strict=True)), **times, "steps": [step], "bytes_per_s": 1e9}


def bench(methods: Mapping[str, Sequence[float]], **request: Any) -> dict[str, Any]:
    """Return the result of `bench`: samples by method."""
    rows = [row(method, samples) for method, samples in methods.items()]
    exchange = {**HALO, "algorithm": None, "fields": 1, "dtype": "f8", **request}
    return {"exchange": exchange, "results": rows, "bytes": 6144, "floor_s": 1e-6, "provenance": WHERE}


def saved(path: Path, result: Any) -> Path:
    """Write a result, and return its file."""
    path.write_text(json.dumps(result))
    return path
