"""Time lines as files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from tradewind.errors import InputError
from tradewind.trace.model import TimeLine

PICTURES = (".svg", ".png", ".pdf", ".html")
"""Suffixes of files that become a picture; any other file is a trace for Perfetto."""


def save(line: TimeLine, path: Path) -> None:
    """Writes a trace for Perfetto (https://ui.perfetto.dev), or a picture by the file's suffix.

    The file is there as a whole or not at all. Raises InputError where it cannot be written, or a picture would be
    too full.
    """
    if path.suffix in PICTURES:
        from tradewind.plot.timeline import picture

        content = picture(line, path.suffix)
        with _replaced(path) as file:
            file.write(content)
        return
    from tradewind.trace.perfetto import write

    with _replaced(path) as file:
        write(line, file)


def check(path: Path) -> None:
    """Raises InputError for a file that could not be written, before anything is run."""
    if path.is_dir():
        raise InputError(f"time line {path}: a file is allowed; this is a folder")
    if not path.parent.is_dir():
        raise InputError(f"time line {path}: there is no folder {path.parent}")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise InputError(f"time line {path}: the folder {path.parent} cannot be written to")


@contextmanager
def _replaced(path: Path) -> Iterator[IO[bytes]]:
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        try:
            with part.open("wb") as file:
                yield file
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"cannot write time line {path}: {error.strerror}") from None
