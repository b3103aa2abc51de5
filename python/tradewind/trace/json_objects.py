"""Objects in JSON that files of traces hold: read, and checked before anything uses what they name."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tradewind.base.errors import InputError, quoted


class Check(NamedTuple):
    """Condition on a value, and its words in errors."""

    holds: Callable[[Any], bool]
    allowed: str


_LARGEST = (1 << 61) - 1


def _is_whole(value: object) -> bool:
    return type(value) is int and -_LARGEST <= value <= _LARGEST


def list_of(check: Check) -> Check:
    """Return the check of a list of values."""
    return Check(lambda value: isinstance(value, list) and all(map(check.holds, value)), f"a list of {check.allowed}s")


def between(least: int, most: int) -> Check:
    """Return the check of a whole number in a range."""
    return Check(lambda value: _is_whole(value) and least <= value <= most, f"a number from {least} to {most}")


WHOLE = Check(_is_whole, "a whole number")
TEXT = Check(lambda value: isinstance(value, str), "a text")
FLAG = Check(lambda value: value in (0, 1), "0 or 1")
COUNTED = Check(
    lambda value: (
        isinstance(value, dict)
        and all(isinstance(each, list) and len(each) == 2 and all(map(_is_whole, each)) for each in value.values())
    ),
    "calls and nanoseconds by name",
)


def ranges_of(size: int, outside: int, most: int) -> Check:
    """Return the check of ranks as ranges: [first, count] each, of those below `size`, and no more than there are.

    `outside` in place of the first: ranks of other programs, of which there may be up to `most`.
    """

    def holds(value: object) -> bool:
        if not isinstance(value, list):
            return False
        left, others = size, most
        for each in value:
            if not (isinstance(each, list) and len(each) == 2 and all(map(_is_whole, each)) and each[1] >= 0):
                return False
            first, count = each
            if first == outside:
                others -= count
            elif first >= 0 and first + count <= size:
                left -= count
            else:
                return False
        return left >= 0 and others >= 0

    return Check(holds, f"ranges of ranks below {size}, or of {outside} for ranks of other programs,")


def read_object(
    text: str | bytes, where: str, required: Mapping[str, Check], optional: Mapping[str, Check] | None = None
) -> dict[str, Any]:
    """Return an object; others of its values than the named ones are not looked at. Raises InputError."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError: no JSON, no UTF-8, or a number of thousands of digits
        raise InputError(f"{where}: not JSON: {error}") from None
    if not isinstance(value, dict):
        raise InputError(f"{where}: {quoted(value)}: an object is allowed")
    checks = {**required, **{name: check for name, check in (optional or {}).items() if name in value}}
    for name, check in checks.items():
        if name not in value:
            raise InputError(f"{where}: no {name!r}, which is {check.allowed}")
        if not check.holds(value[name]):
            raise InputError(f"{where}: {name!r} is {quoted(value[name])}: {check.allowed} is allowed")
    return value
