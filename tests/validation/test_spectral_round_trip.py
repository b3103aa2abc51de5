"""The table of round-trip errors, and the page that shows it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from validation.spectral_round_trip import GRIDS, round_trip, table

from tradewind.spectral.truncation import DEGREES

PAGE = Path(__file__).parents[2] / "docs" / "dwarfs" / "spherical_harmonics.md"
LINE = re.compile(r"\| (\w+) \| (\w+) \| (\d+) \| (\S+) \| (\S+) \| (\S+) % \|")


def lines(text: str) -> dict[tuple[str, str], tuple[int, float, float, float]]:
    """T, rms, maximum, and the share that is lost, of each grid and rule."""
    found = LINE.findall(text)
    return {(grid, rule): (int(t), float(rms), float(most), float(lost)) for grid, rule, t, rms, most, lost in found}


def test_the_page_has_the_table() -> None:
    text = PAGE.read_text(encoding="utf-8").split("<!-- begin round trips -->")[1].split("<!-- end round trips -->")[0]
    page = lines(text)
    assert list(page) == [(grid, rule) for grid in GRIDS for rule in DEGREES]
    for where, (degree, rms, most, lost) in lines("\n".join(table(("F80", "O80")))).items():
        assert page[where][0] == degree
        assert page[where][1:] == pytest.approx((rms, most, lost), rel=0.75, abs=1e-14)


def test_what_is_lost_is_told() -> None:
    kept, lost = round_trip("F20", "linear"), round_trip("O40", "linear")
    assert kept.lost == 0
    assert kept.maximum < 1e-13
    assert 0.4 < lost.lost < 0.7
    assert lost.rms > 0.1
