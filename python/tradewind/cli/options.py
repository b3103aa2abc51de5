"""The options that every command about one exchange shares, and the `Exchange` that they make."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer

if TYPE_CHECKING:
    from tradewind.workload.exchange import Exchange

Result = TypeVar("Result")

_PATTERN = "Pattern options"

Pattern = Annotated[str, typer.Argument(help="transpose, halo, fetch or allreduce.", show_default=False)]
Ranks = Annotated[int, typer.Option("--ranks", help="Number of ranks.", show_default=False)]
Algorithm = Annotated[
    str | None,
    typer.Option("--algorithm", help="Like ring-4; see `tradewind list algorithms`.", show_default="the pattern's own"),
]
Grid = Annotated[
    str | None,
    typer.Option("--grid", help="Points NXxNYxNZ, like 28800x14400x256.", rich_help_panel=_PATTERN, show_default=False),
]
Split = Annotated[
    str | None,
    typer.Option(
        "--split", help="Ranks CXxCY over x and y.", rich_help_panel=_PATTERN, show_default="the most even that fits"
    ),
]
Slab = Annotated[
    str,
    typer.Option(
        "--slab",
        help="transpose: xz, xy, yz, all three in order, or a path of layouts like xy-zy-zx-zy-xy.",
        rich_help_panel=_PATTERN,
    ),
]
Width = Annotated[int, typer.Option("--width", help="halo, fetch: points on every side.", rich_help_panel=_PATTERN)]
Periodic = Annotated[
    str,
    typer.Option(
        "--periodic",
        help="halo, fetch: periodic directions, x, y or xy.",
        rich_help_panel=_PATTERN,
        show_default="none",
    ),
]
Mesh = Annotated[
    str, typer.Option("--mesh", help="fetch: whose halo it is, lonlat or octahedral.", rich_help_panel=_PATTERN)
]
Stored = Annotated[
    str | None,
    typer.Option(
        "--messages",
        help="fetch: a stored list of messages, FILE.json, in place of a mesh.",
        rich_help_panel=_PATTERN,
        show_default=False,
    ),
]
Count = Annotated[int, typer.Option("--count", help="allreduce: elements.", rich_help_panel=_PATTERN)]
Times = Annotated[int, typer.Option("--times", help="Repeat the exchange so often in a row.", rich_help_panel=_PATTERN)]
Fields = Annotated[int, typer.Option("--fields", help="Fields together in each message.", rich_help_panel=_PATTERN)]
Dtype = Annotated[
    str, typer.Option("--dtype", help="Element type: f4, f8, i4, i8, c8 or c16.", rich_help_panel=_PATTERN)
]
Threads = Annotated[
    int | None,
    typer.Option("--threads", help="Of this process, or of each that shares a simulation.", show_default="all cores"),
]
Placement = Annotated[str, typer.Option("--placement", help="linear, round-robin, random, scattered or blocks.")]
Seed = Annotated[int, typer.Option("--seed", help="Of random routing and placement.")]
RanksPerNode = Annotated[int, typer.Option("--ranks-per-node", help="Ranks a node.")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Any machine value, like link.bandwidth=100GB/s; repeatable.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Answer as JSON.")]


@dataclass(frozen=True)
class PatternOptions:
    """What a pattern may ask for beside its ranks: the same options for every command (see `with_options`)."""

    grid: Grid = None
    split: Split = None
    slab: Slab = "all"
    width: Width = 3
    periodic: Periodic = ""
    mesh: Mesh = "lonlat"
    stored: Stored = None
    count: Count = 3
    times: Times = 1
    fields: Fields = 1
    dtype: Dtype = "f8"

    def exchange(self, pattern: str, ranks: int, algorithm: str | None = None) -> Exchange:
        """The exchange that is asked for. Raises InputError: all that cannot be read, else all that cannot be."""
        from tradewind.base.errors import InputError, gathered
        from tradewind.base.extents import parse_extents
        from tradewind.workload.exchange import Exchange

        problems: list[str] = []
        extents: dict[str, Any] = {}
        for name, numbers in (("grid", 3), ("split", 2)):
            text = getattr(self, name)
            with gathered(problems):
                extents[name] = None if text is None else parse_extents(text, numbers, name)
        if problems:
            raise InputError(*problems)
        return Exchange(pattern, ranks, algorithm=algorithm, **(asdict(self) | extents))


def machine_settings(texts: list[str] | None) -> dict[str, str]:
    """What --set asks for, by key."""
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
    """What every command that simulates may be told about the simulation (see `with_options`)."""

    threads: Threads = None
    placement: Placement = "linear"
    seed: Seed = 1
    ranks_per_node: RanksPerNode = 1
    settings: Settings = None

    def chosen(self) -> dict[str, Any]:
        """The options of `tradewind.simulation.prepare`. Raises InputError."""
        return asdict(self) | {"settings": machine_settings(self.settings)}


def with_options(command: Callable[..., Result]) -> Callable[..., Result]:
    """Lets a command take a parameter that is a `PatternOptions` or `RunOptions` from as many options."""
    signature = inspect.signature(command, eval_str=True)
    shared = {
        p.name: p.annotation for p in signature.parameters.values() if p.annotation in (PatternOptions, RunOptions)
    }

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
    spread.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what typer reads
    spread.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return spread


def _parameters(kind: type[PatternOptions] | type[RunOptions]) -> list[inspect.Parameter]:
    """One for each field."""
    hints = get_type_hints(kind, include_extras=True)
    keyword = inspect.Parameter.KEYWORD_ONLY
    return [
        inspect.Parameter(field.name, keyword, default=field.default, annotation=hints[field.name])
        for field in fields(kind)
    ]
