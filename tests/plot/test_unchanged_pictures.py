"""Vega takes a second to start, so a picture of a report is drawn when it, or what draws it, has changed."""

from __future__ import annotations

from typing import Any

import pytest

from tradewind.plot import export

LINE = {"mark": "line", "title": "a title", "description": "A line."}


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The marks that were drawn."""
    marks: list[str] = []

    def draw(specification: dict[str, Any], **_: Any) -> str:
        marks.append(specification["mark"])
        return f'<svg xmlns="http://www.w3.org/2000/svg"><text font-size="10px">{specification["mark"]}</text></svg>'

    monkeypatch.setattr(export.vlc, "vegalite_to_svg", draw)
    return marks


def test_an_unchanged_picture_is_not_drawn_again(drawn: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    svg, pdf = export.to_svg_and_pdf(LINE, "")
    assert "<title>a title</title><desc>A line.</desc>" in svg
    assert "textLength" in svg
    assert pdf.startswith(b"%PDF")
    assert export.to_svg_and_pdf(LINE, svg)[0] == svg
    assert drawn == ["line"]
    changed, damaged = {**LINE, "mark": "bar"}, svg.replace(">line<", ">lime<")
    for specification, former in ((changed, svg), (LINE, damaged), (LINE, svg[:-9]), (LINE, "no picture")):
        drawn.clear()
        made, _ = export.to_svg_and_pdf(specification, former)
        assert drawn == [specification["mark"]]
        assert f">{specification['mark']}<" in made
    monkeypatch.setattr(export, "version", lambda _: "another")
    drawn.clear()
    assert export.to_svg_and_pdf(LINE, svg)[0] != svg
    assert drawn == ["line"]
