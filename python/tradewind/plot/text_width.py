"""Widths of texts in SVG pictures, so that they keep the room that they were given, whatever fonts a viewer has.

vl-convert lays charts out with its own Liberation Sans, whose characters are as wide as those of Arial and Helvetica.
A viewer that has none of these fonts takes a wider one, and cuts what stands at the edge. ``textLength`` makes it draw
each text as wide as it was measured.
"""

from __future__ import annotations

import re
import unicodedata
from html import unescape

FONT = "'Liberation Sans', Arial, Helvetica, sans-serif"
"""Fonts of one width, for all pictures."""

# Adobe's font metrics of Helvetica and Helvetica-Bold, in thousandths of the font size, from " " to "~".
_REGULAR = """
278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278
278 584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722
667 944 667 667 611 278 278 278 469 556 333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556
556 333 500 278 556 500 722 500 500 500 334 260 334 584
"""
_BOLD = """
278 333 474 556 556 889 722 238 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 333
333 584 584 584 611 975 722 722 722 722 667 611 778 722 278 556 722 611 833 722 778 667 778 722 667 611 722
667 944 667 667 611 333 278 333 584 556 333 556 611 556 611 556 333 611 611 278 278 556 278 889 611 611 611
611 389 556 333 611 556 778 556 556 500 389 280 389 584
"""
_OTHERS = {
    "×": 584,
    "≈": 549,
    "µ": 576,
    "μ": 576,
    "°": 400,
    "–": 556,
    "—": 1000,
    "…": 1000,
    "·": 278,
    "−": 584,
    "\u00a0": 278,
}
_WIDTHS = {
    bold: {chr(32 + i): int(width) for i, width in enumerate(table.split())} | _OTHERS
    for bold, table in ((False, _REGULAR), (True, _BOLD))
}

# Not those without a content, which end in "/>".
_TEXT = re.compile(r"<text((?:[^>]*[^>/])?)>(.*?)</text>", re.DOTALL)
_LENGTH = re.compile(r' textLength="[\d.]+" lengthAdjust="spacingAndGlyphs"')
_LINE = re.compile(r"<tspan((?:[^>]*[^>/])?)>([^<]*)</tspan>")


def text_width(text: str, size: float, bold: bool = False) -> float | None:
    """The width of a text in `FONT`, in the unit of `size`; None where a character of it is not known."""
    widths = [_WIDTHS[bold].get(_plain(character)) for character in text]
    known = [width for width in widths if width is not None]
    return sum(known) * size / 1000 if len(known) == len(widths) else None


def _plain(character: str) -> str:
    """A letter without its accent, which is as wide."""
    return unicodedata.normalize("NFD", character)[0]


def length_attribute(text: str, size: float, bold: bool = False) -> str:
    """The attributes of SVG that make a viewer draw a text as wide as it is in `FONT`."""
    width = text_width(text, size, bold)
    return f' textLength="{width:.1f}" lengthAdjust="spacingAndGlyphs"' if width else ""


def without_lengths(svg: str) -> str:
    """Return a picture as it was before `with_lengths`."""
    return _LENGTH.sub("", svg)


def with_lengths(svg: str) -> str:
    """Give every text of a picture its length."""
    return _TEXT.sub(_with_length, svg)


def _with_length(found: re.Match[str]) -> str:
    attributes, content = found[1], found[2]
    size = re.search(r'font-size="([\d.]+)', attributes)
    if size is None or "textLength" in attributes:
        return found[0]
    bold = 'font-weight="bold"' in attributes
    if "<tspan" not in content:
        return f"<text{attributes}{length_attribute(unescape(content), float(size[1]), bold)}>{content}</text>"

    def line(part: re.Match[str]) -> str:
        return f"<tspan{part[1]}{length_attribute(unescape(part[2]), float(size[1]), bold)}>{part[2]}</tspan>"

    return f"<text{attributes}>{_LINE.sub(line, content)}</text>"
