"""The page of a schedule in motion, in chromium: its slider, and its button."""

from __future__ import annotations

import pytest

from tradewind.simulation.animation import animate
from tradewind.workload.exchange import Exchange

SLIDE = """(element) => {
  element.value = 2;
  element.dispatchEvent(new Event("input"));
}"""
MESSAGES = (
    "[...document.querySelectorAll('path[stroke=white]')].filter((p) => p.getAttribute('fill') !== 'none').length"
)


@pytest.mark.slow
def test_the_slider_moves_the_messages_and_the_button_plays_them(tmp_path, chromium):
    exchange = Exchange("allreduce", 8)  # three stages of eight messages
    path = animate(exchange, tmp_path / "allreduce.html")
    page, printed = chromium.new_page(), list[str]()
    page.on("console", lambda message: printed.append(message.text))
    page.on("pageerror", lambda error: printed.append(str(error)))
    page.on("request", lambda request: printed.append(request.url) if "file:" not in request.url else None)
    page.goto(path.as_uri())
    page.get_by_text("stage 0 of 0..2: 8 messages in motion, 0 of 24 have arrived").wait_for()
    page.locator("input[type=range]").evaluate(SLIDE)
    page.get_by_text("stage 2 of 0..2: 8 messages in motion, 16 of 24 have arrived").wait_for()
    assert page.evaluate(MESSAGES) == 8
    page.locator("input[type=checkbox]").check()
    page.get_by_text("0 messages in motion, 24 of 24 have arrived").wait_for(timeout=60_000)
    assert printed == []
    page.close()
