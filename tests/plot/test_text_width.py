"""Texts of pictures are as wide as they were measured, whatever fonts a viewer has."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree

import pytest
import vl_convert as vlc

from tradewind.plot.svg import Panel, draw
from tradewind.plot.text_width import FONT, text_width, with_lengths


def measured(text: str, bold: bool) -> float:
    """The width that vl-convert gives a label of 10 pixels: the title of the axis stands farther off by so much."""
    style = {"labelLimit": 9999, "labelFont": "Liberation Sans", "labelFontWeight": "bold" if bold else "normal"}
    encoding = {"y": {"field": "a", "type": "nominal", "title": "T", "axis": {**style, "labelFontSize": 10}}}
    places = []
    for label in (text, "0"):
        chart = {"data": {"values": [{"a": label}]}, "mark": "point", "encoding": encoding}
        scene = json.dumps(vlc.vegalite_to_scenegraph(chart))
        places.append(max(-float(x) for x in re.findall(r'"x": (-[\d.]+)', scene)))
    return places[0] - places[1] + 5.56


@pytest.mark.parametrize("bold", [False, True])
@pytest.mark.parametrize(
    "text", ["rank 0 memory", "dragonfly-MM", "0123456789%()[]", "jilft|/\\", "~^_`{}@#$&*+<=>?!\"';:,.", "Zürich × 3"]
)
def test_widths_are_those_of_the_layout(text: str, bold: bool) -> None:
    assert text_width(text, 10, bold) == pytest.approx(measured(text, bold), abs=0.3)


def test_a_character_that_nobody_knows_leaves_a_text_as_it_is() -> None:
    assert text_width("雨", 10) is None
    svg = '<svg><text font-size="10px">雨</text></svg>'
    assert with_lengths(svg) == svg


def test_every_text_has_the_length_of_its_own_font() -> None:
    svg = (
        '<svg><text font-size="10px" font-weight="bold">a &amp; c</text><text font-size="20px">ii</text>'
        '<text font-size="10px"/><text font-size="10px"><tspan>m</tspan><tspan dy="2">mm</tspan></text></svg>'
    )
    texts = list(ElementTree.fromstring(with_lengths(svg)).iter())[1:]
    found = [(text.text, text.get("textLength"), text.get("lengthAdjust")) for text in texts]
    fit = "spacingAndGlyphs"
    assert found == [
        ("a & c", "23.9", fit),
        ("ii", "8.9", fit),
        (None, None, None),
        (None, None, None),
        ("m", "8.3", fit),
        ("mm", "16.7", fit),
    ]


@pytest.mark.parametrize("title", ["short", "W" * 60, "雨" * 60])
def test_a_map_is_as_wide_as_its_titles(title: str) -> None:
    panel = Panel("p", [(0.0, 0.0), (1.0, 1.0)], [], ["a", "b"])
    root = ElementTree.fromstring(draw([panel], title, "s"))
    assert float(root.get("width", 0)) >= 50 + (text_width(title, 18) or 18 * len(title))
    below = ElementTree.fromstring(draw([panel, Panel(title, panel.spots, [], panel.labels)], "t", "s"))
    assert float(below.get("width", 0)) >= 2 * ((text_width(title, 13) or 13 * len(title)) + 50)
    assert root.get("font-family") == FONT
