"""A matrix as a picture: coloured cells; rows are senders, columns receivers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import altair as alt


def spans(pairs: Iterable[tuple[int, int]], edges: list[int], name: str, values: Iterable[Any]) -> list[dict[str, Any]]:
    """A row for each (from, to) bin, with where the two begin and end, and its value under `name`."""
    return [
        {"f0": edges[f], "f1": edges[f + 1], "t0": edges[t], "t1": edges[t + 1], name: value}
        for (f, t), value in zip(pairs, values, strict=True)
    ]


def bin_edges(count: int, per_bin: int) -> list[int]:
    """Return the beginnings of bins, and the end of the last one, which may be smaller."""
    return [*range(0, count, per_bin), count]


def square(cells: list[dict[str, Any]], edges: list[int], axes: tuple[str, str], colour: alt.Color, pixels: int) -> Any:
    """The cells of `spans` as a square picture; `axes`: titles of the horizontal and of the vertical one."""
    across, down = axes
    # A plain table: Altair's own classes check each cell, which takes seconds for 10,000 of them.
    table: Any = {"values": cells}
    ticks = alt.Axis(grid=False, tickMinStep=1, format="d")
    return (
        alt.Chart(table)
        .mark_rect(strokeWidth=0)
        .encode(
            x=alt.X("t0:Q", title=across, axis=ticks, scale=alt.Scale(domain=[0, edges[-1]], nice=False)),
            x2=alt.X2(field="t1"),
            y=alt.Y("f0:Q", title=down, axis=ticks, scale=alt.Scale(domain=[edges[-1], 0], nice=False)),
            y2=alt.Y2(field="f1"),
            color=colour,
        )
        .properties(width=pixels, height=pixels)
    )
