"""Models and traces that a study names: where their files are, and whether what is changed of them exists."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tradewind.base.data import MANIFEST, MODELS, TRACES
from tradewind.base.errors import InputError
from tradewind.base.names import unknown
from tradewind.base.reading import is_file
from tradewind.base.toml_lines import Place
from tradewind.model import CHANGEABLE, load_model
from tradewind.study.model.values import listed
from tradewind.trace.forms import Form, form_of
from tradewind.trace.read import open_trace


def located(name: Any, folder: Path) -> Any:
    """Return the path of a model file that a study in `folder` names; a name of a known one as it is.

    Beside a study that was kept with its results lie its models.
    """
    return _beside(name, folder, MODELS) if isinstance(name, str) and name.endswith(".toml") else name


def located_trace(name: Any, folder: Path) -> Any:
    """Return the path of a trace that a study in `folder` names, likewise."""
    return _beside(name, folder, TRACES) if isinstance(name, str) else name


def _beside(name: str, folder: Path, kept: str) -> str:
    paths = [folder / name]
    if is_file(folder / MANIFEST):
        paths.append(folder / kept / Path(name).name)
    return next((str(path) for path in paths if is_file(path)), name)


def trace_problems(sweep: dict[str, Any]) -> Iterator[tuple[Place, str]]:
    """Yield the traces of a sweep that cannot be read, and why."""
    for i, name in enumerate(listed(sweep.get("trace", []))):
        if isinstance(name, str):
            try:
                if form_of(Path(name)) is Form.TIME_INDEPENDENT or Path(name).is_dir():
                    yield ("trace", i), f"{name}: a study keeps a trace of one file; tradewind export trace makes one"
                    continue
                open_trace(name)
            except InputError as error:
                yield from ((("trace", i), problem) for problem in error.problems)


def model_problems(sweep: dict[str, Any], kept: dict[str, str]) -> Iterator[tuple[Place, str]]:
    """Yield the problems of a sweep of models, each with its place in the sweep.

    `kept`: the texts of the files of earlier models, by name.
    """
    for key in _table(sweep, "algorithms"):
        if key not in CHANGEABLE:
            yield ("algorithms", key), unknown("kind of exchange", key, CHANGEABLE)
    for i, name in enumerate(listed(sweep.get("weather_model", []))):
        if not isinstance(name, str):
            continue
        try:
            model = load_model(name)
            texts, known = model.texts, model.number_names
        except InputError as error:
            yield from ((("weather_model", i), problem) for problem in error.problems)
            continue
        for file in [each for each, text in texts.items() if kept.setdefault(each, text) != text]:
            yield ("weather_model", i), f"{name}: another file of the study has the name {file}, too"
        for number in _table(sweep, "numbers"):
            if number not in known:
                yield ("numbers", number), f"{Path(name).stem}: " + unknown("number", number, known)


def same_names(sweep: dict[str, Any], key: str, paths: dict[str, str]) -> Iterator[tuple[Place, str]]:
    """Yield the files of a key whose name is that of another one. `paths`: those of earlier sweeps, by name."""
    for i, name in enumerate(listed(sweep.get(key, []))):
        if isinstance(name, str) and paths.setdefault(Path(name).stem, name) != name:
            other = paths[Path(name).stem]
            yield (key, i), f"{name}: {other} has the same name, by which results would mix them up"


def _table(sweep: dict[str, Any], key: str) -> dict[str, Any]:
    found = sweep.get(key)
    return found if isinstance(found, dict) else {}
