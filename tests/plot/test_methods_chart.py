"""The chart of measured ways: what it draws, and that it is written whole."""

from __future__ import annotations

import json
import re
import statistics

import pytest

from tradewind.base.errors import InputError
from tradewind.method.method import Method
from tradewind.plot.methods import MAX_BARS, check_name, legend, methods_chart, save_chart

DEFAULT = Method("sweep", "isend-irecv", "buffer")


def row(algorithm: str, seconds: list[float], transport: str | None = "isend-irecv", packing: str | None = "buffer"):
    return {
        "algorithm": algorithm,
        "transport": transport,
        "packing": packing,
        "median_s": statistics.median(seconds),
        "min_s": min(seconds),
        "samples_s": seconds,
    }


ROWS = [
    row("sweep", [4e-3, 5e-3, 6e-3, 7e-3, 8e-3]),
    row("direct", [1e-3, 2e-3, 3e-3]),
    row("direct", [2e-3], packing="datatype"),
    row("native", [9e-3, 9e-3], None, None),
]


def bars(rows):
    (values,) = methods_chart(rows, DEFAULT)["datasets"].values()
    return values


def test_a_bar_for_each_way_the_fastest_above():
    values = bars(ROWS)
    assert [bar["method"] for bar in values] == [
        "direct, isend-irecv, buffer",
        "direct, isend-irecv, datatype",
        "sweep, isend-irecv, buffer (default)",
        "native",
    ]
    assert [bar["median"] for bar in values] == [2e-3, 2e-3, 6e-3, 9e-3]
    assert [bar["minimum_s"] for bar in values] == [1e-3, 2e-3, 4e-3, 9e-3]
    assert all(bar["minimum_s"] <= bar["low"] <= bar["median"] <= bar["high"] for bar in values)
    assert (values[1]["low"], values[1]["high"]) == (2e-3, 2e-3)


def test_the_middle_half():
    many = [row("sweep", [1e-3 * i for i in range(101)])]
    (bar,) = bars(many)
    assert bar["low"] == pytest.approx(25e-3, rel=0.02)
    assert bar["high"] == pytest.approx(75e-3, rel=0.02)


def test_of_many_ways_the_fastest():
    many = [row(f"ring-{i}", [1e-3 * i]) for i in range(60, 0, -1)]
    values = bars(many)
    assert len(values) == MAX_BARS
    assert (values[0]["algorithm"], values[-1]["algorithm"]) == ("ring-1", f"ring-{MAX_BARS}")
    assert f"the {MAX_BARS} fastest of 60 methods" in legend(60, oversubscribed=False)


@pytest.mark.parametrize("oversubscribed", [True, False])
def test_files(tmp_path, oversubscribed):
    starts = {".svg": b"<svg", ".png": b"\x89PNG", ".pdf": b"%PDF", ".html": b"<!DOCTYPE html>"}
    for suffix, start in starts.items():
        path = tmp_path / f"c{suffix}"
        check_name(path)
        save_chart(ROWS, path, "halo on 2 ranks", oversubscribed, DEFAULT)
        assert path.read_bytes().lstrip().startswith(start)
    text = (tmp_path / "c.svg").read_text()
    assert "halo on 2 ranks" in text
    assert ("OVERSUBSCRIBED" in text) == oversubscribed
    assert text.count('aria-roledescription="bar"') == len(ROWS)
    page = (tmp_path / "c.html").read_text()
    assert not re.search(r'(src|href)="https?:', page), "the page opens offline"
    assert len(list(tmp_path.iterdir())) == len(starts)


def test_a_specification_is_json():
    assert json.loads(json.dumps(methods_chart(ROWS))) == methods_chart(ROWS)


def test_bad_names(tmp_path):
    with pytest.raises(InputError, match=r"chart c\.jpg: a name that ends in \.svg, \.png, \.pdf, \.html is allowed"):
        check_name(tmp_path.parent.joinpath("c.jpg").relative_to(tmp_path.parent))
    with pytest.raises(InputError, match="there is no folder"):
        check_name(tmp_path / "no" / "c.svg")
    (tmp_path / "d.svg").mkdir()
    with pytest.raises(InputError, match=r"chart .*d\.svg: this is a folder"):
        save_chart(ROWS, tmp_path / "d.svg", "t", False, DEFAULT)
