"""The built site in chromium: wide and narrow, light and dark, by mouse and by keyboard, without a network."""

from __future__ import annotations

import functools
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from document_blocks import ROOT
from report.browser_pages import CONTRAST, OVERFLOW, browser

pytestmark = pytest.mark.slow
SITE = ROOT / "build" / "site"
STUDY = "figure-5d"
PAGES = (
    *("index.html", "start.html", "gallery.html", "explanation/zheng2018.html", "dwarfs/spherical_harmonics.html"),
    *("reference/python-docstrings.html", "reference/c-header.html", "reports/index.html"),
    f"reports/{STUDY}/report.html",
)
PATIENCE_MS = 120_000


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as found:
        yield found


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        del format, args


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The site, built anew with one report, on a port of this computer."""
    pytest.importorskip("zensical", reason="no zensical here")
    command = [sys.executable, "docs/website", "--studies", STUDY]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(SITE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def opened(chromium: Any, address: str, name: str, width: int = 1280, **options: Any) -> tuple[Any, list[str]]:
    """A page in a window of its own, and the list of what it complains of and of what it loads from elsewhere."""
    context = chromium.new_context(viewport={"width": width, "height": 900}, **options)
    context.set_default_timeout(PATIENCE_MS)
    page, printed = context.new_page(), list[str]()
    page.on("console", lambda message: printed.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: printed.append(str(error)))
    page.on("requestfailed", lambda request: printed.append(request.url))
    page.on("request", lambda r: printed.append(r.url) if not r.url.startswith((address, "data:", "blob:")) else None)
    page.goto(f"{address}/{name}")
    page.wait_for_load_state("networkidle")
    return page, printed


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [1280, 390])
def test_pages_fit_and_load_nothing_from_elsewhere(name: str, width: int, chromium: Any, address: str) -> None:
    page, printed = opened(chromium, address, name, width)
    assert printed == []
    assert page.evaluate(OVERFLOW) <= 0
    pictures = "[...document.images].filter((image) => image.complete && !image.naturalWidth).map((image) => image.src)"
    assert page.evaluate(pictures) == []
    page.context.close()


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out(name: str, scheme: str, chromium: Any, address: str) -> None:
    page, _ = opened(chromium, address, name, color_scheme=scheme)
    found = page.evaluate(CONTRAST.replace("main *", "main :not(nav *)"))
    assert len(found) > 20
    assert [text for text in found if text[0] < 4.5] == []
    page.context.close()


def test_the_keyboard_alone_searches_and_opens_a_page(chromium: Any, address: str) -> None:
    page, printed = opened(chromium, address, "index.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent.trim()") == "Skip to content"
    page.keyboard.press("/")
    page.keyboard.type("crystal router")
    page.wait_for_function("document.activeElement.tagName === 'INPUT' || document.activeElement.shadowRoot")
    page.get_by_text("Gather and scatter", exact=False).last.wait_for()
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "index.html" not in url)
    assert "rystal" in page.locator("article").inner_text()
    assert printed == []
    page.context.close()


def test_words_of_the_glossary_explain_themselves(chromium: Any, address: str) -> None:
    page, _ = opened(chromium, address, "explanation/idea.html")
    page.locator("article abbr", has_text="schedule").first.hover()
    page.get_by_text("stages of messages: the result of a pattern and an algorithm").wait_for()
    page.context.close()


def test_dark_mode_is_chosen_and_kept(chromium: Any, address: str) -> None:
    page, _ = opened(chromium, address, "index.html", color_scheme="light")
    scheme = "document.body.dataset.mdColorScheme"
    before = page.evaluate(scheme)
    page.locator("label[for^=__palette]:visible").first.click()
    page.wait_for_function(f"{scheme} !== '{before}'")
    page.goto(f"{address}/gallery.html")
    assert page.evaluate(scheme) == "slate"
    page.context.close()


def test_the_doors_lead_to_the_paths(chromium: Any, address: str) -> None:
    page, _ = opened(chromium, address, "index.html")
    for door in ("I have a model", "I choose a machine", "I study"):
        page.goto(f"{address}/index.html")
        page.locator(".doors a", has_text=door).click()
        page.wait_for_url(lambda url: "start.html#" in url)
        heading = page.locator(f"h2#{page.url.partition('#')[2]}")
        assert heading.inner_text().startswith(door)
    page.context.close()


def test_every_link_to_a_report_leads_to_one(address: str) -> None:
    del address
    linked = {path.parent.name for path in (SITE / "reports").glob("*/report.html")}
    assert linked == {STUDY}
    assert (SITE / "reports" / STUDY / "results.nc").is_file()
    assert "script-" in (SITE / "reports" / STUDY / "report.html").read_text(encoding="utf-8")


def test_notebooks_lie_beside_their_pages(address: str) -> None:
    del address
    pages = {path.stem for path in (ROOT / "docs" / "notebook").glob("*.md")}
    assert {path.stem for path in (SITE / "notebook").glob("*.ipynb")} == pages


def test_pictures_are_kept(chromium: Any, address: str, tmp_path: Path) -> None:
    """Screenshots for who looks at them."""
    for name in ("index", "start", "gallery"):
        for width in (1280, 390):
            page, _ = opened(chromium, address, f"{name}.html", width)
            page.screenshot(path=tmp_path / f"{name}-{width}.png")
            assert (tmp_path / f"{name}-{width}.png").stat().st_size > 10_000
            page.context.close()
