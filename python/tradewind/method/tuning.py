"""Tuning files: which method for an exchange was the fastest, where, and by how much.

A TOML file with one ``[[entry]]`` for each exchange (pattern, shape, ranks, fields, type, memory of the arrays) at each
host (processor, MPI library, ranks per node). `tradewind tune` writes it, and plans find their method in it (see
`tradewind.method.choice`). The core reads it, for all languages.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tradewind import _core
from tradewind.base.files import write_atomically
from tradewind.base.reading import is_there
from tradewind.method.host import Host
from tradewind.method.memories import PRIVATE
from tradewind.method.method import Method

_HEAD = "# Written by `tradewind tune`: the fastest method for each exchange, by where it was measured.\n"

NOISY = "the samples of the fastest method lie far apart, so something else was running"
"""Warning if the median of the chosen method is more than `NOISE` times its shortest sample."""
NOISE = 1.5


def request_of(pattern: _core.Pattern, dtype: str, fields: int, memory: str = PRIVATE) -> dict[str, Any]:
    """Return the request for a plan as plain values, by which an entry is found, also from C and Fortran.

    `memory`: of the arrays.
    """
    return dict(_core.tuning_request(pattern, dtype, fields, memory))


def entry_text(
    request: dict[str, Any], host: Host, choice: Method, figures: dict[str, Any], *, oversubscribed: bool
) -> str:
    """Return the lines of a new entry, of today. `figures`: median_s, min_s, default_s and trials."""
    from importlib.metadata import version

    values = {**request, **asdict(host), "oversubscribed": oversubscribed, **asdict(choice), **figures}
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in values.items() if value is not None]
    date = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    return "\n".join(["\n[[entry]]", *lines, f"date = {date}", f'tradewind = "{version("tradewind")}"', ""])


def check(path: Path) -> None:
    """Raise InputError with all that is wrong with a tuning file, each mistake with its line, if it is there."""
    if is_there(path):
        _core.kept_entries(os.fsencode(path), "")


def keep(path: Path, tables: Sequence[dict[str, Any]], where: dict[str, Any]) -> None:
    """Write the fastest methods into a file. `tables`: as `launch.trials` makes them; `where`: host and job."""
    host = Host(**where["site"])
    entries = []
    for table in tables:
        figures = {key: table[key] for key in ("median_s", "min_s", "default_s")}
        figures["trials"] = len(table["results"][0]["samples_s"])
        choice = Method(**table["choice"])
        entries.append(entry_text(table["request"], host, choice, figures, oversubscribed=where["oversubscribed"]))
    merge(path, entries)


def merge(path: Path, new: Sequence[str]) -> None:
    """Write entries into a file, for those that they replace. Raises InputError where it is no valid tuning file."""
    text = "".join(new)
    kept = _core.kept_entries(os.fsencode(path), text) if is_there(path) else b""
    write_atomically(path, _HEAD.encode() + kept + text.encode(), "tuning file")
