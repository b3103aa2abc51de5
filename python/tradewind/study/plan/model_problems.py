"""Models that a study names: whether there are such files, and whether what is changed of them exists."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tradewind.base.errors import InputError
from tradewind.base.names import unknown
from tradewind.base.toml_lines import Place
from tradewind.model import CHANGEABLE
from tradewind.study.cases.model_cases import located_model
from tradewind.study.model.values import listed


def model_problems(sweep: dict[str, Any], folder: Path) -> Iterator[tuple[Place, str]]:
    """Yield the problems of a sweep of models, each with its place in the sweep. `folder`: of the study file."""
    for key in _table(sweep, "algorithms"):
        if key not in CHANGEABLE:
            yield ("algorithms", key), unknown("kind of exchange", key, CHANGEABLE)
    for i, name in enumerate(listed(sweep.get("weather_model", []))):
        if not isinstance(name, str):
            continue
        try:
            known = located_model(name, folder).table.numbers
        except InputError as error:
            yield from ((("weather_model", i), problem) for problem in error.problems)
            continue
        for number in _table(sweep, "numbers"):
            if number not in known:
                yield ("numbers", number), f"{name}: " + unknown("number", number, known)


def _table(sweep: dict[str, Any], key: str) -> dict[str, Any]:
    found = sweep.get(key)
    return found if isinstance(found, dict) else {}
