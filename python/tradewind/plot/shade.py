"""Colours of loads, from pale to dark: matplotlib's "inferno" reversed."""

from __future__ import annotations

from itertools import pairwise

UNUSED = "#cfcfcf"
_STOPS = ["#f9c932", "#f98e09", "#e35933", "#bc3754", "#8a226a", "#57106e", "#210c4a"]
"""Every eighth of inferno but its ends, which would not be seen on white or as a colour."""


def shade(share: float) -> str:
    """The colour of 0 (pale) to 1 (dark)."""
    place = min(max(share, 0.0), 1.0) * (len(_STOPS) - 1)
    low = min(int(place), len(_STOPS) - 2)
    (a, b), part = list(pairwise(_STOPS))[low], place - low
    mixed = (round(x + part * (y - x)) for x, y in zip(_numbers(a), _numbers(b), strict=True))
    return "#" + "".join(f"{value:02x}" for value in mixed)


def _numbers(colour: str) -> list[int]:
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def bar(x: float, y: float, width: float) -> str:
    """A bar with all shades, as SVG; its upper left corner is at (x, y)."""
    step = 1 / (len(_STOPS) - 1)
    stops = "".join(f'<stop offset="{i * step:.3f}" stop-color="{colour}"/>' for i, colour in enumerate(_STOPS))
    return (
        f'<defs><linearGradient id="shades">{stops}</linearGradient></defs>'
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="10" fill="url(#shades)"/>'
    )
