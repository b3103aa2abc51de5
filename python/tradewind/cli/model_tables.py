"""Tables and sentences of `tradewind simulate model`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tradewind.model import AnyModel

Result = Mapping[str, Any]

_SHOWN_CHANGES = 3
"""Changes of each kind that are printed; --json has all."""
_BOUNDS = {
    "processors": "the rate of the processors",
    "stated times": "computing whose times the model states",
    "imbalance": "load imbalance",
    "pack": "copies of messages",
    "bandwidth": "the bandwidth of the network",
    "congestion": "congestion of the network",
}
"""Names of bounds in words, where the name alone would not do."""


def show_forecasts(model: AnyModel, results: Sequence[Result]) -> None:
    """Print forecasts on several numbers of ranks in one table, and what bounds them."""
    from tradewind.cli.energy import energy_rows, say_no_energy
    from tradewind.cli.screen import show_table, show_text
    from tradewind.cli.simulation_run import say_disturbed
    from tradewind.cli.table import TextColumn, TextTable

    columns = [TextColumn("part"), *(TextColumn(f"{result['ranks']:,} ranks", number=True) for result in results)]
    rows = [*_times(results), *_shares(results), *energy_rows(results)]
    show_table(TextTable(columns, rows, _title(results[0])))
    say_disturbed(results[0])
    say_no_energy(results[0])
    if model.assumed:
        show_text(f"assumed, not published for this model: {', '.join(model.assumed)}; --number changes numbers")
    for result in results:
        if "bound_by" in result:
            show_text(f"on {result['ranks']:,} ranks {bound_of(result)}")
        if "changes" in result:
            _show_changes(result)
    if "picture" in results[0]:
        print(f"picture: {results[0]['picture']}")


def bound_of(result: Result) -> str:
    """Return what bounds a step: "bound by memory bandwidth (62 %)"."""
    bound = result["bound_by"]
    return f"bound by {_BOUNDS.get(bound, bound)} ({100 * result['bound_share']:.0f} %)"


def picture_title(results: Sequence[Result]) -> str:
    """Return the title of a picture of several numbers of ranks."""
    first = results[0]
    scale = f"; {first['scale']} scaling" if len(results) > 1 else ""
    return f"{first['program']} on {first['machine']}, {first['routing']}{scale}"


def _title(first: Result) -> str:
    from tradewind.base.units import format_seconds

    each = f", {first['ranks_per_node']} ranks per node" if first["ranks_per_node"] != 1 else ""
    if threads := first.get("threads_per_rank"):
        each += f", {threads} {'thread' if threads == 1 else 'threads'} per rank"
    steps = f"steps of {format_seconds(first['step_s'])}"
    return f"{first['program']} on {first['machine']}, {first['routing']}{each}; {steps}"


def _times(results: Sequence[Result]) -> list[list[str]]:
    from tradewind.base.units import format_seconds

    rows = [
        ["a step", *(format_seconds(result["time_s"]) for result in results)],
        ["forecast days per day", *(f"{result['forecast_days_per_day']:.3g}" for result in results)],
        ["simulated years per day", *(f"{result['simulated_years_per_day']:.3g}" for result in results)],
    ]
    if results[0]["scale"] == "weak":
        rows.insert(0, ["grid", *(result["grid"] for result in results)])
    if len(results) > 1:
        rows.append([f"efficiency, {results[0]['scale']}", *(_percent(result["efficiency"]) for result in results)])
    return rows


def _shares(results: Sequence[Result]) -> list[list[str]]:
    rows = [
        [part, *(_percent(result["share"].get(part, 0.0)) for result in results)] for part in _names(results, "part_s")
    ]
    rows.append(["exchanging", *(_percent(result["exchanging_s"] / result["time_s"]) for result in results)])
    if "cause_s" in results[0]:
        rows += [
            [f"cause: {name}", *(_percent(result["cause_s"][name] / result["time_s"]) for result in results)]
            for name in _names(results, "cause_s")
        ]
    return rows


def _names(results: Sequence[Result], key: str) -> list[str]:
    """Return the parts or causes that take time in any of the results."""
    return list(dict.fromkeys(name for result in results for name, seconds in result[key].items() if seconds))


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _show_changes(result: Result) -> None:
    from tradewind.cli.screen import show_text

    for kind, words in (("machine", "it would be faster with"), ("user", "of what you can choose")):
        of_kind = [each for each in result["changes"] if each["kind"] == kind]
        tried = [each for each in of_kind if "factor" in each]
        best = [f"{each['change']} ({_gain(each)})" for each in tried if each["factor"] > 1.005]
        text = "; ".join(best[:_SHOWN_CHANGES]) or "nothing that was tried helps by half a percent"
        refused, idle = (sum(key in each for each in of_kind) for key in ("refused", "touches"))
        left_out = f", {refused} do not fit" if refused else ""
        left_out += f", {idle} not, which touch too little" if idle else ""
        show_text(f"on {result['ranks']:,} ranks, {words}: {text} ({len(tried)} tried, one at a time{left_out})")


def _gain(change: Result) -> str:
    """Return how many times as fast a step is with a change, and its energy where it is known."""
    from tradewind.base.units import format_joules

    joules = f", {format_joules(change['energy_j'])}" if "energy_j" in change else ""
    return f"{change['factor']:.2f} x{joules}"
