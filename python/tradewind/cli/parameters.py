"""Parameters of commands, declared in annotations, and the command lines that give their values.

A command is a function whose parameters are ``Annotated[TYPE, Option("--flag", ...)]`` or ``Annotated[TYPE,
Argument(...)]``; TYPE is str, int, float, bool (a flag), Path, one of these ``| None``, or a list of one (an option
that may be repeated). The standard library's argparse takes the command line apart: other packages take longer to load
than most commands to run.
"""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn, get_args, get_origin

from tradewind.base.errors import InputError
from tradewind.base.extents import MAX_EXTENT
from tradewind.base.names import unknown

HELP = "--help"
_ALLOWED = {int: "an integer", float: "a number"}
ONE_OR_MORE = (1, MAX_EXTENT)
REPETITIONS = (1, 1_000_000)
WARMUP = (0, 1_000_000)
"""Ranges of integers: counts; samples, each of which is kept; exchanges before the first sample."""


class Argument:
    """Declaration of a parameter that is given by its place."""

    def __init__(self, *, help: str = "", metavar: str | None = None, show_default: bool | str = True) -> None:
        """`show_default`: whether the help shows the default, or the words that it shows instead."""
        self.help, self.metavar, self.show_default = help, metavar, show_default
        self.flags: tuple[str, ...] = ()
        self.panel: str | None = None
        self.hidden, self.allowed, self.known = False, None, None


class Option:
    """Declaration of a parameter that is given by a flag; one like ``--check/--no-check`` can also be switched off."""

    def __init__(
        self,
        *flags: str,
        help: str = "",
        metavar: str | None = None,
        show_default: bool | str = True,
        panel: str | None = None,
        hidden: bool = False,
        allowed: tuple[int, int] | None = (0, MAX_EXTENT),
        known: Callable[[], Iterable[str]] | None = None,
    ) -> None:
        """`panel`: the heading of the help under which it stands; `show_default`: as of `Argument`.

        `allowed`: the smallest and the largest integer; None: whatever it is for checks it, with the rest of its own.
        `known`: the names that shells complete.
        """
        self.flags, self.help, self.metavar, self.show_default = flags, help, metavar, show_default
        self.panel, self.hidden, self.allowed, self.known = panel, hidden, allowed, known


class Parameter:
    """One parameter of a command."""

    def __init__(self, given: inspect.Parameter) -> None:
        annotated, self.declared = get_args(given.annotation)
        self.name, self.required = given.name, given.default is inspect.Parameter.empty
        self.default = None if self.required else given.default
        kind = next((each for each in get_args(annotated) if each is not type(None)), annotated)
        if get_origin(annotated) is list:
            kind = annotated
        self.is_repeatable = get_origin(kind) is list
        self.kind: type = get_args(kind)[0] if self.is_repeatable else kind
        spelled = [flag.partition("/") for flag in self.declared.flags]
        self.flags = [on for on, _, _ in spelled]
        self.off_flags = [off for _, _, off in spelled if off]

    @property
    def is_argument(self) -> bool:
        """Whether it is given by its place, not by a flag."""
        return not self.flags

    @property
    def is_flag(self) -> bool:
        """Whether its flag alone is its value."""
        return self.kind is bool

    @property
    def placeholder(self) -> str:
        """The word that stands for its value in the help."""
        longest = max(self.flags or [self.name], key=len)
        return str(self.declared.metavar or longest.lstrip("-").replace("-", "_").upper())

    @property
    def spelling(self) -> str:
        """Its flags, or the placeholder of an argument."""
        return ", ".join([*self.flags, *self.off_flags]) or self.placeholder

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        """Let a parser know it. What it returns is the text, as errors in values are ours, and reported together."""
        if self.is_argument:
            parser.add_argument(self.name, nargs="*" if self.is_repeatable else "?")
            return
        if not self.is_flag:
            parser.add_argument(*self.flags, dest=self.name, action="append")  # to refuse a second one
            return
        parser.add_argument(*self.flags, dest=self.name, action="store_true")
        if self.off_flags:
            parser.add_argument(*self.off_flags, dest=self.name, action="store_false")

    def read_all(self, given: Any) -> Any:
        """Return the value of all texts that were given for it. Raises InputError, also for a second one."""
        if self.is_repeatable:
            return [self.read(text) for text in given]
        if isinstance(given, list):
            if len(given) > 1:
                raise InputError(f"{self.spelling}: given {len(given)} times ({', '.join(given)}); once is allowed")
            given = given[0]
        return self.read(given)

    def read(self, text: str | bool) -> Any:
        """Return the value of a text; of a flag it is the text itself. Raises InputError."""
        if isinstance(text, bool):
            return text
        try:
            value = self.kind(text)
        except ValueError:
            raise InputError(f"{self.spelling} {text!r}: {_ALLOWED[self.kind]} is allowed") from None
        allowed = self.declared.allowed if self.kind is int else None
        if allowed is not None and (problems := range_problems(self.spelling, value, allowed)):
            raise InputError(*problems)
        return value


def range_problems(what: str, value: int, allowed: tuple[int, int]) -> list[str]:
    """Return the problem of an integer that is not in a range."""
    low, high = allowed
    bounds = f"{low} or more" if value < low else f"{low}..{high}"
    return [] if low <= value <= high else [f"{what} {value}: {bounds} are allowed"]


def parameters_of(function: Callable[..., Any]) -> list[Parameter]:
    """The parameters of a command, in the order of its function."""
    return [Parameter(each) for each in inspect.signature(function, eval_str=True).parameters.values()]


def wants_help(arguments: Sequence[str]) -> bool:
    """Whether arguments ask for the help of a command."""
    return HELP in (arguments[: arguments.index("--")] if "--" in arguments else arguments)


class _Parser(argparse.ArgumentParser):
    """The parser of the standard library, whose errors are ours."""

    def __init__(self) -> None:
        super().__init__(add_help=False, allow_abbrev=False, argument_default=argparse.SUPPRESS, exit_on_error=False)

    def error(self, message: str) -> NoReturn:
        raise InputError(message)


def _divided(arguments: Sequence[str], known: Iterable[Parameter]) -> tuple[list[str], dict[str, list[str]]]:
    """Return the arguments in front of ``--``, and those behind, which are no flags, by the parameter for them."""
    takes_all = [each.name for each in known if each.is_argument and each.is_repeatable]
    if "--" not in arguments or not takes_all:
        return list(arguments), {}
    at = list(arguments).index("--")
    return list(arguments[:at]), {takes_all[0]: list(arguments[at + 1 :])}


def parse(
    parameters: Iterable[Parameter], arguments: Sequence[str], strange: Callable[[str, list[str]], str] | None = None
) -> dict[str, Any]:
    """Return the values of all parameters by name. Raises InputError with all that is wrong.

    `strange`: returns the error for a flag that is not among those known.
    """
    known = list(parameters)
    parser = _Parser()
    for each in known:
        each.add_to(parser)
    try:
        words, behind = _divided(arguments, known)
        found, rest = parser.parse_known_intermixed_args(words)
    except argparse.ArgumentError as error:
        wrong = next((each for each in known if error.argument_name in (each.name, "/".join(each.flags))), None)
        raise InputError(f"{wrong.spelling if wrong else error.argument_name}: {error.message}") from None
    for name in behind:
        setattr(found, name, [*getattr(found, name, []), *behind[name]])
    flags = [flag for each in known for flag in (*each.flags, *each.off_flags) if flag.startswith("--")]
    values, problems = dict[str, Any](), list[str]()
    for word in rest:  # what argparse knows no place for
        if word.startswith("-") and word != "-":
            problems.append((strange or _unknown)(word.partition("=")[0], flags))
        elif not problems:  # else it may be the value of an unknown flag
            problems.append(f"{word!r}: there is one argument too many")
    for each in known:
        if each.name not in found:
            problems += [f"{each.spelling} is missing"] if each.required else []
            values[each.name] = each.default
            continue
        given = getattr(found, each.name)
        try:
            values[each.name] = each.read_all(given)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(*problems)
    return values


def _unknown(flag: str, known: list[str]) -> str:
    return unknown("option", flag, known)
