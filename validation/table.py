"""Output of the programs of this folder: a table for a reader, or one JSON value."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence


def parser(description: str | None) -> argparse.ArgumentParser:
    """With the option that all programs have."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--json", action="store_true", help="one JSON value instead of a table")
    return made


def print_rows(rows: Sequence[dict[str, object]], as_json: bool) -> None:
    """Prints `rows`, which have the same keys."""
    if as_json:
        print(json.dumps(list(rows), allow_nan=False))
        return
    cells = [list(rows[0]), *([_text(value) for value in row.values()] for row in rows)]
    numbers = [any(not isinstance(row[key], str | None) for row in rows) for key in rows[0]]
    widths = [max(len(line[i]) for line in cells) for i in range(len(cells[0]))]
    for line in cells:
        aligned = (_aligned(*cell) for cell in zip(line, widths, numbers, strict=True))
        print("  ".join(aligned).rstrip())


def _aligned(cell: str, width: int, number: bool) -> str:
    return cell.rjust(width) if number else cell.ljust(width)


def _text(value: object) -> str:
    if value is None:
        return "-"
    return f"{float(f'{value:.4g}'):g}" if isinstance(value, float) else str(value)
