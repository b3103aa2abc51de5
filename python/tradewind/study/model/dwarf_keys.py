"""The keys of sweeps that describe a dwarf: they follow from the options of the dwarfs' requests."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any

from pydantic import AfterValidator, TypeAdapter, ValidationError

from tradewind.base.errors import InputError
from tradewind.dwarfs import DWARFS, find
from tradewind.study.model.option_values import value_of
from tradewind.study.model.values import Many
from tradewind.workload.options import Option, options_of

FIRST = ("grid", "split", "precision", "strategy")
"""Keys in which cases differ last, in this order; the others come after them."""


@cache
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
    """Keys of other dwarfs, which do not apply to this one."""
    return set(all_dwarf_keys()) - set(dwarf_keys(dwarf))


def key_value_type(name: str) -> Any:
    """The type of one value of a key: where dwarfs understand different things by it, of any of these.

    Whether a sweep's own dwarf understands it is checked with the rest of the sweep.
    """
    each_dwarf = [keys[name] for dwarf in DWARFS if name in (keys := dwarf_keys(dwarf))]
    first, *others = each_dwarf
    if all(other.kind == first.kind for other in others):
        return value_of(first)

    def understood(value: Any) -> Any:
        problems = []
        for each in each_dwarf:
            try:
                return TypeAdapter(value_of(each)).validate_python(value)
            except ValidationError as error:
                problems.append(error.errors()[0]["msg"].removeprefix("Value error, "))
        raise InputError(problems[0])

    return Annotated[Any, AfterValidator(understood)]


def varied_fields() -> dict[str, tuple[Any, Any]]:
    """The keys as fields of a pydantic model: each one value or a list of them; None: the dwarf's own."""
    many: Any = Many
    return {name: (many[key_value_type(name)] | None, None) for name in all_dwarf_keys()}


def single_fields() -> dict[str, tuple[Any, Any]]:
    """Return the same keys with one value each."""
    return {name: (key_value_type(name) | None, None) for name in all_dwarf_keys()}
