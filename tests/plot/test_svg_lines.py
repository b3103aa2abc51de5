"""How lines and spots of a machine's picture look: widths, opacity, colours, bends."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree

import pytest

from tradewind.plot.shade import UNUSED, shade
from tradewind.plot.style import PALETTE
from tradewind.plot.svg import Line, Panel, draw

SVG = "{http://www.w3.org/2000/svg}"
CORNERS = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0)]


def elements(panel: Panel, name: str, look: str) -> list[ElementTree.Element]:
    root = ElementTree.fromstring(draw([panel], "t", "s"))
    return [element for element in root.iter(SVG + name) if look in element.get("class", "").split()]


def lines(*drawn: Line, **options: object) -> list[dict[str, str]]:
    panel = Panel("p", CORNERS, list(drawn), ["a", "b", "c"], **options)  # type: ignore[arg-type]
    return [dict(line.attrib) for line in elements(panel, "path", "link")]


def test_a_line_of_more_links_is_wider() -> None:
    widths = [
        float(line["stroke-width"]) for line in lines(Line(0, 1, links=1), Line(1, 2, links=3), Line(0, 2, links=7))
    ]
    assert widths == [pytest.approx(0.6 + math.log(1 + n) / math.log(8), abs=0.051) for n in (1, 3, 7)]
    assert [line["stroke-width"] for line in lines(Line(0, 1), Line(1, 2))] == ["1.6", "1.6"]


@pytest.mark.parametrize(
    ("count", "opacity"), [(1, "0.80"), (312, "0.80"), (500, "0.50"), (1000, "0.25"), (4000, "0.10")]
)
def test_many_lines_are_faint(count: int, opacity: str) -> None:
    assert {line["stroke-opacity"] for line in lines(*[Line(0, 1)] * count)} == {opacity}


def test_kinds_of_links_have_their_colours() -> None:
    assert [line["stroke"] for line in lines(Line(0, 1, "local"), Line(1, 2, "global"))] == PALETTE[:2]


def test_a_busy_line_is_dark_and_wide_and_above_the_others() -> None:
    drawn = lines(Line(0, 1, busy=0.4), Line(1, 2, busy=0.0), Line(0, 2, busy=0.2))
    found = [(line["stroke"], line["stroke-width"], line.get("stroke-opacity")) for line in drawn]
    assert found == [(UNUSED, "0.8", "0.80"), (shade(0.5), "1.8", None), (shade(1), "2.8", None)], "the last is on top"
    many = lines(*[Line(0, 1, busy=0.0)] * 4000)
    assert {line["stroke-opacity"] for line in many} == {"0.30"}, "of idle ones, more is seen"


def test_the_legend_says_how_busy_the_busiest_is() -> None:
    text = draw([Panel("p", CORNERS, [Line(0, 1, busy=0.125)], ["a", "b", "c"])], "t", "s")
    assert "busy 0 to 12.5 % of the time" in text
    assert "<title>busy 12.5 % of the time</title>" in text
    assert "<title>3 links</title>" in draw([Panel("p", CORNERS, [Line(0, 1, links=3)], ["a", "b", "c"])], "t", "s")


def ends(line: dict[str, str]) -> list[list[float]]:
    return [[float(n) for n in part.split()] for part in line["d"].replace("M", "").replace("Q", "L").split("L")]


def test_lines_join_their_spots() -> None:
    panel = Panel("p", CORNERS, [Line(0, 2)], ["a", "b", "c"])
    spots = [(float(e.get("cx", 0)), float(e.get("cy", 0))) for e in elements(panel, "circle", "spot")]
    assert spots == [(50, 760), (670, 760), (670, 140)], "620 pixels wide, upward is up"
    assert ends(lines(Line(0, 2))[0]) == [[50, 760], [670, 140]]


def test_lines_between_the_same_two_do_not_hide_each_other() -> None:
    (straight,), *bent = (ends(line)[1:] for line in lines(*(Line(0, 1, parallel=parallel) for parallel in range(5))))
    assert straight == [670, 760]
    heights = [points[0][1] - 760 for points in bent]
    assert heights == [pytest.approx(bend * 620, abs=0.06) for bend in (-0.06, 0.06, -0.12, 0.12)]


def test_long_lines_of_rows_are_bent() -> None:
    row = Panel("p", [(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)], [Line(0, 1), Line(0, 2)], ["a", "b", "c"], in_rows=True)
    near, far = (line.get("d", "") for line in elements(row, "path", "link"))
    assert "Q" not in near
    assert "Q" in far


def test_spots_are_small_where_they_are_many_and_hollow_without_nodes() -> None:
    for count, radius in ((2, "7.0"), (32, "5.0"), (600, "1.2")):
        panel = Panel("p", [(float(i), 0.0) for i in range(count)], [], ["s"] * count, hollow=frozenset({1}))
        spots = elements(panel, "circle", "spot")
        assert {spot.get("r") for spot in spots} == {radius}
        assert [spot.get("fill") for spot in spots[:2]] == ["#111", "white"]
    assert len(elements(Panel("p", [(float(i), 0.0) for i in range(1501)], [], ["s"] * 1501), "path", "spots")) == 1
