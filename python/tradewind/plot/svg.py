"""Draws the panels of a machine's picture as SVG, and saves it as SVG, PNG, PDF or HTML."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from pathlib import Path

from tradewind.base.files import write_atomically
from tradewind.machine.shapes import Point
from tradewind.plot.shade import UNUSED, bar, shade
from tradewind.plot.style import PALETTE
from tradewind.plot.text_width import FONT, length_attribute, text_width

_SIDE = 620.0  # pixels of a panel
_MARGIN = 50.0
_TOP = 90.0
_MAX_SPOTS = 1500
_COLOURS = {"local": PALETTE[0], "global": PALETTE[1]}


@dataclass(frozen=True)
class Line:
    """A link between two switches, or all links between two blocks."""

    start: int
    end: int
    kind: str = "local"
    links: int = 1
    parallel: int = 0
    """Number of lines between the same two that come before it."""
    busy: float | None = field(default=None, compare=False)
    """The part of the time that the busiest of its links is busy, either way; None: the picture is not about that."""


@dataclass(frozen=True)
class Panel:
    """One drawing: spots and the lines between them."""

    title: str
    spots: list[Point]
    lines: list[Line]
    labels: list[str]
    hollow: frozenset[int] = frozenset()
    """Spots of switches that have no nodes."""
    in_rows: bool = False
    """Whether long lines must be bent, because spots lie on them."""


def draw(panels: list[Panel], title: str, subtitle: str, *, named: bool = False) -> str:
    """A picture as SVG: panels side by side. `named`: each link has the names of its ends, which makes it larger."""
    pitch = max(_SIDE + 2 * _MARGIN, *(_room(panel.title, 13) - _MARGIN for panel in panels))
    width = max(len(panels) * pitch, _room(title, 18), _room(subtitle, 13))
    heights = [_height(panel) for panel in panels]
    height = _TOP + max(heights) + 2 * _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" font-family="{FONT}" role="img" aria-label="{escape(title)}">',
        f"<title>{escape(title)}</title><desc>{escape('; '.join([subtitle, *(p.title for p in panels)]))}</desc>",
        '<rect width="100%" height="100%" fill="white"/>',
        _text(_MARGIN, 34, title, 18, "#111"),
        _text(_MARGIN, 58, subtitle, 13, "#444"),
    ]
    maximum = busiest(panels)
    for i, panel in enumerate(panels):
        parts += _panel(panel, i * pitch + _MARGIN, _TOP, heights[i], maximum, named=named)
    return "\n".join([*parts, *_legend(panels, height - 16), "</svg>"])


def busiest(panels: list[Panel]) -> float:
    """The largest share of all lines."""
    return max((line.busy or 0.0 for panel in panels for line in panel.lines), default=0.0)


def _room(words: str, size: int) -> float:
    """The width of a text and of both margins."""
    width = text_width(words, size)
    return 2 * _MARGIN + (len(words) * size if width is None else width)


def _text(x: float, y: float, words: str, size: int, colour: str) -> str:
    length = length_attribute(words, size)
    return f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" fill="{colour}"{length}>{escape(words)}</text>'


def _range(panel: Panel, axis: int) -> tuple[float, float]:
    values = [spot[axis] for spot in panel.spots]
    return min(values), max(values)


def _height(panel: Panel) -> float:
    (left, right), (low, high) = _range(panel, 0), _range(panel, 1)
    return _SIDE * min(1.0, max(0.25, (high - low) / (right - left or 1.0)))


def _panel(panel: Panel, x0: float, y0: float, height: float, maximum: float, *, named: bool) -> Iterator[str]:
    """A panel in the box at (x0, y0), its title above; `maximum`: the share that has the darkest colour."""
    (left, right), (low, high) = _range(panel, 0), _range(panel, 1)
    scale = min(_SIDE / (right - left or 1.0), height / (high - low or 1.0))

    def pixel(spot: Point) -> Point:
        x = x0 + _SIDE / 2 + scale * (spot[0] - (left + right) / 2)
        return x, y0 + _MARGIN + height / 2 - scale * (spot[1] - (low + high) / 2)

    places = [pixel(spot) for spot in panel.spots]
    yield _text(x0, y0, panel.title, 13, "#111")
    gap = min((math.dist(a, b) for a, b in pairwise(places)), default=_SIDE)
    yield from _lines(panel, places, 1.5 * gap if panel.in_rows else math.inf, maximum, named=named)
    yield from _spots(panel, places, max(1.2, min(7.0, 0.25 * gap)))


def _lines(panel: Panel, places: list[Point], longest_straight: float, maximum: float, *, named: bool) -> Iterator[str]:
    faint = max(0.1, min(0.8, 250 / max(1, len(panel.lines))))
    widest = max((line.links for line in panel.lines), default=1)
    for line in sorted(panel.lines, key=lambda line: line.busy or 0.0):  # the busiest are not hidden
        width = 0.6 + math.log1p(line.links) / math.log1p(widest)
        look = f'stroke="{_COLOURS[line.kind]}" stroke-width="{width:.1f}" stroke-opacity="{faint:.2f}"'
        if line.busy is not None:
            look = _busy_look(line.busy / maximum if maximum else 0.0, faint)
        yield (
            f'<path class="link {line.kind}" d="{_curve(line, places, longest_straight)}" fill="none" {look}>'
            f"{_words(line, panel.labels if named else None)}</path>"
        )


def _busy_look(share: float, faint: float) -> str:
    """Return the colour of a line by its load, relative to the busiest."""
    if share == 0:
        return f'stroke="{UNUSED}" stroke-width="0.8" stroke-opacity="{max(0.3, faint):.2f}"'
    return f'stroke="{shade(share)}" stroke-width="{0.8 + 2 * share:.1f}"'


def _words(line: Line, labels: list[str] | None) -> str:
    """Tooltip in a browser, with the names of the ends where there are `labels`."""
    several = f"{line.links} links" if line.links > 1 else ""
    ends = f"{several or 'link'} between {labels[line.start]} and {labels[line.end]}" if labels else several
    parts = [escape(ends)] if ends else []
    if line.busy is not None:
        parts.append(f"busy {100 * line.busy:.3g} % of the time")
    return f"<title>{', '.join(parts)}</title>" if parts else ""


def _curve(line: Line, places: list[Point], longest_straight: float) -> str:
    """A line, bent where it is long, so that it does not run through spots, and more for every further one."""
    (x1, y1), (x2, y2) = places[line.start], places[line.end]
    bend = (0.08 if math.hypot(x2 - x1, y2 - y1) > longest_straight else 0.0) + 0.06 * _sideways(line.parallel)
    if abs(bend) < 1e-9:
        return f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"
    x, y = (x1 + x2) / 2 + bend * (y2 - y1), (y1 + y2) / 2 - bend * (x2 - x1)
    return f"M{x1:.1f} {y1:.1f}Q{x:.1f} {y:.1f} {x2:.1f} {y2:.1f}"


def _sideways(parallel: int) -> int:
    """0, 1, -1, 2, -2, ..."""
    return (parallel + 1) // 2 * (1 if parallel % 2 else -1)


def _spots(panel: Panel, places: list[Point], radius: float) -> Iterator[str]:
    if len(places) > _MAX_SPOTS:  # too many for one element each
        dots = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in places)
        yield f'<path class="spots" d="{dots}" stroke="#111" stroke-width="{2 * radius:.1f}" stroke-linecap="round"/>'
        return
    for i, ((x, y), label) in enumerate(zip(places, panel.labels, strict=True)):
        fill = "white" if i in panel.hollow else "#111"
        yield (
            f'<circle class="spot" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{fill}" stroke="#111">'
            f"<title>{escape(label)}</title></circle>"
        )


def _legend(panels: list[Panel], y: float) -> Iterator[str]:
    if any(line.busy is not None for panel in panels for line in panel.lines):
        yield from _busy_legend(busiest(panels), y)
        return
    kinds = {line.kind for panel in panels for line in panel.lines}
    names = [("local", "local link"), ("global", "global link")]
    x = _MARGIN
    for kind, name in names if len(kinds) > 1 else []:
        yield f'<path d="M{x:.0f} {y - 4:.0f}h30" stroke="{_COLOURS[kind]}" stroke-width="2"/>'
        yield _text(x + 36, y, name, 12, "#444")
        x += 60 + 7 * len(name)


def _busy_legend(maximum: float, y: float) -> Iterator[str]:
    yield f'<path d="M{_MARGIN:.0f} {y - 4:.0f}h30" stroke="{UNUSED}" stroke-width="2"/>'
    yield _text(_MARGIN + 36, y, "unused", 12, "#444")
    yield bar(_MARGIN + 100, y - 9, 200)
    yield _text(_MARGIN + 308, y, f"busy 0 to {100 * maximum:.3g} % of the time (the busier way)", 12, "#444")


def save(panels: list[Panel], title: str, subtitle: str, path: Path) -> None:
    """Writes panels as SVG, PNG, PDF, or as a page that names what is nearest to the pointer.

    Raises InputError where the file cannot be written.
    """
    import vl_convert as vlc

    svg = draw(panels, title, subtitle, named=path.suffix == ".html")
    makers = {
        ".svg": lambda: svg.encode(),
        ".png": lambda: bytes(vlc.svg_to_png(svg, scale=2)),
        ".pdf": lambda: bytes(vlc.svg_to_pdf(svg)),
        ".html": lambda: _page(svg, title).encode(),
    }
    write_atomically(path, makers[path.suffix](), "picture")


def _page(svg: str, title: str) -> str:
    style, script = (Path(__file__).with_name(f"nearest.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    head = f"<meta charset='utf-8'><title>{escape(title)}</title><style>{style}</style>"
    note = '<div id="note" role="status" hidden></div>'
    return f"<!doctype html><html lang='en'>{head}<body>{svg}{note}<script>{script}</script></body></html>"
