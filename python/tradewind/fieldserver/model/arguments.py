"""Arguments of the calls of a field server."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradewind.base.errors import InputError, quoted
from tradewind.base.extents import whole_number
from tradewind.base.reading import path_of
from tradewind.fieldserver.plan.plan_file import MAX_STEP

if TYPE_CHECKING:
    from tradewind.fieldserver.server.handover import Array

MAX_FILES = 1_000_000
"""Files that are named in one call."""


def owner(values: Array) -> object:
    """Return what has the memory of an array, which its views have in common."""
    found: Any = values
    while getattr(found, "base", None) is not None:
        found = found.base
    return found


def listed_files(paths: Any) -> list[str]:
    """Return the names of input files. Raises InputError for what is no list of them."""
    one = isinstance(paths, str | bytes | Path) or getattr(paths, "shape", None) == ()
    listed = [] if one or not isinstance(paths, Iterable) else list(islice(paths, MAX_FILES + 1))
    if not 0 < len(listed) <= MAX_FILES:
        raise InputError(f"prefetch {quoted(paths)}: a list of names of files is allowed, up to {MAX_FILES}")
    return [str(path_of("prefetch", path)) for path in listed]


def place_of(level: Any) -> int:
    """Return the place of a level, or -1 for all of them. Raises InputError."""
    return -1 if level is None else whole("level", level)


def whole(what: str, number: Any) -> int:
    """Return a number that is no larger than that of a step may be. Raises InputError."""
    found = whole_number(what, number)
    if found > MAX_STEP:
        raise InputError(f"{what} {number}: up to {MAX_STEP} are allowed")
    return found
