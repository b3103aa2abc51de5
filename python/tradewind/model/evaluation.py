"""Numbers and formulas of model files, evaluated: every problem has its line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tradewind.base.errors import InputError, gathered
from tradewind.base.formula import Formula
from tradewind.base.names import unknown
from tradewind.base.toml_lines import Place
from tradewind.model.file import ModelFile
from tradewind.model.tables import FORMULA, Number, not_finite

Values = Mapping[str, float]
STAND_IN = 1
"""Value of what cannot be evaluated, with which the rest of the file is checked: so all problems are found at once."""


def check_changed(changed: Iterable[str], known: Sequence[str]) -> None:
    """Raise InputError for names of changed numbers that are not known."""
    if problems := [unknown("number", name, known) for name in changed if name not in known]:
        raise InputError(*problems)


def evaluated(file: ModelFile, value: Any, place: Place, values: Values, problems: list[str]) -> Any:
    """Return a value of the file; a formula becomes a number, an integer where it is a whole one.

    Adds to `problems` what is wrong with a formula, and a number that is not finite, which is `STAND_IN` then.
    """
    if isinstance(value, dict):
        return {key: evaluated(file, each, (*place, key), values, problems) for key, each in value.items()}
    if isinstance(value, float) and (problem := not_finite(value)):
        problems.append(file.at(place, f"{place[-1]} = {problem}"))
        return STAND_IN
    if not isinstance(value, str) or not value.startswith(FORMULA):
        return value
    wrong: list[str] = []
    found: float = STAND_IN
    with gathered(wrong):
        found = Formula(value.removeprefix(FORMULA).strip()).value(values)
    problems += [file.at(place, problem) for problem in wrong]
    return int(found) if float(found).is_integer() else found


def number(file: ModelFile, value: float | str, place: Place, values: Values, problems: list[str]) -> float:
    """Return a number, or the value of a formula; of what is neither `STAND_IN`, and a problem more."""
    if problem := not_finite(value):
        problems.append(file.at(place, f"{'.'.join(map(str, place))} = {problem}"))
        return STAND_IN
    if isinstance(value, str) and not value.startswith(FORMULA):
        problems.append(file.at(place, f"{value!r}: a number, or a formula that begins with = is allowed"))
        return STAND_IN
    found: float = evaluated(file, value, place, values, problems)
    return found


def numbers_of(
    file: ModelFile, numbers: Mapping[str, Number], own: Values, changed: Mapping[str, float], problems: list[str]
) -> dict[str, float]:
    """Return the values of all numbers of a file, each of which may use those above it, beside `own`.

    `changed`: values in place of those of the file. Adds to `problems` what is wrong.
    """
    found = dict(own)
    for name, each in numbers.items():
        found[name] = number(file, changed.get(name, each.value), ("numbers", name, "value"), found, problems)
    return found
