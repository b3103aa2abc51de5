"""Fields of a request as users meet them: an option of the command line, a key of a study, a label of a case.

A pattern and a dwarf are a dataclass each, whose fields are declared by `option`. From these follow the checks of a
request, what ``--help`` shows, the keys that sweeps of studies may vary, and the labels of their cases.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass
from functools import cache
from inspect import get_annotations
from typing import Any, Literal, Union, get_args, get_origin

from tradewind.base.errors import InputError, gathered
from tradewind.base.extents import parse_extents
from tradewind.base.names import unknown
from tradewind.base.units import byte_count, bytes_per_second, seconds

_KEY = "option"
Problems = Callable[[Any], list[str]]
"""Return the problem of a value, in words."""
_UNITS: Mapping[str, Callable[[str], float]] = {"s": seconds, "bytes": byte_count, "B/s": bytes_per_second}


@dataclass(frozen=True)
class Option:
    """Option of a request: how a user gives it, and which values are allowed."""

    help: str
    default: Any
    """None: chosen by the request; `MISSING`: must be given."""
    name: str = ""
    """Name of the field; the key in a study file and, where `label` says more, the label of a case."""
    kind: Literal["bool", "int", "float", "str", "extents"] = "str"
    """Kind of its values, of the field's type."""
    flag: str = ""
    """Flag on the command line, such as ``--width``; made of its name unless given."""
    label: str = ""
    """Description in a dataset or a plot; "": it is no label."""
    minimum: float | None = None
    maximum: float | None = None
    known: Callable[[], Iterable[str]] | None = None
    """The names that are allowed."""
    problems: Problems | None = None
    """Further checks of the value."""
    what: str = ""
    """Name in errors; its own unless given."""
    shown: str = ""
    """The default in words."""
    metavar: str = ""
    extents: int = 0
    """Count of whole numbers joined by 'x', of the field's type."""
    unit: str = ""
    """``s``, ``bytes`` or ``B/s``: a user writes a number with its unit, such as 15ns, 4KiB or 12GB/s."""
    words: tuple[str, ...] = ()
    """Words that are allowed in place of a number."""
    offered: str = ""
    """Default of the command line for an option that must be given elsewhere."""
    swept: bool = True
    """Whether a sweep of a study may vary it."""
    common: bool = False
    """Whether every request of its family has it."""
    hidden: bool = False
    """Whether no help shows it: a spelling of earlier versions."""
    negated: bool = False
    """Whether its flag switches it off."""

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.default is MISSING

    def read(self, text: Any) -> Any:
        """A value from the command line. Raises InputError for invalid extents, a missing unit, and other words."""
        if self.negated:
            return not text
        if self.unit and isinstance(text, str):
            return _UNITS[self.unit](text)
        if self.kind == "extents" and isinstance(text, str):
            return parse_extents(text, self.extents, self.what)
        if self.kind == "int" and isinstance(text, str) and text not in self.words:  # or what is offered
            try:
                return int(text)
            except ValueError:
                raise InputError(f"{self.what} {text!r}: {self._allowed()}") from None
        return text

    def wrong(self, value: Any) -> list[str]:
        """Return the problem of a value, in words."""
        if value is None or value in self.words:
            return []
        if self.words and isinstance(value, str):
            return [f"{self.what} {value!r}: {self._allowed()}"]
        if self.known is not None:
            known = tuple(self.known())
            return [] if value in known else [unknown(self.what, str(value), known)]
        found = []
        for each in value if self.kind == "extents" else (value,):
            low, high = (
                self.minimum is not None and not each >= self.minimum,
                self.maximum is not None and each > self.maximum,
            )
            if low or high:
                unit = " s" if self.unit == "s" else ""
                found = [f"{self.what} {self.text(value)}{unit}: {self._allowed()}"]
        return found + (self.problems(value) if self.problems is not None and not found else [])

    def text(self, value: Any) -> str:
        """A value as a user writes it."""
        return "x".join(str(number) for number in value) if self.kind == "extents" else str(value)

    def _allowed(self) -> str:
        words = "".join(f", or {word!r}" for word in self.words)
        if self.maximum is None:
            return f"{self.minimum} or more are allowed{words}"
        return f"{self.minimum}..{self.maximum} are allowed{words}"


def option(help: str, default: Any = MISSING, *, by_name: bool = True, of: type[Option] = Option, **more: Any) -> Any:
    """A field of a request. `by_name`: it can be given by its name alone; `of`, `more`: its record, as in `Option`."""
    return dataclasses.field(default=default, kw_only=by_name, metadata={_KEY: of(help, default, **more)})


_FOUND: dict[type[Any], Mapping[str, Option]] = {}


@cache
def _own_hints(kind: type[Any]) -> Mapping[str, Any]:
    """Return the types of a class's own fields: classes share bases, and types are texts until they are evaluated."""
    return get_annotations(kind, eval_str=True)


def options_of(kind: type[Any]) -> Mapping[str, Option]:
    """The options of a request, by the names of their fields, those of its own before the common ones."""
    if kind in _FOUND:
        return _FOUND[kind]
    hints = {name: hint for each in reversed(kind.__mro__) for name, hint in _own_hints(each).items()}
    found = {}
    for field in dataclasses.fields(kind):
        declared: Option | None = field.metadata.get(_KEY)
        if declared is None or field.name in getattr(kind, "without", ()):
            continue
        value, extents = _kind(hints[field.name])
        found[field.name] = dataclasses.replace(
            declared,
            name=field.name,
            kind=value,
            extents=extents,
            what=declared.what or field.name.replace("_", " "),
            flag=declared.flag or "--" + field.name.replace("_", "-"),
        )
    own_first = sorted(found.values(), key=lambda each: each.common)
    return _FOUND.setdefault(kind, {each.name: each for each in own_first})


def _kind(hint: Any) -> tuple[Any, int]:
    """The kind of values of a type, and how many numbers extents have."""
    if get_origin(hint) in (Union, types.UnionType):
        hint = next(each for each in get_args(hint) if each is not type(None))
    if get_origin(hint) is tuple:
        return "extents", len(get_args(hint))
    names = {bool: "bool", int: "int", float: "float", str: "str"}
    return names[hint], 0


def problems_of(request: Any) -> list[str]:
    """Return the problems of each option of a request, taken alone."""
    return [text for name, each in options_of(type(request)).items() for text in each.wrong(getattr(request, name))]


def from_plain(kind: type, values: Mapping[str, Any]) -> Any:
    """A request from plain values of ``asdict``, also after a way through JSON, which makes tuples lists.

    Raises InputError for keys that it does not have.
    """
    known = {field.name for field in dataclasses.fields(kind)}
    if strange := [unknown("option", key, sorted(known)) for key in values if key not in known]:
        raise InputError(*strange)
    return kind(**{key: tuple(value) if isinstance(value, list) else value for key, value in values.items()})


def read(kind: Any, texts: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The values of texts from the command line, and what cannot be read; that is left out."""
    values: dict[str, Any] = {}
    problems: list[str] = []
    known = options_of(kind)
    for name, text in texts.items():
        if name not in known:  # an option of the pattern whose former spelling means another one
            problems.append(f"--{name.replace('_', '-')} does not apply to {kind.kind}: leave it out")
            continue
        with gathered(problems):
            values[name] = known[name].read(text)
    return values, problems
