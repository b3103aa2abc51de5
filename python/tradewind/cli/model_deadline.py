"""`tradewind simulate model NAME --within 1h --forecast 10d`: the ranks that a forecast needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tradewind.model import AnyModel

_DAY_S = 86400.0


def problems_of(within: str | None, forecast: str | None, members: int, beside: Sequence[str]) -> list[str]:
    """Return what is wrong with the question; `beside`: flags that are given and do not go with it."""
    if within is None and forecast is None:
        return ["--members: --within and --forecast are needed, too, such as 1h and 10d"] if members > 1 else []
    missing, example = ("--within", "1h") if within is None else ("--forecast", "10d")
    if within is None or forecast is None:
        return [f"{missing} is missing, such as {example}: a forecast of some days, within some hours"]
    return [f"{flag}: not beside --within, which finds the ranks itself" for flag in beside]


def find_ranks(
    loaded: AnyModel,
    machine: str,
    within: str,
    forecast: str,
    members: int,
    chosen: dict[str, Any],
    as_json: bool,
) -> None:
    """Find the smallest number of ranks, and print it. Raises InputError."""
    from tradewind.base.errors import InputError, gathered
    from tradewind.base.units import seconds
    from tradewind.cli.output import print_result
    from tradewind.cli.simulation_run import line_report
    from tradewind.model.deadline import ranks_within

    times: dict[str, float] = {}
    problems: list[str] = []
    for flag, text in (("--within", within), ("--forecast", forecast)):
        found: list[str] = []
        with gathered(found):
            times[flag] = seconds(text)
        problems += [f"{flag}: {problem}" for problem in found]
    if problems:
        raise InputError(*problems)
    result = ranks_within(
        loaded,
        machine,
        within_s=times["--within"],
        days=times["--forecast"] / _DAY_S,
        members=members,
        report=line_report(as_json),
        **chosen,
    )
    print_result(result, as_json, lambda: _show(result))


def _show(result: Mapping[str, Any]) -> None:
    from tradewind.base.units import format_duration
    from tradewind.cli.screen import show_text

    members = result["members"]
    days = "1 day" if result["days"] == 1 else f"{result['days']:g} days"
    what = f"{days} of {result['program']} on {result['machine']} within "
    show_text(what + format_duration(result["within_s"]) + (f", {members} members:" if members > 1 else ":"))
    if members == 1:
        show_text(_sentence("", result["side_by_side"]))
    else:
        show_text(_sentence("side by side: ", result["side_by_side"]))
        show_text(_sentence("one after another: ", result["one_after_another"]))
    show_text(f"{result['simulations']} simulations, and {result['quick_simulations']} without congestion")


def _sentence(words: str, found: Mapping[str, Any]) -> str:
    from tradewind.base.units import format_duration

    if "reason" in found:
        return f"{words}no number of ranks will do: {found['reason']}"
    nodes = f"{found['all_nodes']:,} nodes"
    each = f" ({found['nodes']:,} for each member)" if found["all_nodes"] != found["nodes"] else ""
    lacking = "" if found["enough_nodes"] else "; the machine has fewer"
    took = f"{found['ranks']:,} ranks, {format_duration(found['forecast_s'])} for a forecast"
    return f"{words}{nodes}{each}: {took}{lacking}"
