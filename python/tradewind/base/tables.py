"""Tables of TOML files as pydantic checks them: what all kinds of files share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

from tradewind.base.errors import InputError
from tradewind.base.extents import parse_extents
from tradewind.base.names import unknown
from tradewind.base.toml_lines import Place


class Table(BaseModel):
    """A table of a file. A key that it does not know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True, allow_inf_nan=False)


def one_of(what: str, known: Collection[str]) -> BeforeValidator:
    """Return the check of a name; `what` names its kind in errors."""

    def check(value: Any) -> Any:
        if not isinstance(value, str) or value not in known:
            raise InputError(unknown(what, str(value), known))
        return value

    return BeforeValidator(check)


def parsed_extents(count: int, what: str, value: Any) -> tuple[int, ...]:
    """Return the `count` extents of a text like 64x32. Raises InputError."""
    if not isinstance(value, str):
        raise InputError(f"{what} {value!r}: text is allowed, {count} whole numbers joined by 'x'")
    return parse_extents(value, count, what)


def extents(count: int, what: str) -> BeforeValidator:
    """Return the check of `count` extents, which are given as text."""
    return BeforeValidator(lambda value: parsed_extents(count, what, value))


def place_of(loc: Place, kinds: tuple[str, ...]) -> Place:
    """Return a place of pydantic without what is one of `kinds`, or begins with one that ends with a sign like `[`."""
    begins = tuple(kind for kind in kinds if not kind[-1].isalnum())
    return tuple(part for part in loc if isinstance(part, int) or not (part in kinds or part.startswith(begins)))


def explained(details: Any, keys: Callable[[Place], Iterable[str]], kinds: tuple[str, ...] = ()) -> tuple[Place, str]:
    """Return the place of one error of pydantic, and the text of our error.

    `keys`: those that are known at a place. `kinds`: what pydantic puts behind a key for the kinds of a union, see
    `place_of`.
    """
    place = place_of(details["loc"], kinds)
    key = str(place[-1]) if place else ""
    if details["type"] == "extra_forbidden":
        return place, unknown("key", key, list(keys(place)))
    if details["type"] == "missing":
        return place[:-1], f"key {key!r} is missing"
    if details["type"] == "value_error":
        text = str(details["ctx"]["error"])
        has_key = not place or isinstance(place[-1], int) or text.startswith(key)
        return place, text if has_key else f"{key}: {text}"
    problem = f"{details['input']!r}: {details['msg'][0].lower()}{details['msg'][1:]}"
    if place and isinstance(place[-1], int):  # a value of a list
        return place, f"{next((each for each in reversed(place) if isinstance(each, str)), '')}: {problem}"
    return place, f"{key} = {problem}"
