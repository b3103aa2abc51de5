"""Candidates for the last word of a command line: commands, kinds, options, and the names that these take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from tradewind.cli import COMMANDS, command_for, words_of
from tradewind.cli.command import Command
from tradewind.cli.model import WORD as MODEL
from tradewind.cli.parameters import HELP, Parameter


def candidates(words: Sequence[str]) -> list[str]:
    """Return what the last of the words behind ``tradewind`` can become; none where a file is wanted."""
    if words and words[-1] == "=":
        words = [*words, ""]  # nothing behind --option= yet
    words = [word for word in words if word != "="] or [""]  # bash makes words of --option=value
    name, *rest = words
    if not rest:
        return _beginning(name, COMMANDS)
    if name not in COMMANDS:
        return []
    *given, last = rest
    command = command_for(name, given)
    if last.startswith("-") and "=" not in last:
        return _beginning(last, _flags(command, given))
    option, _, value = last.partition("=") if last.startswith("--") else ("", "", last)
    flag = option or (given[-1] if given else "")
    taken = next((each for each in command.parameters if flag in each.flags and not each.is_flag), None)
    if taken is None:
        return _beginning(last, _arguments(name, command, given))
    begun, comma, part = value.rpartition(",")
    known = _values(command, taken)
    return [
        f"{option}={text}" if option else text for text in (begun + comma + each for each in _beginning(part, known))
    ]


def _beginning(word: str, known: Iterable[str]) -> list[str]:
    return [each for each in known if each.startswith(word)]


def _flags(command: Command, given: Sequence[str]) -> list[str]:
    """The options that are not given yet, and those that may be repeated."""
    usable = [each for each in command.parameters if not each.declared.hidden]
    missing = [each for each in usable if each.is_repeatable or not set(each.flags) & set(given)]
    return [flag for each in missing for flag in (*each.flags, *each.off_flags)] + [HELP]


def _arguments(name: str, command: Command, given: Sequence[str]) -> Iterable[str]:
    """The names that may stand in the first place behind a command."""
    if command.family is not None and command.kind is None:
        return [*command.family.kinds(), *words_of(name)]
    if given == [MODEL] and name in ("simulate", "verify"):
        from tradewind.model import model_names

        return model_names()
    return [] if given else _FIRST.get(name, list)()


def _values(command: Command, option: Parameter) -> Iterable[str]:
    """The names that an option takes; none where it takes numbers or a file."""
    if option.declared.known is not None:
        known: Iterable[str] = option.declared.known()
        return known
    named = _NAMES.get(max(option.flags, key=len))
    return [] if named is None else named(command.kind)


def _machines(_: str | None) -> list[str]:
    from tradewind.machine import machine_names

    return machine_names()


def _routings(_: str | None) -> list[str]:
    from tradewind import _core

    return list(dict.fromkeys(each.name for each in _core.routings()))


def _algorithms(kind: str | None) -> list[str]:
    """The algorithms of a pattern; of a dwarf those of all."""
    from tradewind import _core
    from tradewind.workload.registry import PATTERNS, pattern_named

    core = pattern_named(kind).core_pattern if kind in PATTERNS else None
    return list(dict.fromkeys(each.name for each in _core.algorithms() if core in (None, each.pattern)))


def _transports(_: str | None) -> list[str]:
    from tradewind import _core

    return [each.name for each in _core.transports()]


def _packings(_: str | None) -> list[str]:
    from tradewind import _core

    return [each.name for each in _core.packings()]


def _strategies(dwarf: str | None) -> list[str]:
    from tradewind.dwarfs import find

    return ["all", *(find(dwarf).strategies if dwarf else ())]


_NAMES: Mapping[str, Callable[[str | None], list[str]]] = {
    "--machine": _machines,
    "--simulate": _machines,
    "--routing": _routings,
    "--algorithm": _algorithms,
    "--transport": _transports,
    "--packing": _packings,
    "--strategy": _strategies,
}
"""By option, the names that it takes, which depend on the kind."""


def _lists() -> list[str]:
    from tradewind.cli.list import TABLES

    return list(TABLES)


def _studies() -> list[str]:
    from tradewind.study.plan.catalogue import named_studies

    return list(named_studies())


def _shells() -> list[str]:
    from tradewind.cli.completion_scripts import SCRIPTS

    return list(SCRIPTS)


_FIRST: Mapping[str, Callable[[], list[str]]] = {"list": _lists, "study": _studies, "completion": _shells}
"""By command, the names that its first argument may be."""
