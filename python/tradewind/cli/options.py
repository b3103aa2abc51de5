"""The options that commands share: those of patterns, from which an exchange is made, and those of simulations."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

from tradewind.cli.kinds import Asked, Family, of_kinds
from tradewind.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from tradewind.workload.exchange import Exchange
    from tradewind.workload.options import Option as KindOption

Result = TypeVar("Result")

Pattern = Annotated[str, Argument(help="See below, and `tradewind list patterns`.", show_default=False)]
Ranks = Annotated[int, Option("--ranks", help="Number of ranks.", show_default=False)]
Algorithm = Annotated[
    str | None,
    Option("--algorithm", help="Like ring-4; see `tradewind list algorithms`.", show_default="the pattern's own"),
]
Threads = Annotated[
    int | None,
    Option("--threads", help="Threads per process.", show_default="all cores"),
]
Placement = Annotated[str, Option("--placement", help="linear, round-robin, random, scattered or blocks.")]
Seed = Annotated[int, Option("--seed", help="Random seed for routing and placement.")]
RanksPerNode = Annotated[int, Option("--ranks-per-node", help="Ranks per node.")]
Settings = Annotated[
    list[str] | None,
    Option(
        "--set",
        metavar="KEY=VALUE",
        help="Set a machine value, like link.bandwidth=100GB/s; repeatable.",
        show_default=False,
    ),
]
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
    from tradewind.dwarfs.dwarf import Dwarf  # which loads none of them
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


@dataclass(frozen=True)
class RunOptions:
    """Options of every command that simulates (see `with_options`)."""

    threads: Threads = None
    placement: Placement = "linear"
    seed: Seed = 1
    ranks_per_node: RanksPerNode = 1
    settings: Settings = None

    def chosen(self) -> dict[str, Any]:
        """The options of `tradewind.simulation.prepare`. Raises InputError."""
        return asdict(self) | {"settings": machine_settings(self.settings)}


def with_options(command: Callable[..., Result]) -> Callable[..., Result]:
    """Lets a command take a parameter that is a `RunOptions` from as many options."""
    signature = inspect.signature(command, eval_str=True)
    shared = {p.name: p.annotation for p in signature.parameters.values() if p.annotation is RunOptions}

    @functools.wraps(command)
    def spread(*arguments: Any, **given: Any) -> Result:
        for name, kind in shared.items():
            given[name] = kind(**{each.name: given.pop(each.name) for each in fields(kind) if each.name in given})
        return command(*arguments, **given)

    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        if parameter.name in shared:
            parameters += _parameters(shared[parameter.name])
        else:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
    spread.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # which is read
    spread.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return spread


def _parameters(kind: type[RunOptions]) -> list[inspect.Parameter]:
    """One for each field."""
    hints = get_type_hints(kind, include_extras=True)
    keyword = inspect.Parameter.KEYWORD_ONLY
    return [
        inspect.Parameter(field.name, keyword, default=field.default, annotation=hints[field.name])
        for field in fields(kind)
    ]
