"""The keys of sweeps that describe a pattern: they follow from the options of the patterns' requests."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from tradewind.study.model.option_values import value_of
from tradewind.study.model.values import Many, Split, split_by_ranks
from tradewind.workload.options import Option, options_of
from tradewind.workload.registry import PATTERNS, pattern_named

SWEEP_KEYS = ("ranks", "algorithm")
"""Options of every request, which sweeps of all kinds have by themselves."""


@cache
def swept_patterns() -> tuple[str, ...]:
    """The patterns that a sweep can name: those whose required options a sweep can give."""
    kinds = {name: options_of(pattern_named(name)) for name in PATTERNS}
    return tuple(name for name, known in kinds.items() if all(o.swept or not o.required for o in known.values()))


def pattern_keys(pattern: str) -> Mapping[str, Option]:
    """The options of a pattern that a sweep may vary, beside ranks and algorithm."""
    known = options_of(pattern_named(pattern))
    return {name: each for name, each in known.items() if each.swept and name not in SWEEP_KEYS}


@cache
def all_keys() -> Mapping[str, Option]:
    """Return the keys of all patterns that a sweep can name."""
    found: dict[str, Option] = {}
    for pattern in swept_patterns():
        for name, each in pattern_keys(pattern).items():
            found.setdefault(name, each)
    return {each.name: each for each in sorted(found.values(), key=lambda each: each.common)}


def unused_keys(pattern: str) -> set[str]:
    """Keys of other patterns, which do not apply to this one."""
    return set(all_keys()) - set(pattern_keys(pattern))


def key_fields() -> dict[str, tuple[Any, Any]]:
    """The keys as fields of a pydantic model: each one value or a list of them."""
    return {name: _field(each) for name, each in all_keys().items()}


def _field(each: Option) -> tuple[Any, Any]:
    if each.name == "split":  # for each number of ranks, or under 0 for all
        by_ranks = Annotated[dict[int, Many[Split]], BeforeValidator(split_by_ranks)]
        return by_ranks, Field(default_factory=dict)
    many: Any = Many
    kind = many[value_of(each)]
    return (kind | None, None) if each.default is None else (kind, [each.default])
