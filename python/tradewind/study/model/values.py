"""Values of the keys of a study file: the types of its values, and the keys that several kinds of sweeps share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field

from tradewind.base.errors import InputError
from tradewind.base.extents import extents_text
from tradewind.base.names import unknown
from tradewind.base.tables import extents


def listed(value: Any) -> Any:
    """Return a list as it is, and one value as a list of it."""
    return value if isinstance(value, list) else [value]


def checked(check: Callable[[Any], None]) -> BeforeValidator:
    """Return a validator that passes on a value after `check`, which raises InputError."""

    def run(value: Any) -> Any:
        check(value)
        return value

    return BeforeValidator(run)


def directions(text: Any) -> None:
    """Check the periodic directions, a text like "xy". Raises InputError."""
    if not isinstance(text, str) or not set(text) <= {"x", "y"} or len(set(text)) != len(text):
        raise InputError(f"periodic {text!r}: some of 'xy' are allowed")


T = TypeVar("T")
Many = Annotated[list[T], BeforeValidator(listed), Field(min_length=1)]
"""One value or a list of them."""

Positive = Annotated[int, Field(ge=1, strict=True)]
Grid = Annotated[tuple[int, int, int], extents(3, "grid")]
Split = Annotated[tuple[int, int], extents(2, "split")]


Value = str | int
QUICK_KEYS = ("ranks", "algorithm", "machine", "routing", "base", "width", "seed")
RUN_QUICK_KEYS = (*QUICK_KEYS, "strategy", "transport", "packing", "threads", "work", "nodes", "way", "servers")
"""The keys of a sweep that a quick run may shorten; those of a sweep of runs."""


def quick_keys(value: Any) -> Any:
    """Check the table `quick` of a sweep. Raises InputError for `true` and for a key that it cannot shorten."""
    if value is True:
        raise InputError(
            "quick true: false (nothing of this sweep), or a table like { ranks = [100, 1000] } is allowed"
        )
    for key in value if isinstance(value, dict) else ():
        if key not in RUN_QUICK_KEYS:
            raise InputError("quick: " + unknown("key", key, RUN_QUICK_KEYS))
    return value


Quick = Annotated[Literal[False] | dict[str, Many[Value]], BeforeValidator(quick_keys)]
"""Values of some keys that a quick run computes; False: nothing of the sweep."""


def rising() -> AfterValidator:
    """Return the check of a span (low, high), which raises InputError where low > high."""

    def check(span: tuple[Any, Any]) -> tuple[Any, Any]:
        if span[0] > span[1]:
            raise InputError(f"{list(span)}: the first must not be larger than the second")
        return span

    return AfterValidator(check)


def wrong_splits(ranks: int, splits: Iterable[tuple[int, int]]) -> list[str]:
    """Return the problems of splits that make another number of ranks."""
    made = [(split, split[0] * split[1]) for split in splits]
    return [f"split {extents_text(split)} makes {n} ranks: {n} is not {ranks}" for split, n in made if n != ranks]


def split_by_ranks(value: Any) -> Any:
    """Return splits by number of ranks; one split alone has the key 0 and holds for all."""
    return value if isinstance(value, dict) else {0: value}
