"""The forms of traces, and which of them a file has."""

from __future__ import annotations

import os
import re
from enum import Enum
from pathlib import Path

from tradewind.base.errors import InputError


class Form(Enum):
    """Forms of traces, by the names that users give them."""

    RECORDED = "trace"
    """Files of `tradewind record`."""
    GOAL = "goal"
    """GOAL's text form, of LogGOPSim and ATLAHS."""
    TIME_INDEPENDENT = "ti"
    """SimGrid's time-independent traces."""


_LOOKED_AT = 1 << 16
_COMMENTS = re.compile(rb"(?:\s+|//[^\n]*|#[^\n]*|/\*.*?\*/)*", re.DOTALL)
_GOAL = re.compile(rb"(?:num_ranks|rank)\s")
_ACTION = re.compile(rb"\d+[ \t]+[A-Za-z]")
_NAME = re.compile(rb"[^\0\n]{1,4096}\n")


def form_of(path: Path) -> Form:
    """Return the form that the first bytes of a file have; RECORDED where they have none of text.

    Raises InputError for a file that cannot be read.
    """
    if path.is_dir():
        return Form.RECORDED
    try:
        with open(path, "rb") as file:
            begin = file.read(_LOOKED_AT)
    except OSError as error:
        raise InputError(f"cannot read trace {path}: {error.strerror}") from None
    at = _COMMENTS.match(begin)
    text = begin[at.end() if at else 0 :]
    if _GOAL.match(text):
        return Form.GOAL
    if _ACTION.match(text):
        return Form.TIME_INDEPENDENT
    name = _NAME.match(text)
    if name and file_named(path, os.fsdecode(name[0].strip())):
        return Form.TIME_INDEPENDENT
    return Form.RECORDED


def file_named(path: Path, name: str) -> Path | None:
    """Return the file that another names: as seen from that one, from here, or in the folder beside it; or None."""
    places = [path.parent / name, Path(name), path.parent / f"{path.name}_files" / Path(name).name]
    return next((place for place in places if os.path.isfile(place)), None)  # also of names that no file can have
