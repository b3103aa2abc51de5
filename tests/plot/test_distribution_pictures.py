"""Pictures of a distributed transform: what they draw is what the distribution says, and what they refuse."""

import numpy as np
import pytest
from slow_tests import slow

from tradewind.base.errors import InputError
from tradewind.plot.distribution import save_distribution
from tradewind.plot.loads import TITLES, load_rows, save_loads
from tradewind.spectral import Distribution, Truncation

SMALL = Distribution(Truncation("O8"), 6, levels=4, level_sets=2)


def test_a_picture_of_loads_has_each_load_of_each_rank():
    rows = load_rows({"a": SMALL})
    assert {row["load"] for row in rows} == set(TITLES.values())
    drawn = [row["share"] for row in rows if row["load"] == TITLES["legendre_flops"]]
    loads = SMALL.loads()["legendre_flops"]
    assert drawn == pytest.approx(loads / loads.mean())
    assert np.mean(drawn) == pytest.approx(1)


def test_a_picture_of_many_ranks_has_the_largest_of_those_that_share_a_point():
    many = Distribution(Truncation("O64"), 60 * 14, levels=14, level_sets=14)
    rows = [row for row in load_rows({"a": many}) if row["load"] == TITLES["legendre_flops"]]
    loads = many.loads()["legendre_flops"]
    assert len(rows) <= 400
    assert max(row["share"] for row in rows) == pytest.approx(loads.max() / loads.mean())


@pytest.mark.parametrize("suffix", [".svg", *slow(".html")])
def test_both_pictures_are_written(tmp_path, suffix):
    for name, draw in (
        ("loads", lambda path: save_loads({"a": SMALL}, path)),
        ("who", lambda p: save_distribution(SMALL, p)),
    ):
        path = tmp_path / f"{name}{suffix}"
        draw(path)
        text = path.read_text(encoding="utf-8")
        assert "rank" in text
        assert "grid points" in text
        assert "columns" in text


def test_what_cannot_be_drawn_is_said(tmp_path):
    for draw in (lambda path: save_loads({"a": SMALL}, path), lambda path: save_distribution(SMALL, path)):
        with pytest.raises(InputError, match=r"a name that ends in .*\.svg"):
            draw(tmp_path / "picture.txt")
    with pytest.raises(InputError, match="up to 20000 are allowed"):
        save_distribution(Distribution(Truncation("O80"), 2), tmp_path / "large.svg")
