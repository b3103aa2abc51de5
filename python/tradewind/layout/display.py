"""Grids and layouts in notebooks: a table, and for blocks a picture of who owns what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tradewind import _core
from tradewind.base.html import html_table

_SIDE = 240
"""Pixels of the longer side of a picture."""
_PICTURED = 256
"""Ranks that a picture may have."""
_COLOURS = ("#cfe3f5", "#f7dcc4", "#d5ecd4", "#e6dbf0")


class ShownGrid(_core.Grid if TYPE_CHECKING else object):  # type: ignore[misc]
    """Grid that notebooks show as a table."""

    def _repr_html_(self) -> str:
        nx, ny, nz = self.points
        return html_table(
            "grid", [("points along x, y, z", f"{nx:,} x {ny:,} x {nz:,}"), ("points", f"{nx * ny * nz:,}")]
        )


class ShownLayout(_core.Layout if TYPE_CHECKING else object):  # type: ignore[misc]
    """Layout that notebooks show as a table; where blocks divide x and y also as a picture."""

    def _repr_html_(self) -> str:
        picture = layout_picture(self)
        rows = [("points", self.describe()), ("ranks", f"{self.ranks:,}")]
        return html_table(type(self).__name__, rows) + picture


def layout_picture(layout: _core.Layout) -> str:
    """Return an SVG of the ranks that own the points of the plane x, y; "" where there are too many, or no blocks."""
    if layout.ranks > _PICTURED or getattr(layout, "axes", "") != "xy":
        return ""
    nx, ny, _ = layout.grid.points
    scale = _SIDE / max(nx, ny)
    width, height = nx * scale, ny * scale
    parts = []
    for rank in range(layout.ranks):
        for (x0, y0, _), (x1, y1, _) in layout.boxes(rank):
            left, top, wide, high = x0 * scale, height - y1 * scale, (x1 - x0) * scale, (y1 - y0) * scale
            split = int(getattr(layout, "split", (1, 1))[0])
            colour = _COLOURS[2 * (rank // split % 2) + rank % split % 2]
            parts.append(
                f'<rect x="{left:.1f}" y="{top:.1f}" width="{wide:.1f}" height="{high:.1f}" fill="{colour}" '
                f'stroke="#555"><title>rank {rank}: x {x0}..{x1 - 1}, y {y0}..{y1 - 1}</title></rect>'
            )
            if min(wide, high) > 14:
                middle = f'x="{left + wide / 2:.1f}" y="{top + high / 2 + 4:.1f}"'
                parts.append(f'<text {middle} font-size="11" text-anchor="middle" fill="#222">{rank}</text>')
    view = f'viewBox="-1 -1 {width + 2:.1f} {height + 2:.1f}" width="{width + 2:.0f}" height="{height + 2:.0f}"'
    named = 'xmlns="http://www.w3.org/2000/svg" role="img" aria-label="ranks over x and y"'
    return f"<svg {named} {view}>{''.join(parts)}</svg>"
