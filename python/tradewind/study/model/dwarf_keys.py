"""The keys of sweeps that say what a dwarf is: they follow from the options of the dwarfs' requests."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from tradewind.dwarfs import DWARFS, find
from tradewind.study.model.option_values import value_of
from tradewind.study.model.values import Many
from tradewind.workload.options import Option, options_of

FIRST = ("grid", "split", "precision", "strategy")
"""Keys in which cases differ last, in this order; the others come after them."""


def dwarf_keys(dwarf: str) -> Mapping[str, Option]:
    """The options of a dwarf that a sweep may vary, beside ranks."""
    known = {name: each for name, each in options_of(find(dwarf)).items() if each.swept}
    first = [name for name in FIRST if name in known]
    return {name: known[name] for name in (*first, *(name for name in known if name not in FIRST))}


@cache
def all_dwarf_keys() -> Mapping[str, Option]:
    """Return the keys of all dwarfs."""
    found: dict[str, Option] = {}
    for dwarf in DWARFS:
        for name, each in dwarf_keys(dwarf).items():
            found.setdefault(name, each)
    return found


def unused_dwarf_keys(dwarf: str) -> set[str]:
    """Keys of other dwarfs, which say nothing about this one."""
    return set(all_dwarf_keys()) - set(dwarf_keys(dwarf))


def varied_fields() -> dict[str, tuple[Any, Any]]:
    """The keys as fields of a pydantic model: each one value or a list of them; None: the dwarf's own."""
    many: Any = Many
    return {name: (many[value_of(each)] | None, None) for name, each in all_dwarf_keys().items()}


def single_fields() -> dict[str, tuple[Any, Any]]:
    """Return the same keys with one value each."""
    return {name: (value_of(each) | None, None) for name, each in all_dwarf_keys().items()}
