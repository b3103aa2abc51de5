"""Parameters of commands, declared in annotations, and the command lines that give their values.

A command is a function whose parameters are ``Annotated[TYPE, Option("--flag", ...)]`` or ``Annotated[TYPE,
Argument(...)]``; TYPE is str, int, float, bool (a flag), Path, one of these ``| None``, or a list of one (an option
that may be repeated). Of our own, as the usual packages take longer to load than most commands to run.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, get_args, get_origin

from tradewind.base.errors import InputError
from tradewind.base.names import unknown

HELP = "--help"
_ALLOWED = {int: "an integer", float: "a number"}


class Argument:
    """Declaration of a parameter that is given by its place."""

    def __init__(self, *, help: str = "", metavar: str | None = None, show_default: bool | str = True) -> None:
        """`show_default`: whether the help shows the default, or the words that it shows instead."""
        self.help, self.metavar, self.show_default = help, metavar, show_default
        self.flags: tuple[str, ...] = ()
        self.panel: str | None = None
        self.hidden, self.minimum = False, None


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
        minimum: int | None = None,
    ) -> None:
        """`panel`: the heading of the help under which it stands; `show_default`: as of `Argument`."""
        self.flags, self.help, self.metavar, self.show_default = flags, help, metavar, show_default
        self.panel, self.hidden, self.minimum = panel, hidden, minimum


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

    def read(self, text: str) -> Any:
        """Return the value of a text. Raises InputError."""
        try:
            value = self.kind(text)
        except ValueError:
            raise InputError(f"{self.spelling} {text!r}: {_ALLOWED[self.kind]} is allowed") from None
        if self.declared.minimum is not None and value < self.declared.minimum:
            raise InputError(f"{self.spelling} {text}: {self.declared.minimum} or more are allowed")
        return value


def parameters_of(function: Callable[..., Any]) -> list[Parameter]:
    """The parameters of a command, in the order of its function."""
    return [Parameter(each) for each in inspect.signature(function, eval_str=True).parameters.values()]


def wants_help(arguments: Sequence[str]) -> bool:
    """Whether arguments ask for the help of a command."""
    return HELP in (arguments[: arguments.index("--")] if "--" in arguments else arguments)


def parse(
    parameters: Iterable[Parameter], arguments: Sequence[str], strange: Callable[[str, list[str]], str] | None = None
) -> dict[str, Any]:
    """Return the values of all parameters by name. Raises InputError with all that is wrong.

    `strange`: returns the error for a flag that is not among those known.
    """
    known = list(parameters)
    by_flag = {flag: each for each in known for flag in (*each.flags, *each.off_flags)}
    words, texts, problems = _sorted(arguments, by_flag, strange or _unknown)
    places = [each for each in known if each.is_argument]
    texts += zip(places, words, strict=False)
    problems += [f"{word!r}: there is one argument too many" for word in words[len(places) :]]
    values: dict[str, Any] = {}
    for parameter, text in texts:
        try:
            value = text if isinstance(text, bool) else parameter.read(text)
        except InputError as error:
            problems += error.problems
            continue
        if parameter.is_repeatable:
            values.setdefault(parameter.name, []).append(value)
        else:
            values[parameter.name] = value
    named = {parameter.name for parameter, _ in texts}
    problems += [f"{each.spelling} is missing" for each in known if each.required and each.name not in named]
    if problems:
        raise InputError(*problems)
    return {each.name: values.get(each.name, each.default) for each in known}


def _sorted(
    arguments: Sequence[str], by_flag: dict[str, Parameter], strange: Callable[[str, list[str]], str]
) -> tuple[list[str], list[tuple[Parameter, str | bool]], list[str]]:
    """Arguments that belong to no flag, options with their texts, and what is wrong with flags."""
    words: list[str] = []
    texts: list[tuple[Parameter, str | bool]] = []
    problems = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--":
            words += rest
            break
        if not word.startswith("-") or word == "-":
            words.append(word)
            continue
        is_short = not word.startswith("--") and len(word) > 2  # -n4
        flag, equals, text = (word[:2], "=", word[2:].removeprefix("=")) if is_short else word.partition("=")
        parameter = by_flag.get(flag)
        if parameter is None:
            problems.append(strange(flag, [each for each in by_flag if each.startswith("--")]))
            if not equals and rest and not rest[0].startswith("-"):
                rest.pop(0)  # its value, perhaps
        elif parameter.is_flag:
            texts.append((parameter, flag in parameter.flags))
            problems += [f"{word}: {flag} takes no value"] if equals else []
        elif equals or rest:
            texts.append((parameter, text if equals else rest.pop(0)))
        else:
            texts.append((parameter, True))  # given, whatever it is
            problems.append(f"{flag} needs a value")
    return words, texts, problems


def _unknown(flag: str, known: list[str]) -> str:
    return unknown("option", flag, known)
