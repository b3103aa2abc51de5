"""Models that a study names: where their files are, and whether what is changed of them exists."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tradewind.base.errors import InputError
from tradewind.base.names import unknown
from tradewind.base.reading import is_file
from tradewind.base.toml_lines import Place
from tradewind.model import CHANGEABLE, load_plain_model
from tradewind.study.cases.store import MODELS
from tradewind.study.model.values import listed


def located(name: Any, folder: Path) -> Any:
    """Return the path of a model file that a study in `folder` names; a name of a known one as it is.

    Beside a study that was kept with its results lie its models.
    """
    if not isinstance(name, str) or not name.endswith(".toml"):
        return name
    paths = (folder / name, folder / MODELS / Path(name).name)
    return next((str(path) for path in paths if is_file(path)), name)


def model_problems(sweep: dict[str, Any]) -> Iterator[tuple[Place, str]]:
    """Yield the problems of a sweep of models, each with its place in the sweep."""
    for key in _table(sweep, "algorithms"):
        if key not in CHANGEABLE:
            yield ("algorithms", key), unknown("kind of exchange", key, CHANGEABLE)
    for i, name in enumerate(listed(sweep.get("weather_model", []))):
        if not isinstance(name, str):
            continue
        try:
            known = load_plain_model(name).table.numbers
        except InputError as error:
            yield from ((("weather_model", i), problem) for problem in error.problems)
            continue
        for number in _table(sweep, "numbers"):
            if number not in known:
                yield ("numbers", number), f"{Path(name).stem}: " + unknown("number", number, known)


def same_names(sweep: dict[str, Any], paths: dict[str, str]) -> Iterator[tuple[Place, str]]:
    """Yield the models of a sweep whose file has the name of another one. `paths`: those of earlier models, by name."""
    for i, name in enumerate(listed(sweep.get("weather_model", []))):
        if isinstance(name, str) and paths.setdefault(Path(name).stem, name) != name:
            other = paths[Path(name).stem]
            yield ("weather_model", i), f"{name}: {other} has the same name, by which results would mix them up"


def _table(sweep: dict[str, Any], key: str) -> dict[str, Any]:
    found = sweep.get(key)
    return found if isinstance(found, dict) else {}
