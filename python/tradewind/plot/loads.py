"""How much each rank of a distributed transform has to compute and to keep, beside the mean of all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradewind.base.errors import InputError
from tradewind.base.files import write_atomically
from tradewind.plot.export import SUFFIXES, picture
from tradewind.plot.style import CONFIG, colour

if TYPE_CHECKING:
    from tradewind.spectral.distribution import Distribution

TITLES = {
    "points": "grid points",
    "fft_flops": "FFT flops",
    "wavenumbers": "wavenumbers",
    "legendre_flops": "Legendre flops",
    "columns": "coefficients of columns",
}
"""Titles of the panels, by the names of `Distribution.loads`."""
_MAX_POINTS = 400
"""Ranks of a curve; of more each point is the largest load of some ranks that follow each other."""


def load_rows(distributions: Mapping[str, Distribution]) -> list[dict[str, Any]]:
    """Return the rows of the picture: by distribution, load and rank the load over the mean of all ranks."""
    rows = []
    for name, distribution in distributions.items():
        for load, values in distribution.loads().items():
            stride = -(-len(values) // _MAX_POINTS)
            shares = values / values.mean()
            rows += [
                {
                    "curve": name,
                    "load": TITLES[load],
                    "rank": first,
                    "share": float(shares[first : first + stride].max()),
                }
                for first in range(0, len(values), stride)
            ]
    return rows


def save_loads(distributions: Mapping[str, Distribution], path: str | Path) -> None:
    """Write a picture of loads by rank, a panel for each load and a curve for each distribution.

    `distributions`: by the names that the picture has for them. `path`: FILE.svg, .png, .pdf or .html. Raises
    InputError for another name, and where the file cannot be written.
    """
    import altair as alt

    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise InputError(f"picture {path}: a name that ends in {', '.join(SUFFIXES)} is allowed")
    rows = load_rows(distributions)
    panels = []
    for number, title in enumerate(TITLES.values()):
        own = [row for row in rows if row["load"] == title]
        largest = {name: max(row["share"] for row in own if row["curve"] == name) for name in distributions}
        subtitle = ", ".join(f"{name} {value:.3f}" for name, value in largest.items())
        panels.append(
            alt.Chart(alt.InlineData(values=own))
            .mark_line(interpolate="step-after", strokeWidth=1.2)
            .encode(
                x=alt.X("rank:Q", title="rank" if number == len(TITLES) - 1 else None, scale=alt.Scale(nice=False)),
                y=alt.Y("share:Q", title="of the mean", scale=alt.Scale(zero=False)),
                color=colour("curve", "distribution", list(distributions)),
            )
            .properties(
                width=460, height=90, title={"text": title, "subtitle": f"largest {subtitle}", "anchor": "start"}
            )
        )
    specification = alt.vconcat(*panels).to_dict()
    specification["config"] = {**CONFIG, "background": "white", **specification.get("config", {})}
    specification["description"] = f"Loads of each rank over their mean: {', '.join(distributions)}."
    write_atomically(path, picture(specification, path.suffix), "picture")
