"""Numbers and formulas of model files, evaluated: every problem has its line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tradewind.base.errors import InputError
from tradewind.base.formula import Formula
from tradewind.base.toml_lines import Place
from tradewind.model.file import ModelFile
from tradewind.model.tables import FORMULA, Number

Values = Mapping[str, float]


def evaluated(file: ModelFile, value: Any, place: Place, values: Values) -> Any:
    """Return a value of the file; a formula becomes a number, an integer where it is a whole one. Raises InputError."""
    if isinstance(value, dict):
        return {key: evaluated(file, each, (*place, key), values) for key, each in value.items()}
    if not isinstance(value, str) or not value.startswith(FORMULA):
        return value
    try:
        found = Formula(value.removeprefix(FORMULA).strip()).value(values)
    except InputError as error:
        raise InputError(*(file.at(place, problem) for problem in error.problems)) from None
    return int(found) if float(found).is_integer() else found


def number(file: ModelFile, value: float | str, place: Place, values: Values) -> float:
    """Return a number, or the value of a formula. Raises InputError, also for another text."""
    if isinstance(value, str) and not value.startswith(FORMULA):
        raise InputError(file.at(place, f"{value!r}: a number, or a formula that begins with = is allowed"))
    found: float = evaluated(file, value, place, values)
    return found


def numbers_of(
    file: ModelFile, numbers: Mapping[str, Number], own: Values, changed: Mapping[str, float]
) -> dict[str, float]:
    """Return the values of all numbers of a file, each of which may use those above it, beside `own`.

    `changed`: values in place of those of the file. Raises InputError.
    """
    found = dict(own)
    for name, each in numbers.items():
        found[name] = number(file, changed.get(name, each.value), ("numbers", name, "value"), found)
    return found
