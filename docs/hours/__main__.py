"""Answers docs/explanation/spectral_or_grid_point.md from the results that are kept of its studies.

``python docs/hours`` writes the pictures, and the tables of this page and of the page of its choices between ``<!--
hours NAME -->`` and ``<!-- end hours -->``; a test compares them. ``python docs/hours --set iterations=50`` prints the
base table with other values of parameters (see ``choices.py``), and writes nothing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import balance
import checks
import choices
import picture
import tables
from parts import Parts

from tradewind.dataset.read import read_dataset
from tradewind.plot.export import to_svg

DOCS = Path(__file__).resolve().parents[1]
RESULTS = DOCS.parent / "studies" / "spectral_or_grid_point" / "results"
PAGES = tuple(
    DOCS / "explanation" / f"{name}.md" for name in ("spectral_or_grid_point", "spectral_or_grid_point_choices")
)
PICTURES = {
    DOCS / "images" / "spectral_or_grid_point.svg": picture.balance_picture,
    DOCS / "images" / "spectral_or_grid_point_choices.svg": picture.picture,
}
STUDIES = ("transpositions", "halos", "allreduces")
MARKS = re.compile(r"(<!-- hours ([\w-]+) -->\n).*?(<!-- end hours -->)", re.DOTALL)


@cache
def _kept(name: str) -> list[dict[str, Any]]:
    return read_dataset(RESULTS / f"{name}.nc")[0]


def records(*names: str) -> list[dict[str, Any]]:
    """Return the kept cases of some studies."""
    return [record for name in names for record in _kept(name)]


def sections(parts: Parts) -> dict[str, Callable[[], str]]:
    """Return what each section of the page is made by."""
    few = tables.largest(parts, "dragonfly-ML", choices.POINTS)
    return {
        "balance": lambda: tables.balance_table(parts),
        "claims": lambda: balance.claims_table(parts),
        "base": lambda: tables.base_table(parts, machines=tables.QUIET),
        "slow": lambda: tables.base_table(parts, "slow"),
        "parts": lambda: tables.parts_table(parts),
        "winners": lambda: tables.winners_table(parts),
        "choices": tables.choices_table,
        "changes": lambda: tables.changes_table(parts, few),
        "even": lambda: tables.break_even_table(parts, few),
        "buffers": lambda: tables.buffers_text(parts),
        "quiet": lambda: checks.quiet_table(records("checks")),
        "estimates": lambda: checks.estimate_table(records(*STUDIES)),
        "seeds": lambda: checks.seeds_text(records("checks")),
        "checks": lambda: checks.whole_table(parts, records("checks")),
    }


def filled(text: str, parts: Parts) -> str:
    """Return the page with its tables as they should be. Raises KeyError for an unknown section."""
    made = sections(parts)
    return MARKS.sub(lambda found: f"{found[1]}\n{made[found[2]]()}\n\n{found[3]}", text)


def with_settings(settings: list[str]) -> None:
    """Put other values in place of the base's. Raises SystemExit for an unknown parameter."""
    for setting in settings:
        name, _, value = setting.partition("=")
        known = choices.base()
        if name not in known:
            raise SystemExit(f"error: --set {setting}: a parameter is one of {', '.join(known)}")
        try:
            choices.OVERRIDES[name] = float(value)
        except ValueError:
            raise SystemExit(f"error: --set {setting}: a number is needed, like {name}={known[name][0]:g}") from None


def main(arguments: list[str]) -> None:
    if arguments and (arguments[0] != "--set" or len(arguments) < 2):
        raise SystemExit("error: python docs/hours [--set NAME=VALUE ...]")
    with_settings(arguments[1:])
    parts = Parts(records(*STUDIES))
    if arguments:
        print(tables.base_table(parts))
        return
    for path, drawn in PICTURES.items():
        path.write_text(to_svg(drawn(parts)), encoding="utf-8")
    for page in PAGES:
        page.write_text(filled(page.read_text(encoding="utf-8"), parts), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
