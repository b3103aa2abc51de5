"""Arguments of actions of SimGrid's time-independent traces."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from tradewind.base.errors import quoted
from tradewind.trace.model import ANY
from tradewind.trace.text import MOST, TextFile

TYPE_BYTES = (
    *(8, 4, 1, 2, 8, 4, 1, 8, 1, 1, 2, 4, 8, 8, 16, 4, 1, 1, 2, 4, 8, 1, 2, 4, 8, 8, 16, 32, 8, 8),
    *(8, 16, 16, 8, 8, 8, 16, 16, 4, 4, 8, 16, 8, 16, 16, 4, 2, 4, 8, 16, 32, 1, 8, 16, 32, 0, 0, 1, 8, 8),
)
"""Bytes of SimGrid's datatypes, by number: MPI_DOUBLE is 0, MPI_BYTE 6."""
DOUBLE, BYTE = 8, 1
MOST_TAG = (1 << 31) - 1
Arguments = Sequence[str]


class ActionArguments:
    """Reads arguments of actions, and raises InputError with the line of one that is not allowed."""

    def __init__(self, size: int, file: TextFile) -> None:
        self._size, self._file = size, file
        self._type_bytes = BYTE
        """Bytes of the datatype where none is named."""

    def _number(self, words: Arguments, place: int, what: str, least: int = 0, most: int = MOST) -> int:
        if place >= len(words):
            raise self._file.error(f"no {what}: it is argument {place + 1} of the action")
        text = words[place]
        if text.isdigit():
            return self._file.whole_number(text, what, least, most)
        value = self._real(text, what)
        if not value.is_integer() or not least <= value <= most:
            raise self._file.error(f"{what} {quoted(text)}: {least} to {most} are allowed")
        return int(value)

    def _real(self, text: str, what: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not isfinite(value):
            raise self._file.error(f"{what} {quoted(text)}: a number is allowed")
        return value

    def _bytes(self, words: Arguments, place: int, type_place: int) -> int:
        """Return a count of a datatype, whose number may be an argument, in bytes."""
        return self._number(words, place, "size") * self._type(words, type_place)

    def _type(self, words: Arguments, place: int) -> int:
        if place >= len(words):
            return self._type_bytes
        return TYPE_BYTES[self._number(words, place, "datatype", 0, len(TYPE_BYTES) - 1)]

    def _peer(self, words: Arguments, place: int) -> int:
        return self._number(words, place, "rank", 0, self._size - 1)

    def _from(self, words: Arguments, place: int, what: str, most: int) -> int:
        """Return a rank or a tag of a receive; negative ones are wildcards."""
        found = self._number(words, place, what, -MOST_TAG, most)
        return ANY if found < 0 else found

    def _counts(self, words: Arguments, first: int, size: int) -> list[int]:
        return [self._number(words, first + each, "count") * size for each in range(self._size)]

    def _rooted(self, words: Arguments, place: int) -> int:
        return self._peer(words, place) if place < len(words) else 0
