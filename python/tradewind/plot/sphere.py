"""A field on the sphere as a map: an equal-area projection, with coast lines.

The coast lines of `land-110m.json` are those of world-atlas 2.0.2 (its licence stands in `land-110m.LICENSE`), which
are made of Natural Earth's, in the public domain.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tradewind.plot.style import Part, quantitative

_WIDTH, _HEIGHT = 420, 205  # pixels
_LAND = Path(__file__).with_name("land-110m.json")
_LINE = {"type": "geoshape", "filled": False, "stroke": "#222222", "strokeWidth": 0.7}
_UNDER = 0.1
"""Part of a cell by which it reaches below the next one: between cells that only touch the ground is seen."""
_GRATICULE = {"type": "geoshape", "filled": False, "stroke": "#FFFFFF", "strokeOpacity": 0.35, "strokeWidth": 0.6}


@cache
def _land() -> dict[str, Any]:
    """The land of the Earth, as TopoJSON."""
    return dict(json.loads(_LAND.read_text(encoding="utf-8")))


def sphere_panel(cells: str, title: str, colour: Part) -> dict[str, Any]:
    """Return a map of the dataset of that name (see `sphere_cells`). `colour`: the scale and the title of values."""
    value = {"field": "properties.v", "type": "quantitative", **colour}
    degrees = [
        quantitative(f"properties.{name}", title=f"{name} (degrees)", format=".1f")
        for name in ("longitude", "latitude")
    ]
    named = quantitative("properties.v", title=colour["title"], format=".4g")
    layers = [
        {
            "data": {"name": cells},
            "mark": {"type": "geoshape"},
            "encoding": {"color": value, "tooltip": [*degrees, named]},
        },
        {"data": {"graticule": {"step": [30, 30]}}, "mark": _GRATICULE},
        {"data": {"values": _land(), "format": {"type": "topojson", "mesh": "land"}}, "mark": _LINE},
        {"data": {"sphere": True}, "mark": {**_LINE, "strokeWidth": 1}},
    ]
    projection = {"type": "equalEarth"}
    return {"title": title, "width": _WIDTH, "height": _HEIGHT, "projection": projection, "layer": layers}


def sphere_cells(
    level: Sequence[Sequence[float]], extent: tuple[int, int], stride: int, west: float
) -> list[dict[str, Any]]:
    """Return the cells of a level [latitude][longitude] from the south as features of GeoJSON.

    `extent`: grid points along x and y, of which a value is the mean of `stride` in each; `west`: by how many points
    the first cell begins before longitude 0. Rows are drawn at equal distances: those of a Gaussian grid lie less than
    half a row from there.
    """
    nx, ny = extent
    found = []
    for j, row in enumerate(level):
        south, north = (180.0 * min(k * stride, ny) / ny - 90.0 for k in (j, j + 1))
        for i, value in enumerate(row):
            left, right = (360.0 * (min(k * stride, nx) - west) / nx for k in (i, i + 1))
            found.append(_cell(left, right, south, north, value))
    return found


def _cell(west: float, east: float, south: float, north: float, value: float) -> dict[str, Any]:
    """A cell, whose corners go around clockwise, as d3-geo has the inside of a polygon."""
    middle, centre = (west + east) / 2, (south + north) / 2
    right, top = east + _UNDER * (east - west), min(90.0, north + _UNDER * (north - south))
    corners = [(west, south), (west, top), (middle, top), (right, top), (right, south), (middle, south), (west, south)]
    place = {"longitude": (middle + 180.0) % 360.0 - 180.0, "latitude": centre}
    geometry = {"type": "Polygon", "coordinates": [[[round(x, 4), round(y, 4)] for x, y in corners]]}
    return {"type": "Feature", "geometry": geometry, "properties": {"v": value, **place}}
