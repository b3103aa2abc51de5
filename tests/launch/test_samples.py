"""Several results of a benchmark, made one."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("mpi4py.MPI")

from tradewind.launch import measure
from tradewind.launch.samples import combined, rates


def row(transport: str, samples: list[float], median_s: float) -> dict[str, Any]:
    method = {"algorithm": "direct", "transport": transport, "packing": "buffer"}
    step = {"name": "halo", "repeat": 1, "median_s": median_s, "min_s": min(samples)}
    return method | {"samples_s": samples, "median_s": median_s, "min_s": min(samples), "steps": [step], "messages": 2}


def bench_result(
    rows: list[dict[str, Any]], copy: float, skipped: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    whole = {"bytes": 1000, "copy_bytes_per_s": copy, "floor_s": 1e-6, "checked": True}
    return whole | {"results": rows, "skipped": skipped or []}


def test_many_threads_copy_no_more_than_a_few():
    sizes = {threads: measure.copy_size(threads) for threads in (1, 8, 9, 1024)}
    assert sizes[1] == sizes[8] == 2**26
    assert all(8 * 2**25 < threads * sizes[threads] <= 8 * 2**26 for threads in (8, 9, 1024))


def test_all_samples_count():
    one = bench_result([row("shared", [1e-6, 2e-6], 1.5e-6), row("sendrecv", [7e-6, 9e-6], 8e-6)], 1e9)
    two = bench_result([row("shared", [8e-6, 9e-6], 8.5e-6), row("sendrecv", [8e-6, 8e-6], 8e-6)], 2e9)
    three = bench_result([row("shared", [3e-6, 4e-6], 3.5e-6), row("sendrecv", [8e-6, 8e-6], 8e-6)], 4e9)
    found = combined([one, two, three])
    shared, sendrecv = found["results"]
    assert shared["samples_s"] == [1e-6, 2e-6, 8e-6, 9e-6, 3e-6, 4e-6]
    assert (shared["median_s"], shared["min_s"]) == (3.5e-6, 1e-6)
    assert shared["steps"] == [{"name": "halo", "repeat": 1, "median_s": 3.5e-6, "min_s": 1e-6}]
    assert shared["messages"] == 2
    assert sendrecv["median_s"] == 8e-6
    assert found["copy_bytes_per_s"] == 2e9
    assert shared["bytes_per_s"] == pytest.approx(1000 / 3.5e-6)
    assert shared["ratio_to_copy"] == pytest.approx(3.5e-6 * 2e9 / 1000)
    assert found["checked"] is True


def test_what_one_round_lacks_is_left_out_with_its_reason():
    one = bench_result([row("shared", [1e-6], 1e-6), row("sendrecv", [7e-6], 7e-6)], 1e9)
    refused = {"algorithm": "direct", "transport": "shared", "packing": "buffer", "reason": "no memory"}
    two = bench_result([row("sendrecv", [8e-6], 8e-6)], 1e9, [refused])
    found = combined([one, two])
    assert [r["transport"] for r in found["results"]] == ["sendrecv"]
    assert found["skipped"] == [refused]


def test_what_mpi_has_itself_is_left_out_too():
    native = row("native", [1e-6], 1e-6) | {"algorithm": "native"}
    refused = {"algorithm": "native", "transport": None, "packing": None, "reason": "too many elements"}
    found = combined([bench_result([native], 1e9), bench_result([], 1e9, [refused])])
    assert (found["results"], found["skipped"]) == ([], [refused])


def test_an_exchange_of_nothing_has_no_ratios():
    assert rates(1e-6, 0, 1e9, 0.0) == {"bytes_per_s": 0, "ratio_to_copy": None, "ratio_to_floor": None}
