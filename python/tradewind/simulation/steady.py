"""Simulates an exchange that is repeated often until its repetitions are steady, and extrapolates to all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tradewind import _core
from tradewind.base.elements import counted_bytes
from tradewind.simulation.energy import repeated
from tradewind.workload.repetitions import durations_of, extrapolated, repetitions_of
from tradewind.workload.workload import Workload

SCALED = ("messages", "bytes", "packet_hops", "bound_s")
"""Values that grow with the repetitions."""


def run_until_steady(
    exchange: Workload, run: Callable[[Workload], dict[str, Any]], steady: bool | float = True
) -> dict[str, Any]:
    """Simulate repetitions until the extrapolated time of all is steady, and return the extrapolated result.

    `run` simulates a workload, or as many of its repetitions as it has to. Its result has ``step_end_s``, the end of
    each step, which is removed here. Adds ``simulated_times``, the number of repetitions that were simulated, and
    ``extrapolated_change``, the relative change of the time when twice as many were simulated (None if all were).
    ``messages``, ``bytes``, ``packet_hops``, ``bound_s`` and ``usage`` are those of all repetitions; ``delay`` counts
    only what was simulated, and energies are those of this part, to be computed anew.
    """
    whole = repetitions_of(exchange, steady)
    times, one = whole.exchange.times, whole.one()
    result = dict(run(whole))
    simulated = durations_of(result.pop("step_end_s"), len(one))
    change, counted = None, simulated
    if len(simulated) < times:
        # Ranks that were ahead have ended what they had begun: that is simulated, too, but undisturbed by ranks ahead.
        for number in whole.asked:
            change, counted = whole.change(simulated[:number]), simulated[:number]
            if abs(change) <= whole.tolerance:
                break
    scale = times / len(simulated)
    scaled = {key: type(result[key])(result[key] * scale) for key in SCALED if key in result}
    if "usage" in result:
        scaled["usage"] = repeated(result["usage"], scale)
    by_step = [extrapolated(list(each), times) for each in zip(*counted, strict=True)]
    counted_bytes(f"messages of {times} repetitions", scaled.get("bytes", 0), 1)
    if (time_s := sum(by_step)) > _core.latest_s:
        _core.refuse_time(f"{times} repetitions take", time_s)
    return (
        result
        | scaled
        | {
            "time_s": time_s,
            "step_time_s": dict(zip((step.name for step in one), by_step, strict=True)),
            "simulated_times": len(simulated),
            "extrapolated_change": change,
        }
    )
