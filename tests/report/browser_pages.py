"""The browser that tests drive, and the pages that Tradewind writes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tradewind.report.tuning import write_page

ARGUMENTS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"),
    *("--disable-sync", "--disable-component-update"),
)

PATIENCE_MS = 240_000
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
"""Pixels by which a page is wider than its window."""

CONTRAST = """() => {
  const numbers = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number);
  const light = (colour) => {
    const linear = (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = numbers(colour).map((v) => linear(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor, parts = numbers(colour);
      if (parts.length === 3 || parts[3] > 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const found = [];
  for (const element of document.querySelectorAll("main *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !element.checkVisibility() || element.closest("script, noscript, [aria-hidden]")) continue;
    const style = getComputedStyle(element), ink = element.closest("svg") ? style.fill : style.color;
    const [a, b] = [light(ink), light(ground(element))].sort((x, y) => y - x);
    found.push([(a + 0.05) / (b + 0.05), element.tagName, element.textContent.slice(0, 40)]);
  }
  return found;
}"""
"""The contrast of every text with what is behind it, by the formula of WCAG 2."""

OUTSIDE = """() => {
  const found = [];
  for (const svg of document.querySelectorAll("svg")) {
    const view = svg.viewBox.baseVal, inverse = svg.getScreenCTM().inverse();
    for (const text of svg.querySelectorAll("text")) {
      if (!text.textContent.trim()) continue;
      const box = text.getBBox(), matrix = inverse.multiply(text.getScreenCTM());
      for (const [x, y] of [[0, 0], [1, 0], [0, 1], [1, 1]]) {
        const corner = new DOMPoint(box.x + x * box.width, box.y + y * box.height).matrixTransform(matrix);
        const beyond = Math.max(view.x - corner.x, corner.x - view.x - view.width,
                                view.y - corner.y, corner.y - view.y - view.height);
        if (beyond > 0.5) found.push([text.textContent, beyond]);
      }
    }
  }
  return found;
}"""
"""The texts of pictures that reach beyond them, and by how many pixels."""

PICTURE = """(text) => {
  const root = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  document.body.replaceChildren(document.adoptNode(root));
  return root.localName;
}"""
"""Shows a picture in place of all that the page has, and says the name of its root: not `svg` for what is no XML.
To go to its file takes three times as long."""


@contextmanager
def browser() -> Iterator[Any]:
    """Debian's chromium. Skips the test where it, or Playwright, is not installed."""
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright here")
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("no chromium here")
    with playwright.sync_playwright() as driver:
        yield driver.chromium.launch(executable_path=program, args=list(ARGUMENTS))


def opened(chromium: Any, path: Path, width: int = 1400, choice: str = "", **options: Any) -> tuple[Any, list[str]]:
    """The page in a window of its own, drawn, and the list of its complaints. `choice`: the end of its address."""
    context = chromium.new_context(
        viewport={"width": width, "height": 900}, permissions=["clipboard-read", "clipboard-write"], **options
    )
    context.set_default_timeout(PATIENCE_MS)
    page, printed = context.new_page(), list[str]()
    page.on("console", lambda message: printed.append(message.text))
    page.on("pageerror", lambda error: printed.append(str(error)))
    page.on("request", lambda request: printed.append(request.url) if not request.url.startswith("file:") else None)
    page.goto(path.as_uri() + choice)
    page.wait_for_function("document.documentElement.dataset.ready === 'all'")
    return page, printed


def tuning_page(folder: Path) -> Path:
    """A page about a tuning run, of many methods."""
    times = {"minimum": 0.9, "median": 1.0, "maximum": 1.4}

    def row(i: int) -> dict[str, Any]:
        median = 1e-3 * (1 + i)
        method = {"algorithm": f"ring-{i}", "transport": "isend-irecv", "packing": "buffer"}
        samples = [median * factor for factor in times.values()]
        return {**method, "median_s": median, "min_s": samples[0], "samples_s": samples, "ratio": 1.0 + i}

    request = {"pattern": "transpose", "ranks": 4, "fields": 1, "dtype": "f8", "grid": [120, 100, 40], "slab": "xz"}
    request["memory"] = "private"
    left = {"algorithm": "bruck", "transport": "shared", "packing": "direct", "reason": "cannot be", "first_s": None}
    table = {
        "pattern": "transpose xz",
        "request": request,
        "choice": {"algorithm": "ring-0", "transport": "isend-irecv", "packing": "buffer"},
        **{"median_s": 1e-3, "default_s": None, "noisy": False},
        "results": [row(i) for i in range(12)],
        "left_out": [left, {**left, "first_s": 9.0, "reason": "given up"}],
    }
    site = {"host": "node1", "cpu": "a processor", "mpi": "an MPI", "ranks_per_node": 4}
    result = {
        **{"tuned": [table], "checked": True, "ranks": 4, "site": site, "cores": 8, "ranks_per_core": 0.5},
        **{"oversubscribed": False, "provenance": {"tradewind": "0.1.0"}, "file": "tuning.toml"},
    }
    write_page(result, folder / "tuning.html")
    return folder / "tuning.html"
