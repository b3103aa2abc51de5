"""Pictures of congestion: on the map, between groups, between ranks, over time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import altair as alt

from tradewind.base.files import inside, make_folder, remove, write_inside
from tradewind.base.units import format_seconds
from tradewind.plot.cells import bin_edges, spans, square
from tradewind.plot.export import to_svg
from tradewind.plot.machine_map import panels
from tradewind.plot.style import CONFIG, COUNT, SECONDS
from tradewind.plot.svg import save

if TYPE_CHECKING:
    from tradewind.machine import MachineFile
    from tradewind.machine.link_loads import Loads

_SIDE = 420  # pixels
_SHOWN = {
    "groups.svg": "How busy the links between groups of switches are, and what they carried:",
    "ranks.svg": "Mean delay of packets from each block of ranks to each other:",
    "time.svg": "Mean delay of the packets that arrive, and how many do, over simulated time:",
}


def save_pictures(folder: Path, result: dict[str, Any], file: MachineFile, loads: Loads) -> list[Path]:
    """Write links.svg, groups.svg, ranks.svg and time.svg, those that there is something for, and return their paths.
    links.html is the same as links.svg, and names the switch or link that is nearest to the pointer, with its load.

    `result`: of the simulation, with its congestion. Raises InputError where they cannot be written.
    """
    charts = {
        "groups.svg": groups_chart(result["congestion"].get("groups")),
        "ranks.svg": ranks_chart(result.get("delay_pairs"), result["ranks"]),
        "time.svg": time_chart(result["delay_over_time"]),
    }
    title, topology = title_of(result), file.machine.topology.build()
    make_folder(folder, "pictures in")
    drawn = panels(topology, file.machine.topology, loads)
    links, page = (inside(folder, name, "picture") for name in ("links.svg", "links.html"))
    for path in (links, page):
        save(drawn, title, topology.describe(), path)
    for name, chart in charts.items():
        if chart is None:
            remove(folder / name, "picture")  # of an earlier simulation
            continue
        specification = chart.properties(title=title).to_dict() | {"config": CONFIG | {"background": "white"}}
        specification["description"] = f"{_SHOWN[name]} {title}."
        write_inside(folder, name, to_svg(specification).encode(), "picture")
    return [links, *(folder / name for name, chart in charts.items() if chart is not None), page]


def title_of(result: dict[str, Any]) -> str:
    """Return one line on what was simulated."""
    what = " ".join(str(result[key]) for key in ("pattern", "algorithm") if key in result)
    where = f"{result['machine']}, {result['routing']}"
    return f"{what or 'program'} on {result['ranks']} ranks of {where}: {format_seconds(result['time_s'])}"


def groups_chart(groups: dict[str, Any] | None) -> Any | None:
    """Draw the loads of links between groups and their bytes; None for fewer than two groups."""
    if groups is None or len({*groups["from"], *groups["to"]}) < 2:
        return None
    edges = bin_edges(groups["groups"], groups["groups_per_bin"])
    pairs = list(zip(groups["from"], groups["to"], strict=True))
    axes = f"to {groups['name']}", f"from {groups['name']}"
    busy = spans(pairs, edges, "share", (float(f"{share:.3g}") for share in groups["share"]))
    carried = spans(pairs, edges, "bytes", groups["bytes"])
    words = ["busiest link,", "part of the time"]
    left = square(busy, edges, axes, _colour("share:Q", words, format=".0%"), _SIDE)
    right = square(carried, edges, axes, _colour("bytes:Q", ["bytes on", "all links"], format="~s"), _SIDE)
    return alt.hconcat(left, right).resolve_scale(color="independent")


def _colour(field: str, title: list[str], maximum: float | None = None, **legend: Any) -> alt.Color:
    reach = {"zero": True} if maximum is None else {"domain": [0, maximum]}
    scale = alt.Scale(scheme="inferno", reverse=True, **reach)
    return alt.Color(field, title=title, scale=scale, legend=alt.Legend(**legend))


def ranks_chart(
    delays: Sequence[Sequence[float]] | None, ranks: int, pixels: int = _SIDE, maximum: float | None = None
) -> Any | None:
    """The mean delay of packets between blocks of ranks, ``[source block][destination block]`` in seconds.

    `maximum`: the delay at the end of the colours; None: the longest.
    """
    if not delays:
        return None
    blocks = len(delays)
    edges = [math.ceil(block * ranks / blocks) for block in range(blocks + 1)]
    pairs = [(source, to) for source in range(blocks) for to in range(blocks) if delays[source][to] > 0]
    cells = spans(pairs, edges, "delay", (float(f"{delays[source][to]:.3g}") for source, to in pairs))
    colour = _colour("delay:Q", ["mean delay"], maximum, labelExpr=SECONDS)
    return square(cells, edges, ("to rank", "from rank"), colour, pixels)


def time_rows(series: dict[str, Any]) -> list[dict[str, float]]:
    """A row a bin of simulated time: ``from``, ``to``, ``delay`` (mean, s) and ``rate`` (packets that arrived a s)."""
    width = series["bin_s"]
    return [
        {"from": i * width, "to": (i + 1) * width, "delay": delay, "rate": packets / width}
        for i, (delay, packets) in enumerate(zip(series["mean_delay_s"], series["packets"], strict=True))
    ]


def time_chart(series: dict[str, Any]) -> Any | None:
    """The mean delay of the packets that arrive, and how many do, over simulated time."""
    rows = time_rows(series)
    if not rows:
        return None
    steps = [*rows, rows[-1] | {"from": rows[-1]["to"]}]  # the last one ends the last step
    base = alt.Chart(alt.InlineData(steps)).mark_area(interpolate="step-after")
    scale = alt.Scale(domain=[0, rows[-1]["to"]], nice=False)
    x = alt.X("from:Q", title="simulated time", axis=alt.Axis(labelExpr=SECONDS), scale=scale)
    above = base.encode(x=x, y=alt.Y("delay:Q", title="mean delay", axis=alt.Axis(labelExpr=SECONDS)))
    below = base.encode(x=x, y=alt.Y("rate:Q", title="packets that arrive per second", axis=alt.Axis(labelExpr=COUNT)))
    return alt.vconcat(*(each.properties(width=640, height=180) for each in (above, below)))
