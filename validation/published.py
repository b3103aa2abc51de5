"""Predictions beside published values: what the comparisons of exchanges and of whole models have in common."""

from __future__ import annotations

import csv
import math
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
MARKS = re.compile(r"(<!-- begin ([\w-]+) -->\n).*?(<!-- end \2 -->)", re.DOTALL)
"""A section of a page that is made from the tables."""


def rows_of(path: Path) -> list[dict[str, str]]:
    """Return the lines of a table with a header, without those that begin with ``#``; none where there is no file."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


@cache
def last_commit(*folders: str) -> str:
    """Return the last commit that changed one of these folders of the repository."""
    return subprocess.run(
        ["git", "log", "-1", "--format=%h", "--abbrev=10", "--", *folders],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()


def factor(predicted: float, published: float, unit: str) -> float:
    """Return predicted over published time, also of bandwidths and of days per day."""
    return predicted / published if unit == "s" else published / predicted


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values))


def within(factors: Sequence[float], limit: float) -> int:
    """Return how many factors are at most so large or so small."""
    return sum(1 / limit <= each <= limit for each in factors)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    return "\n".join("| " + " | ".join(line) + " |" for line in (header, ["---"] * len(header), *rows))


def filled(text: str, sections: Mapping[str, Callable[[], str]]) -> str:
    """Return a page with these of its sections made anew: between ``<!-- begin NAME -->`` and ``<!-- end NAME -->``."""

    def section(found: re.Match[str]) -> str:
        make = sections.get(found[2])
        return f"{found[1]}\n{make()}\n\n{found[3]}" if make else found[0]

    return MARKS.sub(section, text)


def rows_as_table(rows: Sequence[Mapping[str, object]]) -> str:
    """Return a Markdown table of rows with the same keys; fractions have two decimals."""
    cells = [[f"{value:.2f}" if isinstance(value, float) else str(value) for value in row.values()] for row in rows]
    return table(list(rows[0]), cells)
