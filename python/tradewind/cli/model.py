"""`tradewind verify model NAME` and `simulate model NAME`: the time step of a whole model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

from tradewind.cli import options
from tradewind.cli import simulation_options as simulating
from tradewind.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from tradewind.model import AnyModel

WORD = "model"
"""Stands in place of a pattern."""
HELP = {
    "verify": "Prove that every exchange of a model's step is right, and that the step cannot deadlock.",
    "simulate": "Simulate the time step of a model on a machine: seconds, days per day, and the share of each part.",
}

_Word = Annotated[str, Argument(metavar="model", help="The word `model`.", show_default=False)]
_Name = Annotated[
    str, Argument(metavar="NAME", help="A model (`tradewind list models`), or a file.", show_default=False)
]
_Numbers = Annotated[
    list[str] | None,
    Option(
        "--number",
        metavar="NAME=VALUE",
        help="Set a number of the model, like tracers=20; repeatable.",
        show_default=False,
    ),
]


def verify(
    model: _Word,
    name: _Name,
    ranks: options.Ranks,
    number: _Numbers = None,
    *,
    as_json: options.Json = False,
) -> None:
    """Prove the step of a model, and print the result. Raises InputError, VerificationError."""
    from tradewind.cli.output import print_result
    from tradewind.cli.program import show_verified

    result = _loaded(name, number).verify(ranks)
    print_result(result, as_json, lambda: show_verified(result))


@options.of_simulations(
    without=("model", "transport", "packing", "timeline", "timeline_ranks", "order", "links", "congestion")
)
def simulate(
    model: _Word,
    name: _Name,
    machine: simulating.Machine,
    ranks: Annotated[str, Option("-n", "--ranks", help="Number of ranks, or a comma list.", show_default=False)],
    number: _Numbers = None,
    changes: Annotated[
        bool,
        Option("--changes", help="Also simulate changes of machine, algorithms, routing, split, one by one."),
    ] = False,
    *,
    simulated: options.Simulated,
    as_json: options.Json = False,
) -> None:
    """Simulate the step of a model on a machine, and print the result. Raises InputError."""
    from tradewind.base.errors import InputError, gathered
    from tradewind.cli.output import print_result
    from tradewind.cli.simulation_run import progress_bar
    from tradewind.machine import load_machine

    loaded = _loaded(name, number)
    texts = ranks.split(",")
    if strange := [text for text in texts if not text.strip().isdecimal()]:
        raise InputError(f"--ranks {ranks}: {strange[0]!r} is not a number of ranks; 1000 or 1000,10000 is allowed")
    problems: list[str] = []
    for text in texts:
        with gathered(problems):
            loaded.program(int(text))
    if problems:
        raise InputError(*problems)
    chosen = simulated.chosen()
    settings = chosen.pop("settings")
    file = load_machine(machine, settings)
    results = []
    with progress_bar() as report:
        for text in texts:
            result = loaded.simulate(file, int(text), force=simulated.force, progress=report, **chosen)
            if changes:
                from tradewind.model.changes import tried_changes

                more = {"force": simulated.force, "progress": report, "base_s": result["time_s"]}
                result["changes"] = tried_changes(loaded, machine, int(text), settings=settings, **more, **chosen)
            results.append(result)
    print_result(results[0] if len(results) == 1 else results, as_json, lambda: _show(loaded, results))


def _loaded(name: str, numbers: list[str] | None) -> AnyModel:
    from tradewind.base.errors import InputError
    from tradewind.model import load_model

    changed: dict[str, float] = {}
    for text in numbers or []:
        key, _, value = text.partition("=")
        try:
            changed[key] = float(value)
        except ValueError:
            raise InputError(f"--number {text}: NAME=VALUE is allowed, like tracers=20") from None
    return load_model(name, changed)


def _show(model: AnyModel, results: list[dict[str, Any]]) -> None:
    from tradewind.base.units import format_seconds
    from tradewind.cli.energy import energy_rows, say_no_energy
    from tradewind.cli.screen import show_table, show_text
    from tradewind.cli.simulation_run import say_disturbed
    from tradewind.cli.table import TextColumn, TextTable

    parts = list(dict.fromkeys(part for result in results for part in result["part_s"]))
    columns = [TextColumn("part"), *(TextColumn(f"{result['ranks']:,} ranks", number=True) for result in results)]
    rows = [["a step", *(format_seconds(result["time_s"]) for result in results)]]
    rows += [["forecast days per day", *(f"{result['forecast_days_per_day']:.3g}" for result in results)]]
    rows += [["simulated years per day", *(f"{result['simulated_years_per_day']:.3g}" for result in results)]]
    rows += [[part, *(f"{100 * result['share'].get(part, 0.0):.1f} %" for result in results)] for part in parts]
    rows += [["exchanging", *(f"{100 * r['exchanging_s'] / r['time_s']:.1f} %" for r in results)]]
    rows += energy_rows(results)
    first = results[0]
    each = f", {first['ranks_per_node']} ranks per node" if first["ranks_per_node"] != 1 else ""
    title = f"{model.name} on {first['machine']}, {first['routing']}{each}; steps of {format_seconds(first['step_s'])}"
    show_table(TextTable(columns, rows, title))
    say_disturbed(first)
    say_no_energy(first)
    if model.assumed:
        show_text(f"assumed, not published for this model: {', '.join(model.assumed)}; --number changes numbers")
    for result in results:
        if "changes" in result:
            _show_changes(result)


_SHOWN_CHANGES = 3
"""Changes of each kind that are printed; --json has all."""


def _show_changes(result: dict[str, Any]) -> None:
    from tradewind.cli.screen import show_text

    for kind, words in (("machine", "it would be faster with"), ("user", "of what you can choose")):
        tried = [each for each in result["changes"] if each["kind"] == kind and "factor" in each]
        best = [f"{each['change']} ({each['factor']:.2f} x)" for each in tried if each["factor"] > 1.005]
        text = "; ".join(best[:_SHOWN_CHANGES]) or "nothing that was tried helps by half a percent"
        show_text(f"on {result['ranks']:,} ranks, {words}: {text} ({len(tried)} tried, one at a time)")


COMMANDS: dict[str, Callable[..., None]] = {"verify": verify, "simulate": simulate}
