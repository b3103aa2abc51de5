"""`tradewind verify model NAME` and `simulate model NAME`: the time step of a whole model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tradewind.cli import options
from tradewind.cli import simulation_options as simulating
from tradewind.cli.parameters import ONE_OR_MORE, Argument, Option

if TYPE_CHECKING:
    from tradewind.model import AnyModel

WORD = "model"
"""Stands in place of a pattern."""
HELP = {
    "verify": "Prove that every exchange of a model's step is right, and that the step cannot deadlock.",
    "simulate": "Simulate the time step of a model on a machine: seconds, days per day, parts, causes; or find the "
    "ranks that a forecast needs.",
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
    ranks: Annotated[
        str | None, Option("-n", "--ranks", help="Number of ranks, or a comma list.", show_default=False)
    ] = None,
    within: Annotated[
        str | None,
        Option("--within", help="Find the ranks that do the forecast in this time, like 1h.", show_default=False),
    ] = None,
    forecast: Annotated[
        str | None, Option("--forecast", help="Length of that forecast, like 10d.", show_default=False)
    ] = None,
    members: Annotated[
        int, Option("--members", help="Forecasts of the ensemble, all of them within that time.", allowed=ONE_OR_MORE)
    ] = 1,
    number: _Numbers = None,
    threads_per_rank: Annotated[
        int | None,
        Option(
            "--threads-per-rank",
            help="Threads of a rank that compute, on machines with rates of cores.",
            show_default="those that fill a node",
            allowed=ONE_OR_MORE,
        ),
    ] = None,
    scale: Annotated[
        str | None,
        Option(
            "--scale",
            help="strong: the same grid on all ranks; weak: it grows with the ranks.",
            show_default="strong",
        ),
    ] = None,
    changes: Annotated[
        bool,
        Option("--changes", help="Also try changes of machine, algorithms, split, threads and overlap, one by one."),
    ] = False,
    causes: Annotated[
        bool | None,
        Option("--causes/--no-causes", help="Also split the time of a step by cause.", show_default="true"),
    ] = None,
    out: Annotated[
        Path | None,
        Option("--out", help="Draw parts and causes against ranks: FILE.svg, .png, .pdf or .html.", show_default=False),
    ] = None,
    *,
    simulated: options.Simulated,
    as_json: options.Json = False,
) -> None:
    """Simulate the step of a model on a machine, and print the result. Raises InputError."""
    from tradewind.base.errors import InputError
    from tradewind.cli.model_deadline import find_ranks, problems_of

    loaded, chosen = _loaded(name, number), simulated.chosen() | {"force": simulated.force}
    chosen["threads_per_rank"] = threads_per_rank
    given = {
        "--ranks": ranks is not None,
        "--scale": scale is not None,
        "--changes": changes,
        "--causes": causes is True,
        "--no-causes": causes is False,
        "--out": out is not None,
    }
    if problems := problems_of(within, forecast, members, [flag for flag, is_given in given.items() if is_given]):
        raise InputError(*problems)
    if within is not None and forecast is not None:
        find_ranks(loaded, machine, within, forecast, members, chosen, as_json)
        return
    wanted = _Wanted("strong" if scale is None else scale, changes, causes is not False, out)
    _simulate(loaded, machine, _listed(ranks), wanted, chosen, as_json)


@dataclass(frozen=True)
class _Wanted:
    """Questions about the numbers of ranks."""

    scale: str
    changes: bool
    causes: bool
    out: Path | None


def _simulate(
    loaded: AnyModel, machine: str, ranks: list[int], wanted: _Wanted, chosen: dict[str, Any], as_json: bool
) -> None:
    from tradewind.cli.model_tables import picture_title, show_forecasts
    from tradewind.cli.output import print_result
    from tradewind.cli.simulation_run import line_report, progress_bar
    from tradewind.machine import load_machine
    from tradewind.model.changes import tried_changes
    from tradewind.model.scaling import scaling

    _check(loaded, ranks, wanted)
    settings = chosen.pop("settings")
    file, results = load_machine(machine, settings), []
    report = line_report(as_json)
    with progress_bar(quiet=wanted.changes) as bar:
        more: dict[str, Any] = {"scale": wanted.scale, "causes": wanted.causes or wanted.changes, "progress": bar}
        for model, result in scaling(loaded, file, ranks, **more, **chosen):
            if wanted.changes:
                base: dict[str, Any] = {"base": result, "split": tuple(result["split"])}
                tried = tried_changes(
                    model, machine, result["ranks"], settings=settings, report=report, **base, **chosen
                )
                result["changes"] = tried
            results.append(result)
    if wanted.out is not None:
        from tradewind.plot.scaling import save_scaling

        save_scaling(results, wanted.out, picture_title(results))
        for result in results:
            result["picture"] = str(wanted.out)
    print_result(results[0] if len(results) == 1 else results, as_json, lambda: show_forecasts(loaded, results))


def _check(loaded: AnyModel, ranks: list[int], wanted: _Wanted) -> None:
    """Raises InputError, before the first simulation, for what cannot be simulated or written."""
    from tradewind.base.errors import InputError, gathered
    from tradewind.model.scaling import scaled

    problems: list[str] = []
    with gathered(problems):
        for number, (model, split) in zip(ranks, scaled(loaded, wanted.scale, ranks), strict=True):
            with gathered(problems):
                model.program(number, split)
    if wanted.out is not None:
        from tradewind.plot.methods import check_name

        with gathered(problems):
            check_name(wanted.out, "picture")
    if problems:
        raise InputError(*problems)


def _listed(ranks: str | None) -> list[int]:
    from tradewind.base.errors import InputError

    if ranks is None:
        raise InputError("--ranks is missing; or let them be found, with --within and --forecast such as 1h and 10d")
    texts = ranks.split(",")
    if strange := [text for text in texts if not text.strip().isdecimal()]:
        raise InputError(f"--ranks {ranks}: {strange[0]!r} is not a number of ranks; 1000 or 1000,10000 is allowed")
    return [int(text) for text in texts]


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


COMMANDS: dict[str, Callable[..., None]] = {"verify": verify, "simulate": simulate}
