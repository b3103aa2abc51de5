"""Turns specifications into pictures for papers, and into the one script that a page needs to draw them itself."""

from __future__ import annotations

import hashlib
import json
import os
import re
from functools import lru_cache
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any

import vl_convert as vlc

from tradewind.base.errors import InputError, WriteError
from tradewind.base.files import write_atomically
from tradewind.plot.text_width import with_lengths, without_lengths

VEGA_LITE = "v" + "_".join(map(str, max([int(n) for n in each.split(".")] for each in vlc.get_vegalite_versions())))
"""The version of Vega-Lite that draws: the newest that vl-convert has."""
_NAMES = re.compile(r"(<svg[^>]*>)(?:<title>[^<]*</title>)?(?:<desc>[^<]*</desc>)?")
"""The beginning of a picture, with what `named` adds to it."""
SUFFIXES = (".svg", ".png", ".pdf", ".html")
"""The kinds of files of `picture`."""


def picture(specification: dict[str, Any], suffix: str, scale: float = 1.5) -> bytes:
    """The bytes of a file of one of `SUFFIXES`. `scale`: pixels of a PNG per pixel of the chart."""
    if suffix == ".svg":
        return to_svg(specification).encode()
    if suffix == ".html":
        return to_html(specification).encode()
    return to_pdf(specification) if suffix == ".pdf" else to_png(specification, scale)


def to_svg(specification: dict[str, Any]) -> str:
    """Return a chart as SVG, with texts as wide as they were measured, named by its description."""
    return _completed(_drawn(specification), specification)


def to_svg_and_pdf(specification: dict[str, Any], former: str) -> tuple[str, bytes]:
    """Return a chart as SVG and PDF. `former`: what this returned as SVG before, or any other text.

    Vega takes most of a second to start, so an unchanged picture is not drawn again. The last line of an SVG has the
    digest of its specification, of the programs that drew it, and of what they drew.
    """
    svg, _, mark = former.rpartition("\n")
    drawn = without_lengths(_NAMES.sub(r"\1", svg, count=1))
    if mark != _mark(specification, drawn):
        drawn = _drawn(specification)
    return f"{_completed(drawn, specification)}\n{_mark(specification, drawn)}", bytes(vlc.svg_to_pdf(drawn))


def _mark(specification: dict[str, Any], drawn: str) -> str:
    content = json.dumps([specification, version("vl-convert-python"), VEGA_LITE, drawn])
    return f"<!-- {hashlib.sha256(content.encode()).hexdigest()} -->"


def _drawn(specification: dict[str, Any]) -> str:
    return str(vlc.vegalite_to_svg(specification, vl_version=VEGA_LITE))


def _completed(drawn: str, specification: dict[str, Any]) -> str:
    return named(with_lengths(drawn), _title(specification), str(specification.get("description", "")))


def _title(specification: dict[str, Any]) -> str:
    """The title of a chart; of one without, the first sentence of its description."""
    title = specification.get("title", "")
    text = title.get("text", "") if isinstance(title, dict) else title
    lines = text if isinstance(text, list) else [text]
    return " ".join(map(str, lines)) or str(specification.get("description", "")).partition(". ")[0]


def named(svg: str, title: str, description: str) -> str:
    """Give a picture a name, and a description, for those who cannot see it."""
    words = f"<title>{escape(title)}</title>" if title else ""
    words += f"<desc>{escape(description)}</desc>" if description else ""
    return re.sub(r"<svg[^>]*>", lambda found: found[0] + words, svg, count=1)


def to_png(specification: dict[str, Any], scale: float = 1.5) -> bytes:
    """Return a chart of Vega-Lite as a PNG file; `scale`: pixels per unit of the chart."""
    return bytes(vlc.vegalite_to_png(specification, vl_version=VEGA_LITE, scale=scale))


def to_pdf(specification: dict[str, Any]) -> bytes:
    """Return a chart of Vega-Lite as a PDF file."""
    return bytes(vlc.vegalite_to_pdf(specification, vl_version=VEGA_LITE))


@lru_cache(maxsize=1)
def script() -> str:
    """Vega, Vega-Lite and vega-embed as one script, safe to stand inside a page.

    To bundle it takes seconds: it is kept in the user's cache, where there is one.
    """
    kept = kept_script()
    if kept is not None and os.path.isfile(kept) and os.access(kept, os.R_OK):
        return kept.read_text(encoding="utf-8")
    made = str(vlc.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=VEGA_LITE))
    made = made.replace("</script", "<\\/script")
    if kept is not None:
        _keep(kept, made)
    return made


def kept_script() -> Path | None:
    """The file in which `script` is kept, by the versions that it is made of; None without a home."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    name = f"vega-{version('vl-convert-python')}-{VEGA_LITE}.js"
    return Path(cache, "tradewind", name) if os.path.isabs(cache) else None


def _keep(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, text.encode())
    except (OSError, InputError, WriteError):
        return  # a home that may only be read, or is full: the next report takes seconds longer, and is the same


def to_html(specification: dict[str, Any]) -> str:
    """A page that draws it, with all that it needs inside."""
    return str(vlc.vegalite_to_html(specification, vl_version=VEGA_LITE, bundle=True))


def vega_page(specification: dict[str, Any], title: str) -> str:
    """A page of a specification of Vega, whose signals may be controls, with all that it needs inside."""
    return _PAGE.format(title=escape(title), script=script(), specification=embedded(specification))


def embedded(specification: dict[str, Any]) -> str:
    """JSON that cannot end the script element that it stands in."""
    return json.dumps(specification).replace("<", "\\u003c")


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
body {{ background: white; color: #111; font-family: system-ui, sans-serif; }}
.vega-bind {{ display: block; margin: 0.5em 1em; }}
.vega-bind input[type=range] {{ width: min(40em, 60vw); vertical-align: middle; }}
</style>
<script>{script}</script>
</head>
<body>
<main id="drawing"></main>
<script>vegaEmbed("#drawing", {specification}, {{"renderer": "svg", "actions": false}});</script>
</body>
</html>
"""
