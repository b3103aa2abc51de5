"""Traces that are text: their lines, one after another, and errors that name them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from tradewind.base.errors import InputError, quoted
from tradewind.trace.builder import RankBuilder, in_memory
from tradewind.trace.model import MAX_RANKS, Communicator, Trace

LONGEST_LINE = 1 << 26
"""Characters of a line that are read; one of an all-to-all with blocks among a million ranks has less."""
_DIGITS = 18
"""Digits of a number that fits into 64 bits, whatever they are."""
_NUMBER = re.compile(r"-?[0-9]+")
MOST = 10**_DIGITS - 1
"""The largest number of bytes, or ns, of one operation."""


class TextFile:
    """A file of a trace, with the number of the line that is read."""

    def __init__(self, path: Path) -> None:
        self.path, self.number = path, 0
        self.is_cut_off = False
        """The line that was read last has no end."""

    def lines(self) -> Iterator[str]:
        """Yield the lines, without holding more than one. Raises InputError for a file that cannot be read."""
        try:
            with open(self.path, encoding="utf-8", errors="surrogateescape", newline="\n") as file:
                while line := file.readline(LONGEST_LINE):
                    self.number += 1
                    self.is_cut_off = not line.endswith("\n")
                    if len(line) == LONGEST_LINE:
                        raise self.error(f"a line of more than {LONGEST_LINE} characters")
                    yield line
        except OSError as error:
            raise InputError(f"cannot read trace {self.path}: {error.strerror}") from None

    def error(self, text: str) -> InputError:
        """Return an error about the line that was read last."""
        return InputError(f"{self.path}:{self.number}: {text}")

    def whole_number(self, text: str, what: str, least: int, most: int) -> int:
        """Return a number from `least` to `most`. Raises InputError."""
        value = int(text) if len(text) <= _DIGITS and _NUMBER.fullmatch(text) else None
        if value is None or not least <= value <= most:
            raise self.error(f"{what} {quoted(text)}: {least} to {most} are allowed")
        return value

    def count_of_ranks(self, text: str) -> int:
        """Return a number of ranks. Raises InputError."""
        return self.whole_number(text, "number of ranks", 1, MAX_RANKS)


def trace_of_text(size: int, ranks: Mapping[int, RankBuilder], problems: tuple[str, ...]) -> Trace:
    """Return the trace of ranks that were read, which all communicate in MPI_COMM_WORLD."""
    infos = {rank: each.info() for rank, each in sorted(ranks.items())}
    events = {rank: each.events() for rank, each in ranks.items()}
    world = Communicator(np.arange(size, dtype=np.int32))
    return in_memory(size, infos, [world], events, problems=problems)
