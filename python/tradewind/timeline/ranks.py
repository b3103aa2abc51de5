"""Ranks that a time line shows."""

from __future__ import annotations

import re
from pathlib import Path

from tradewind.base.errors import InputError, gathered
from tradewind.timeline.files import check

FIRST = 64
"""Ranks that are shown unless others are named: the first ones."""


def chosen(text: str | None, ranks: int) -> tuple[int, ...]:
    """The ranks that a text names, like ``0:64`` (63 is the last) or ``0,7,100:110``; without a text the first `FIRST`.

    In ascending order. Raises InputError for what is no list of ranks, and for ranks that are not there.
    """
    if text is None:
        return tuple(range(min(FIRST, ranks)))
    shown: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,10})\s*(?::\s*(\d{1,10})\s*)?", part)
        if match is None:
            raise InputError(f"ranks {text!r} of the time line: ranges like 0:64, and ranks, with commas are allowed")
        first, end = int(match[1]), int(match[2] or int(match[1]) + 1)
        if not first < end <= ranks:
            raise InputError(f"ranks {part.strip()!r} of the time line: 0:{ranks} are there, in ascending order")
        shown.update(range(first, end))
    return tuple(sorted(shown))


def ranks_shown(file: Path | None, text: str | None, ranks: int, model: str) -> tuple[int, ...]:
    """The ranks of a simulation's time line; none without a file. Raises InputError with every problem at once."""
    if file is None:
        if text is not None:
            raise InputError(f"ranks {text!r} of a time line: name its file, too")
        return ()
    problems = [] if model == "packet" else ["a time line: only the packet model knows what ranks do when"]
    shown: tuple[int, ...] = ()
    with gathered(problems):
        check(file)
    with gathered(problems):
        shown = chosen(text, ranks)
    if problems:
        raise InputError(*problems)
    return shown
