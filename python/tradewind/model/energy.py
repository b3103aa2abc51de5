"""Energy of a model's step and of a day of its forecast, in the mean over steps that do more than others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tradewind.simulation.energy import GROWS, kwh_per_forecast_day


def forecast_energy(runs: Sequence[tuple[float, Mapping[str, Any]]], step_s: float) -> dict[str, Any]:
    """Return the energy of a step, and of a forecast day.

    `runs`: simulated steps, each with its weight in the mean. Returns ``usage`` (see `tradewind.simulation.energy`),
    ``energy_j``, ``energy_parts_j`` and ``kwh_per_forecast_day``, ``node_power_w``, the mean power of a node over the
    steps; or in place of these ``no_energy``, the reason.
    """
    figures = [each for _, each in runs]
    usage = dict(figures[0]["usage"])
    for key in GROWS:
        if usage[key] is not None:
            usage[key] = sum(weight * each["usage"][key] for weight, each in runs)
    if missing := [each["no_energy"] for each in figures if "no_energy" in each]:
        return {"usage": usage, "no_energy": missing[0]}

    def mean(value: Any) -> float:
        return float(sum(weight * value(each) for weight, each in runs))

    energy_j, time_s = mean(lambda each: each["energy_j"]), mean(lambda each: each["time_s"])
    parts = {name: mean(lambda each, name=name: each["energy_parts_j"][name]) for name in figures[0]["energy_parts_j"]}
    return {
        "usage": usage,
        "energy_j": energy_j,
        "energy_parts_j": parts,
        "node_power_w": energy_j / time_s / figures[0]["usage"]["nodes"],
        "kwh_per_forecast_day": kwh_per_forecast_day(energy_j, step_s),
    }
