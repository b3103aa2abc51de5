"""Time lines as files."""

from __future__ import annotations

from pathlib import Path

from tradewind.base.files import check_target, replaced, write_atomically
from tradewind.timeline.model import TimeLine

PICTURES = (".svg", ".png", ".pdf", ".html")
"""Suffixes of files that become a picture; any other file is a trace for Perfetto."""
WHAT = "time line"
"""Name of such a file in errors."""


def save(line: TimeLine, path: Path) -> None:
    """Writes a trace for Perfetto (https://ui.perfetto.dev), or a picture by the file's suffix.

    The file is there as a whole or not at all. Raises InputError where it cannot be written, or a picture would be
    too full.
    """
    if path.suffix in PICTURES:
        from tradewind.timeline.picture import picture

        write_atomically(path, picture(line, path.suffix), WHAT)
        return
    from tradewind.timeline.perfetto import write

    with replaced(path, WHAT) as file:
        write(line, file)


def check(path: Path) -> None:
    """Raises InputError for a file that could not be written, before anything is run."""
    check_target(path, WHAT)
