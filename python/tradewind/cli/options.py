"""The options that commands share: those of patterns, from which an exchange is made, and those of simulations."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

from tradewind.cli.kinds import Asked, Command, Family, of_kinds, parameter, spread
from tradewind.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from tradewind.workload.exchange import Exchange
    from tradewind.workload.options import Option as KindOption

Pattern = Annotated[str, Argument(help="See below, and `tradewind list patterns`.", show_default=False)]
Ranks = Annotated[int, Option("-n", "--ranks", help="Number of ranks.", show_default=False, allowed=None)]
Algorithm = Annotated[
    str | None,
    Option("--algorithm", help="Like ring-4; see `tradewind list algorithms`.", show_default="the pattern's own"),
]
Settings = Annotated[
    list[str] | None,
    Option(
        "--set",
        metavar="KEY=VALUE",
        help="Set a machine value, like link.bandwidth=100GB/s; repeatable.",
        show_default=False,
    ),
]
Links = Annotated[
    Path | None, Option("--links", help="Write the load of every link and NIC to a CSV file.", show_default=False)
]
Congestion = Annotated[
    Path | None,
    Option(
        "--congestion",
        help="Draw link loads and waiting packets in this FOLDER; for several simulations, in one subfolder each.",
        show_default=False,
    ),
]
Force = Annotated[bool | None, Option("--force", help="Run even if the estimate exceeds memory.", show_default=False)]
Json = Annotated[bool, Option("--json", help="Print JSON.")]


def _patterns() -> dict[str, str]:
    from tradewind.workload.registry import PATTERNS

    return {name: entry.description for name, entry in PATTERNS.items()}


def _pattern_options(pattern: str) -> Mapping[str, KindOption]:
    from tradewind.workload.options import options_of
    from tradewind.workload.registry import pattern_named

    kind = pattern_named(pattern)
    former = {name: options_of(pattern_named(other))[name] for name, other in kind.former.items()}
    hidden = {name: replace(each, hidden=True, default=None) for name, each in former.items()}
    return {**options_of(kind), **hidden}


def _options_of_patterns() -> Mapping[str, KindOption]:
    first, *others = map(_pattern_options, _patterns())
    return {name: each for name, each in first.items() if all(name in other for other in others)}


PATTERNS = Family("pattern", _patterns, _pattern_options, _options_of_patterns, beside=("ranks", "algorithm"))
of_patterns = of_kinds(PATTERNS)
"""Lets a command take its `Asked` from the options of the pattern that its first argument names."""


def _dwarfs() -> dict[str, str]:
    from tradewind.dwarfs import DWARFS

    return {name: entry.description for name, entry in DWARFS.items()}


def _dwarf_options(dwarf: str) -> Mapping[str, KindOption]:
    """Return the options of a dwarf; the command takes several strategies."""
    from tradewind.dwarfs import find
    from tradewind.workload.options import options_of

    known, kind = options_of(find(dwarf)), find(dwarf)
    names = [name for name in kind.strategies if name not in kind.not_simulated]
    others = f"; to show what to avoid, {', '.join(kind.not_simulated)}" if kind.not_simulated else ""
    help = f"Comma list of {', '.join(names)}{others}; or `all`."
    return {**known, "strategy": replace(known["strategy"], help=help, shown=next(iter(kind.strategies)))}


def _options_of_dwarfs() -> Mapping[str, KindOption]:
    from tradewind.dwarfs.frame.dwarf import Dwarf  # which loads none of them
    from tradewind.workload.options import options_of

    known = options_of(Dwarf)
    help = "Comma list of the dwarf's strategies, or `all`."
    return {**known, "strategy": replace(known["strategy"], help=help, shown="its first")}


DWARFS = Family("dwarf", _dwarfs, _dwarf_options, _options_of_dwarfs, beside=("ranks",))
of_dwarfs = of_kinds(DWARFS)
"""Lets a command take its `Asked` from the options of the dwarf that its first argument names."""


def exchange(asked: Asked, pattern: str, ranks: int, algorithm: str | None = None, **more: Any) -> Exchange:
    """The exchange that is asked for. Raises InputError: all that cannot be read, else all that cannot be."""
    from tradewind.base.errors import InputError
    from tradewind.workload.exchange import Exchange
    from tradewind.workload.options import read
    from tradewind.workload.registry import pattern_named

    values, problems = read(pattern_named(pattern).meant(asked.given), asked.given)
    if problems:
        raise InputError(*problems)
    return Exchange(pattern, ranks, algorithm=algorithm, **(values | more))


def machine_settings(texts: list[str] | None) -> dict[str, str]:
    """Return the values of --set by key."""
    from tradewind.base.errors import InputError

    texts = texts or []
    problems = [
        f"--set {text!r}: KEY=VALUE is allowed, like link.bandwidth=100GB/s" for text in texts if "=" not in text
    ]
    if problems:
        raise InputError(*problems)
    return {key: value for key, _, value in (text.partition("=") for text in texts)}


_BESIDE: Mapping[str, Any] = {
    "settings": Settings,
    "links": Links,
    "congestion": Congestion,
    "force": Force,
}
"""Options of simulations that stand beside those of a `SimulationOptions`."""


@dataclass(frozen=True)
class Simulated:
    """The options of a simulation that the user gave, beside what is simulated and on which machine."""

    given: Mapping[str, Any] = field(default_factory=dict)
    """By the names of the fields of `SimulationOptions`, and of `_BESIDE`."""
    flags: tuple[str, ...] = ()
    """Their spelling."""

    def chosen(self) -> dict[str, Any]:
        """Return the keywords of `tradewind.simulation.prepare`. Raises InputError."""
        from tradewind.base.errors import InputError, gathered
        from tradewind.workload.options import read
        from tradewind.workload.simulation_options import SimulationOptions

        texts = {name: value for name, value in self.given.items() if name not in _BESIDE}
        values, problems = read(SimulationOptions, texts)
        settings: dict[str, str] = {}
        with gathered(problems):
            settings = machine_settings(self.given.get("settings"))
        if problems:
            raise InputError(*problems)
        return values | {"settings": settings}

    @property
    def links(self) -> Path | None:
        """File for the loads of links; None: none."""
        return self.given.get("links")

    @property
    def congestion(self) -> Path | None:
        """Folder for pictures of the congestion; None: none."""
        return self.given.get("congestion")

    @property
    def force(self) -> bool:
        """Whether to simulate even if the estimate exceeds memory."""
        return bool(self.given.get("force"))


def of_simulations(
    *,
    only: Collection[str] | None = None,
    without: Collection[str] = (),
    flags: Mapping[str, str] | None = None,
    panel: str | None = None,
) -> Callable[[Command], Command]:
    """Let a command take its `Simulated` from the options of simulations: `only` some, or all `without` some.

    `flags`: those that the command spells in its own way. `panel`: the heading of the help under which they stand.
    """
    from tradewind.workload.simulation_options import options_of_simulations

    prefix = "simulated_"
    spelled = flags or {}
    parameters = [
        parameter(replace(each, flag=spelled.get(name, each.flag)), panel, prefix)
        for name, each in options_of_simulations().items()
        if each.on_command_line
    ]
    for name, annotation in _BESIDE.items():
        kind, declared = get_args(annotation)
        shown = copy.copy(declared)
        shown.panel = panel
        keyword = inspect.Parameter.KEYWORD_ONLY
        parameters.append(inspect.Parameter(prefix + name, keyword, default=None, annotation=Annotated[kind, shown]))
    taken = [
        each
        for each in parameters
        if (name := each.name.removeprefix(prefix)) not in without and (only is None or name in only)
    ]
    by_name = {each.name: get_args(each.annotation)[1].flags[0] for each in taken}

    def make(given: dict[str, Any]) -> Simulated:
        values = {name.removeprefix(prefix): value for name, value in given.items()}
        return Simulated(values, tuple(by_name[name] for name in given))

    return lambda command: spread(command, Simulated, taken, make)
