"""Who owns what in a distributed transform: a map of the grid, and the coefficients by wavenumber, coloured by rank."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.base.errors import InputError
from tradewind.base.files import write_atomically
from tradewind.plot.export import SUFFIXES, picture
from tradewind.plot.style import CONFIG

if TYPE_CHECKING:
    from tradewind import _core
    from tradewind.spectral.distribution import Distribution

MAX_POINTS = 20_000
"""Grid points that a picture can show."""


def save_distribution(distribution: Distribution, path: str | Path) -> None:
    """Draw the four layouts side by side, those of a set of levels for level 0.

    `path`: FILE.svg, .png, .pdf or .html. Raises InputError for another name, for a grid of more points than
    `MAX_POINTS`, and where the file cannot be written.
    """
    import altair as alt

    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise InputError(f"picture {path}: a name that ends in {', '.join(SUFFIXES)} is allowed")
    points = distribution.truncation.grid.points
    if points > MAX_POINTS:
        raise InputError(f"picture of {points} grid points: up to {MAX_POINTS} are allowed")
    colour = alt.Color("rank:O", title="rank", scale=alt.Scale(scheme="turbo"))
    panels = []
    for title, x, y, cells, descending in _panels(distribution):
        y_axis = alt.Y("y:Q", title=y, scale=alt.Scale(reverse=descending, nice=False))
        x_axis = alt.X("x:Q", title=x, scale=alt.Scale(nice=False))
        chart = alt.Chart(alt.InlineData(values=cells)).mark_square(size=18, opacity=1)
        panels.append(chart.encode(x=x_axis, y=y_axis, color=colour).properties(title=title, width=210, height=210))
    specification = alt.concat(*panels, columns=3).to_dict()
    specification["config"] = {**CONFIG, "background": "white", **specification.get("config", {})}
    specification["description"] = f"The layouts of a transform on {distribution.ranks} ranks, coloured by rank."
    write_atomically(path, picture(specification, path.suffix), "picture")


def _panels(d: Distribution) -> list[tuple[str, str, str, list[dict[str, Any]], bool]]:
    """Title, what lies along x and y, cells, and whether y descends."""
    grid, t = d.truncation.grid, d.truncation
    row = np.repeat(np.arange(len(grid.rows)), grid.rows)
    longitude = np.concatenate([grid.longitudes(i) for i in range(len(grid.rows))])
    m = t.wavenumbers
    kept = np.repeat(m, t.row_end - t.row_begin)
    rows = np.concatenate([np.arange(a, b) for a, b in zip(t.row_begin, t.row_end, strict=True)])
    own = np.repeat(m, t.degrees_of(m))
    degrees = np.concatenate([np.arange(k, k + n) for k, n in zip(m, t.degrees_of(m), strict=True)])

    def cells(x: Any, y: Any, layout: _core.Product, along_x: bool) -> list[dict[str, Any]]:
        owners = [layout.owner((i, 0, 0) if along_x else (0, 0, i)) for i in range(len(x))]
        return [{"x": float(a), "y": float(b), "rank": owner} for a, b, owner in zip(x, y, owners, strict=True)]

    return [
        ("grid points", "longitude", "latitude", cells(longitude, grid.latitudes[row], d.points, True), False),
        ("rows (FFT)", "longitude", "latitude", cells(longitude, grid.latitudes[row], d.rows, True), False),
        ("their Fourier coefficients", "wavenumber m", "row", cells(kept, rows, d.fourier, False), True),
        ("wavenumbers (Legendre)", "wavenumber m", "row", cells(kept, rows, d.wavenumbers, False), True),
        ("their spectral coefficients", "wavenumber m", "degree n", cells(own, degrees, d.spectral, False), False),
        ("columns (all fields)", "wavenumber m", "degree n", cells(own, degrees, d.columns, False), False),
    ]
