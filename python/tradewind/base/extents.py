"""Whole numbers of ranks and points, alone and as `602x568x60`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

from tradewind.base.errors import InputError, quoted

MAX_EXTENT = 2**31 - 1
"""Ranks, points along a direction, fields: what fits the counts of MPI and of the core."""
MAX_COUNT = 2**63 - 1
"""The largest number that the core holds."""
_MAX_DIGITS = 18
_SHOWN = 60
"""Characters of a text that an error quotes."""


def extents_text(values: Iterable[int]) -> str:
    """``(28800, 14400, 256)`` -> "28800x14400x256"."""
    return "x".join(str(v) for v in values)


def largest_product(limit: int, maxima: tuple[int, int]) -> tuple[int, tuple[int, int]]:
    """Return the largest number up to `limit` that is a product of two numbers up to these `maxima`, and both of them.

    Ranks that are divided along two directions are such a product.
    """
    first, second = maxima
    best = max(((a, min(second, limit // a)) for a in range(1, min(first, limit) + 1)), key=math.prod)
    return math.prod(best), best


def parse_extents(text: str, count: int, what: str) -> tuple[int, ...]:
    """``"28800x14400x256"`` -> (28800, 14400, 256). Raises InputError for anything else than `count` whole numbers."""
    parts = text.lower().split("x")
    if len(parts) == count and all(_is_number(p.strip()) for p in parts):
        return tuple(int(p) for p in parts)
    example = "x".join(["602", "568", "60"][:count])
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    raise InputError(f"{what} {shown!r}: {count} whole numbers joined by 'x' are allowed, like {example}")


def _is_number(text: str) -> bool:
    """Whether a text is a whole number that Python reads: it refuses those of thousands of digits."""
    return text.isdigit() and text.isascii() and len(text) <= _MAX_DIGITS


def whole_number(what: str, number: Any, least: int = 0, most: int = MAX_COUNT) -> int:
    """Return a number of Python or NumPy as one of Python. Raises InputError for one that is not whole, or outside."""
    if isinstance(number, bool) or not isinstance(number, Integral) or number < least:
        raise InputError(f"{what} {quoted(number)}: a whole number, {least} or more, is allowed")
    found = int(number)
    if found > most:
        raise InputError(f"{what} {quoted(found)}: up to {most} are allowed")
    return found


def true_or_false(what: str, value: Any) -> bool:
    """Return a truth value of Python or NumPy, or 0 or 1, as one of Python. Raises InputError for anything else."""
    if isinstance(value, bool) or (getattr(value, "shape", ()) == () and getattr(value, "dtype", None) == "bool"):
        return bool(value)
    if not isinstance(value, Integral) or value not in (0, 1):
        raise InputError(f"{what} {quoted(value)}: True or False is allowed")
    return bool(value)


def real_number(what: str, number: Any, allowed: str = "a finite number is allowed") -> float:
    """Return a number of Python or NumPy as one of Python. Raises InputError for anything else."""
    try:
        is_number = isinstance(number, Real) and not isinstance(number, bool)
        found = float(number) if is_number or getattr(number, "shape", None) == () else math.nan
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not math.isfinite(found):
        raise InputError(f"{what} {quoted(number)}: {allowed}")
    return found
