"""Model files: TOML, of which one may be like another one with some values of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tradewind.base.data import MANIFEST, MODELS, data_folder
from tradewind.base.errors import InputError
from tradewind.base.names import unknown
from tradewind.base.reading import is_file
from tradewind.base.toml_lines import Place, TomlFile

LIKE = "like"
"""Key of a file that names the model from which it takes all that it does not say itself."""
_MERGED = ("numbers",)
"""Tables whose entries are taken one by one; of other keys the whole value."""


def model_names() -> list[str]:
    """Return the names of the models that come with Tradewind."""
    return sorted(path.stem for path in data_folder("models").glob("*.toml"))


def model_path(name: str | Path, beside: Path | None = None) -> Path:
    """Return the file of a model. Raises InputError.

    `beside`: a folder in which paths begin, and which may have it. That of a folder of results has all models of the
    study, whatever their paths were.
    """
    path = Path(name)
    if beside is not None and path.suffix != ".toml" and (beside / f"{name}.toml").is_file():
        return beside / f"{name}.toml"
    if path.suffix == ".toml":
        if beside is None:
            return path
        return beside / (path.name if _is_of_results(beside) and not is_file(beside / path) else path)
    path = data_folder("models") / f"{name}.toml"
    if path.name != f"{name}.toml" or not path.is_file():
        raise InputError(unknown("model", str(name), model_names()) + "; or name a file like mine.toml")
    return path


def _is_of_results(folder: Path) -> bool:
    folder = folder.absolute()
    return folder.name == MODELS and is_file(folder.parent / MANIFEST)


class ModelFile:
    """A model file with the one that it is like: `data` of both, and the file and line of every place.

    Raises InputError for a file that cannot be read, and for one that is like a third.
    """

    def __init__(self, name: str | Path) -> None:
        self.path = model_path(name)
        self._own = TomlFile(self.path)
        self.data: dict[str, Any] = dict(self._own.data)
        self._other: TomlFile | None = None
        if LIKE not in self.data:
            return
        like = self.data.pop(LIKE)
        if not isinstance(like, str):
            raise InputError(self._own.at((LIKE,), f"like {like!r}: the name of a model, or a file, is allowed"))
        try:
            self._other = TomlFile(model_path(like, self.path.parent))
        except InputError as error:
            raise InputError(*(self._own.at((LIKE,), problem) for problem in error.problems)) from None
        if LIKE in self._other.data:
            raise InputError(self._own.at((LIKE,), f"like {like!r}: that model is like another one; name that one"))
        merged = {key: self._merged(key) for key in _MERGED if isinstance(self.data.get(key), dict)}
        self.data = self._other.data | self.data | merged

    @property
    def texts(self) -> dict[str, str]:
        """The text of each file by its name, so that they can be kept beside each other."""
        return {each.path.name: each.text for each in (self._own, self._other) if each is not None}

    def without_folders(self, problem: str) -> str:
        """Return a problem that begins with the path of one of the files with its name in place of that."""
        for each in (self._own, self._other):
            if each is not None and problem.startswith(f"{each.path}:"):
                return each.path.name + problem.removeprefix(str(each.path))
        return problem

    def _merged(self, key: str) -> dict[str, Any]:
        assert self._other is not None
        own = self._own.data[key]
        strange = [name for name in own if name not in self._other.data.get(key, {})]
        if strange:
            raise InputError(self._own.at((key, strange[0]), unknown("number", strange[0], self._other.data[key])))
        return {**self._other.data[key], **own}

    def at(self, place: Place, problem: str) -> str:
        """Return a problem with the file and line where it stands before it."""
        own = self._own.data
        for key in place[:2]:
            if self._other is None or not isinstance(own, dict) or key not in own:
                break
            own = own[key]
            if key not in _MERGED:
                return self._own.at(place, problem)
        else:
            return self._own.at(place, problem)
        return (self._other or self._own).at(place, problem)
