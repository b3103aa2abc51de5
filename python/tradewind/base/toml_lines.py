"""Reads a TOML file and remembers the line of every key, so that an error can name it."""

from __future__ import annotations

import bisect
import re
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradewind.base.errors import InputError
from tradewind.base.reading import path_of, read_text

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Place = tuple[str | int, ...]
"""A place in a file: ``("sweep", 1, "algorithm", 0)`` is the first algorithm of the second ``[[sweep]]``."""

_MAX_MISTAKES = 40
_MAX_BYTES = 64 * 2**20
_DEEPEST = 32
"""Levels of tables and lists; no file of ours needs more than six."""

# The parser takes a time that grows with the square of the parts of a key.
_LONG_KEY = re.compile(rf"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{_DEEPEST}}}""")

_KEY = re.compile(r"""[ \t]*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([A-Za-z0-9_-]+))[ \t]*""")
_BLANK = re.compile(r"(?:[ \t\r\n,]|#[^\n]*)*")
_SCALAR = re.compile(r"[^,\]}#\n]*")


def toml_text(path: Path | str) -> str:
    """Return the text of a TOML file. Raises InputError for a file that cannot be read, or is too large."""
    return read_text(path_of("file", path), maximum=_MAX_BYTES)


class TomlFile:
    """A TOML file: `data`, and `line(place)` for the line on which a place of it begins.

    Raises InputError for a file that cannot be read or is not TOML.
    """

    def __init__(self, path: Path | str, text: str | None = None) -> None:
        self.path = path_of("file", path)
        self.text = toml_text(self.path) if text is None else text
        self._elsewhere: dict[Place, Place] = {}
        if long := _LONG_KEY.search(self.text):
            line = self.text.count("\n", 0, long.start()) + 1
            raise InputError(f"{self.path}:{line}: a key of more than {_DEEPEST} parts")
        try:
            self.data: dict[str, Any] = tomllib.loads(self.text)
            self._lines = _Scanner(self.text.replace("\r\n", "\n")).lines
        except RecursionError:
            raise InputError(f"{self.path}: lists or tables are nested too deeply") from None
        except ValueError as error:  # TOMLDecodeError, and numbers of more digits than Python reads
            raise InputError(f"{self.path}: not TOML: {error}") from None
        if deep := next((place for place in self._lines if len(place) > _DEEPEST), None):
            raise InputError(self.at(deep, "lists or tables are nested too deeply"))

    def line(self, place: Place) -> int:
        """The line of a place, or of the nearest thing around it that the file names (1 for the file itself)."""
        place = self.written(place)
        while place and place not in self._lines:
            place = place[:-1]
        return self._lines.get(place, 1)

    def stands_at(self, place: Place, other: Place) -> None:
        """Look up `place`, and all within it, at `other` in the file: a key that has another name there, or is taken
        from another table."""
        self._elsewhere[place] = self.written(other)

    def written(self, place: Place) -> Place:
        """The place in the file of what stands at `place`."""
        for size in range(1, len(place) + 1):
            if other := self._elsewhere.get(place[:size]):
                return other + place[size:]
        return place

    def first(
        self, mistakes: Sequence[ErrorDetails], place_of: Callable[[tuple[int | str, ...]], Place] = tuple
    ) -> tuple[list[ErrorDetails], list[str]]:
        """The first mistakes that pydantic has found, in the order of the file, and a line that counts the others.

        To find words for one takes long enough that a hundred thousand would take minutes.
        """
        ordered = sorted(mistakes, key=lambda details: self.line(place_of(details["loc"])))
        unsaid = len(ordered[_MAX_MISTAKES:])
        return ordered[:_MAX_MISTAKES], [f"{self.path}: and {unsaid} mistakes more"] if unsaid else []

    def at(self, place: Place, problem: str) -> str:
        """A problem with the file and line where it stands before it."""
        return f"{self.path}:{self.line(place)}: {problem}"


class _Scanner:
    """Finds the lines of all places of a text that is known to be valid TOML."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.lines: dict[Place, int] = {}
        self._ends = [match.start() for match in re.finditer("\n", text)]
        self._tables: dict[Place, int] = {}  # arrays of tables: how many elements so far
        table: Place = ()
        while self._skip(_BLANK):
            if self.text[self.position] == "[":
                table = self._header()
            else:
                self._pair(table)

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        match = pattern.match(self.text, self.position)
        assert match is not None
        self.position = match.end()
        return self.position < len(self.text)

    def _note(self, place: Place) -> None:
        self.lines.setdefault(place, bisect.bisect_left(self._ends, self.position) + 1)

    def _keys(self) -> list[str]:
        keys = []
        while True:
            match = _KEY.match(self.text, self.position)
            assert match is not None
            keys.append(next(group for group in match.groups() if group is not None))
            self.position = match.end()
            if self.text[self.position] != ".":
                return keys
            self.position += 1

    def _header(self) -> Place:
        is_array = self.text.startswith("[[", self.position)
        start = self.position
        self.position += 2 if is_array else 1
        keys = self._keys()
        end = self.position + (2 if is_array else 1)
        self.position = start
        place: Place = ()
        for i, key in enumerate(keys):
            place = (*place, key)
            self._note(place)
            if is_array and i == len(keys) - 1:
                self._tables[place] = self._tables.get(place, 0) + 1
            if place in self._tables:
                place = (*place, self._tables[place] - 1)
        self._note(place)
        self.position = end
        return place

    def _pair(self, table: Place) -> None:
        start = self.position
        place = table
        for key in self._keys():
            place = (*place, key)
            end, self.position = self.position, start
            self._note(place)
            self.position = end
        self.position += 1  # the equals sign
        self._value(place)

    def _value(self, place: Place) -> None:
        while self.text[self.position] in " \t":
            self.position += 1
        first = self.text[self.position]
        if first == "[":
            self._inside("]", lambda i: self._value((*place, i)), place)
        elif first == "{":
            self._inside("}", lambda _: self._pair(place), None)
        elif first in "\"'":
            self._string(first)
        else:
            self._skip(_SCALAR)

    def _inside(self, closing: str, read: Callable[[int], None], array: Place | None) -> None:
        self.position += 1
        index = 0
        while True:
            self._skip(_BLANK)
            if self.text[self.position] == closing:
                break
            if array is not None:
                self._note((*array, index))
            read(index)
            index += 1
        self.position += 1

    def _string(self, quote: str) -> None:
        delimiter = quote * 3 if self.text.startswith(quote * 3, self.position) else quote
        self.position += len(delimiter)
        while not self.text.startswith(delimiter, self.position):
            self.position += 2 if quote == '"' and self.text[self.position] == "\\" else 1
        self.position += len(delimiter)
        while len(delimiter) == 3 and self.text[self.position : self.position + 1] == quote:
            self.position += 1  # up to two quotes may stand before the closing three
