"""Pages with the picture of a machine or with a time line, in chromium: what the pointer and the keyboard name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from browser_pages import PATIENCE_MS

from tradewind.machine import load_machine
from tradewind.plot.machine_map import save_map
from tradewind.simulation import simulate
from tradewind.timeline.model import Row, TimeLine, TraceEvent, Track
from tradewind.timeline.picture import picture
from tradewind.workload.exchange import Exchange

pytestmark = pytest.mark.slow


def test_a_page_of_a_machine_names_what_is_nearest(chromium: Any, tmp_path: Path) -> None:
    save_map(load_machine("torus-M", {"topology.shape": "[3, 3]"}), tmp_path / "machine.html")
    page = chromium.new_page(viewport={"width": 900, "height": 1000})
    page.set_default_timeout(PATIENCE_MS)
    page.goto((tmp_path / "machine.html").as_uri())
    spots = page.locator("circle.spot")
    boxes = [spots.nth(i).bounding_box() for i in range(2)]
    for i, box in enumerate(boxes):
        page.mouse.move(box["x"] + box["width"] + 3, box["y"] + box["height"] / 2)
        assert f"switch {i}" in page.locator("#note").inner_text()
    page.mouse.move(boxes[1]["x"] + boxes[1]["width"] / 2, boxes[1]["y"] + boxes[1]["height"] / 2)
    assert page.locator("#note").inner_text() == "switch 1"
    page.focus("svg")
    page.keyboard.press("ArrowRight")
    assert page.locator("#note").inner_text() == "switch 0"
    page.close()


MIDDLE = """() => {
  const line = document.querySelector("path.link"), { x, y } = line.getPointAtLength(line.getTotalLength() / 24);
  const spot = new DOMPoint(x, y).matrixTransform(line.getScreenCTM());
  return [spot.x, spot.y];
}"""
"""A place on the first link that the script looks at."""


def test_a_link_of_a_simulated_machine_names_its_load(chromium: Any, tmp_path: Path) -> None:
    machine = load_machine("torus-M", {"topology.shape": "[3, 3]", "topology.nodes_per_switch": "1"})
    simulate(Exchange("allreduce", 9, count=100, algorithm="ring"), machine, congestion=tmp_path)
    page = chromium.new_page(viewport={"width": 900, "height": 1000})
    page.set_default_timeout(PATIENCE_MS)
    page.goto((tmp_path / "links.html").as_uri())
    page.mouse.move(*page.evaluate(MIDDLE))
    words = page.locator("#note").inner_text()
    assert re.search(r"busy [\d.]+ %", words), words
    page.close()


def test_a_page_of_a_time_line_names_rank_and_event(chromium: Any, tmp_path: Path) -> None:
    wait = TraceEvent("wait", "for stage 1", 0, 2_000_000, stage=1, peer=3)
    send = TraceEvent("send", "to 3", 2_000_000, 3_000_000)
    line = TimeLine("a run", [Track(0, [Row("core", [wait, send])])])
    (tmp_path / "line.html").write_bytes(picture(line, ".html"))
    page = chromium.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto((tmp_path / "line.html").as_uri())
    page.locator(".mark-rect path").first.hover(force=True)
    page.wait_for_selector("#vg-tooltip-element.visible")
    words = " ".join(page.locator("#vg-tooltip-element").inner_text().split())
    assert "rank 0 core" in words
    assert "wait: for stage 1" in words
    assert "takes 2 ms" in words
    assert "peer 3" in words
    page.close()
