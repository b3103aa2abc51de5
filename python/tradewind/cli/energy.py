"""Output of energies: of a simulation, of a model's step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Result = Mapping[str, Any]


def energy_text(result: Result, steps: int = 1) -> str:
    """Return the energy of a result, or of one of its steps, as text; "-" where it is not known."""
    from tradewind.base.units import format_joules

    return format_joules(result["energy_j"] / steps) if result.get("energy_j") is not None else "-"


def say_energy(result: Result, steps: int = 1) -> None:
    """Print the energy of a simulation with its parts and the power of its ranks, if it is known.

    `steps` of which it is: the energy of one is printed.
    """
    from tradewind.base.units import format_joules, format_watts
    from tradewind.cli.screen import show_text

    if "energy_j" not in result:
        return
    parts = ", ".join(f"{name} {format_joules(j / steps)}" for name, j in result["energy_parts_j"].items() if j)
    text = f"energy{' per step' if steps > 1 else ''}: {energy_text(result, steps)} ({parts})"
    if power := result.get("rank_power_w"):
        ranks = " to ".join(dict.fromkeys(format_watts(power[name]) for name in ("minimum", "maximum")))
        text += f"; a node draws {format_watts(result['node_power_w'])} in the mean, a rank {ranks}"
    show_text(text)


def say_measured(result: Result, what: str, steps: int = 1) -> None:
    """Print the energy that counters have measured `what` to take, or why none was measured."""
    from tradewind.base.units import format_watts
    from tradewind.cli.screen import show_text

    if (joules := result.get("energy_j")) is None:
        return say_no_energy(result)
    power = f", {format_watts(joules / result['energy_s'])} in the mean" if steps > 1 else ""
    show_text(f"energy per {what}: {energy_text(result, steps)}{power}, by {result['energy_counters']}")


def say_no_energy(result: Result) -> None:
    """Print why the energy of a result is not known, if it is not."""
    from tradewind.cli.screen import show_text

    if reason := result.get("no_energy"):
        show_text(f"energy: {reason}")


def energy_rows(results: Sequence[Result]) -> list[list[str]]:
    """Return the rows of a table of model steps; none where no energy is known."""
    if not any("energy_j" in result for result in results):
        return []
    days = [result.get("kwh_per_forecast_day") for result in results]
    return [
        ["energy of a step", *map(energy_text, results)],
        ["kWh per forecast day", *("-" if each is None else f"{each:.3g}" for each in days)],
    ]
