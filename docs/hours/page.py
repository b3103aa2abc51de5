"""The tables and the picture of docs/explanation/spectral_or_grid_point.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt
import numpy as np

from choices import CHOICES, LEVELS, base, changed, combinations
from models import MODELS, hours, totals
from parts import HUNDREDTH, NETWORKS, POINTS, SPLITS, Array, Parts, Place, field_levels
from tradewind.plot.style import CONFIG, SECONDS, colour, log_axis

TODAY, SLOW = "today", "slow"
GRIDS = {POINTS: "whole grid", HUNDREDTH: "a hundredth"}
BAND = (10, 90)
"""Percentiles of all combinations between which the picture is shaded."""
Row = dict[str, Any]


def places(parts: Parts, base_name: str = TODAY) -> Iterator[Place]:
    """All places whose exchanges were simulated."""
    for points in GRIDS:
        for machine in NETWORKS:
            for ranks in SPLITS:
                place = Place(machine, base_name, points, ranks)
                if parts.has(place):
                    yield place


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def seconds(value: float) -> str:
    """Return seconds with three digits, without an exponent."""
    return f"{value:.0f}" if value >= 100 else f"{value:#.3g}"


def _where(place: Place) -> list[str]:
    return [GRIDS[place.points], NETWORKS[place.machine], f"{place.ranks:,}".replace(",", " ")]


def base_table(parts: Parts, base_name: str = TODAY) -> str:
    """Seconds per simulated hour of each model with the base choices; the fastest in bold."""
    rows = []
    for place in places(parts, base_name):
        found = hours(parts, place, base())
        times = {name: float(value[0]) for name, value in totals(found).items()}
        fastest = min(times.values())
        cells = [f"**{seconds(time)}**" if time == fastest else seconds(time) for time in times.values()]
        plain = sum(float(part[0]) for part in found["semi-implicit"].values())
        rows.append([*_where(place), *cells, seconds(plain)])
    return table(["grid", "network", "ranks", *MODELS, "without pipelining"], rows)


def parts_table(parts: Parts) -> str:
    """Where the time goes with the base choices: all parts above a hundredth."""
    rows = []
    for place in places(parts):
        for name, hour in hours(parts, place, base()).items():
            total = sum(float(part[0]) for part in hour.values())
            shares = {part: float(value[0]) / total for part, value in hour.items()}
            shown = [f"{part} {share:.0%}" for part, share in shares.items() if share >= 0.01]
            rows.append([*_where(place), name, seconds(total), ", ".join(shown)])
    return table(["grid", "network", "ranks", "model", "s", "of which"], rows)


def winners(parts: Parts, place: Place) -> dict[str, float]:
    """Return the share of combinations in which each model is the fastest."""
    times = np.array(list(totals(hours(parts, place, combinations())).values()))
    first = np.argmin(times, axis=0)
    return {name: float((first == i).mean()) for i, name in enumerate(MODELS)}


def winners_table(parts: Parts, base_name: str = TODAY) -> str:
    """In how many of all combinations each model is the fastest."""
    rows = []
    for place in places(parts, base_name):
        shares = winners(parts, place)
        most = max(shares.values())
        cells = [f"**{share:.0%}**" if share == most else f"{share:.0%}" for share in shares.values()]
        rows.append([*_where(place), *cells])
    return table(["grid", "network", "ranks", *MODELS], rows)


def choices_table() -> str:
    """The open choices: base, other values, source."""
    rows = [
        [c.name, c.shown(0), ", ".join(c.shown(i) for i in range(1, c.count)), c.unit, c.source] for c in CHOICES
    ]
    return table(["choice", "base", "others", "unit", "published, or assumed"], rows)


def changes_table(parts: Parts, place: Place) -> str:
    """One choice at a time: each model's time over the fastest one's."""
    rows = [["base", "", *_ratios(parts, place, base())]]
    for choice in CHOICES:
        for i in range(1, choice.count):
            rows.append([choice.name, choice.shown(i), *_ratios(parts, place, changed(choice, i))])
    sphere = base() | {"legendre": np.ones(1)}
    rows.append(["spherical harmonics in place of two Fourier transforms", "", *_ratios(parts, place, sphere)])
    return table(["changed", "to", *MODELS], rows)


def _ratios(parts: Parts, place: Place, values: dict[str, Array]) -> list[str]:
    times = {name: float(value[0]) for name, value in totals(hours(parts, place, values)).items()}
    fastest = min(times.values())
    return [f"**{seconds(time)} s**" if time == fastest else f"{time / fastest:.2f}" for time in times.values()]


def crossings_table(parts: Parts) -> str:
    """Ranks at which one model overtakes another, on each grid and network, with each choice changed by itself."""
    rows = []
    for points in GRIDS:
        for machine in NETWORKS:
            for a, b in (("spectral", "split-explicit"), ("semi-implicit", "split-explicit"), ("spectral", "semi-implicit")):
                own = [place for place in places(parts) if (place.points, place.machine) == (points, machine)]
                if len(own) > 1:
                    rows.append([GRIDS[points], NETWORKS[machine], f"{a}, {b}", *_crossing_cells(parts, own, a, b)])
    return table(["grid", "network", "models", "base", "earliest", "latest"], rows)


def _crossing_cells(parts: Parts, own: list[Place], a: str, b: str) -> list[str]:
    changes = {"": base()} | {f"{c.name} {c.shown(i)}": changed(c, i) for c in CHOICES for i in range(1, c.count)}
    found = {name: crossing(own, [_ratio(parts, place, values, a, b) for place in own]) for name, values in changes.items()}
    numbers = {name: at for name, at in found.items() if not isinstance(at, str)}
    cell = _ranks(found[""], a, b)
    if not numbers:
        return [cell, "none", "none"]
    first, last = (pick(numbers, key=numbers.__getitem__) for pick in (min, max))
    return [cell, *(f"{_ranks(numbers[name], a, b)} ({name or 'base'})" for name in (first, last))]


def _ratio(parts: Parts, place: Place, values: dict[str, Array], a: str, b: str) -> float:
    times = totals(hours(parts, place, values))
    return float(times[a][0] / times[b][0])


def crossing(own: Sequence[Place], ratios: Sequence[float]) -> float | str:
    """Return the ranks at which a ratio of times passes 1, between two simulated numbers of ranks on a line in the
    logarithms of both; "first" or "second": the model that is faster throughout."""
    logs = np.log(ratios)
    for i in range(len(logs) - 1):
        if logs[i] * logs[i + 1] < 0:
            share = logs[i] / (logs[i] - logs[i + 1])
            return float(np.exp((1 - share) * np.log(own[i].ranks) + share * np.log(own[i + 1].ranks)))
    return "first" if logs[0] < 0 else "second"


def _ranks(at: float | str, a: str, b: str) -> str:
    if isinstance(at, str):
        return f"always {a if at == 'first' else b}"
    return f"{float(f'{at:.1g}'):,.0f}".replace(",", " ")


LATENCY_S = 8e-7
"""Of the longest way through a fat-tree of four levels: six links and two NICs of 100 ns."""
BANDWIDTH = 10e9
RADIX = 4


def quiet_s(place: Place, fields: float) -> float:
    """Return the time of three transpositions by ring-4 on a network without congestion: alpha-beta."""
    cx, cy = place.split
    amount = float(field_levels(np.array(fields), place)) * np.prod(HUNDREDTH) * 8 / place.ranks
    return sum(-(-(n - 1) // RADIX) * LATENCY_S + amount * (n - 1) / n / BANDWIDTH for n in (cx, cy, cx))


def quiet_table(parts: Parts) -> str:
    """Transpositions of four fields of a hundredth of the grid, over what they would take without congestion."""
    rows = []
    for ranks in (1000, 10_000, 100_000):
        cells = []
        for machine in NETWORKS:
            place = Place(machine, TODAY, HUNDREDTH, ranks)
            try:
                line = parts.transposition(place)
            except KeyError:
                cells.append("")
                continue
            cells.append(f"{float(line.at(field_levels(np.array(4.0), place))) / quiet_s(place, 4):.2f}")
        rows.append([f"{ranks:,}".replace(",", " "), f"{1e3 * quiet_s(Place('', TODAY, HUNDREDTH, ranks), 4):.3g} ms", *cells])
    return table(["ranks", "alpha-beta", *NETWORKS.values()], rows)


def checks_table(parts: Parts, records: Sequence[dict[str, Any]]) -> str:
    """Whole steps, simulated as programs, over the sums of their parts."""
    rows = []
    for record in records:
        model, word = record["sweep"].split(", ")
        place = Place(record["machine"], TODAY, HUNDREDTH, record["ranks"])
        whole = record["time_s"]
        rows.append([model, word, f"{record['ranks']:,}".replace(",", " "), f"{1e3 * whole:.3g} ms", f"{whole / sum_of_parts(parts, place, model):.3f}"])
    return table(["step", "network", "ranks", "simulated whole", "over the sum of its parts"], rows)


def sum_of_parts(parts: Parts, place: Place, model: str) -> float:
    """Return the time of a step of the study `checks`, from its parts."""
    points = place.columns * LEVELS / 100e9

    def halo(width: int) -> float:
        return float(parts.halo(place, width).at(np.array(float(LEVELS))))

    if model == "spectral":
        return points * 40e3 + halo(10) + 2 * float(parts.transposition(place).at(np.array(float(LEVELS))))
    if model == "semi-implicit":
        return points * 40e3 + halo(10) + halo(1) + 4 * parts.allreduce(place)
    return points * 20e3 + 3 * halo(3) + 14 * halo(1)


def picture(parts: Parts) -> dict[str, Any]:
    """The Vega-Lite specification of the picture: hours of the models against ranks."""
    rows: list[Row] = []
    every = combinations()
    for place in places(parts):
        once, band = totals(hours(parts, place, base())), totals(hours(parts, place, every))
        for name in MODELS:
            low, high = np.percentile(band[name], BAND)
            rows.append({"model": name, "grid": GRIDS[place.points], "network": NETWORKS[place.machine], "ranks": place.ranks,
                         "time": float(once[name][0]), "low": float(low), "high": float(high)})
    chart = alt.hconcat(*(_panel(rows, grid, network) for grid in GRIDS.values() for network in NETWORKS.values()), columns=len(NETWORKS))
    specification: dict[str, Any] = chart.to_dict()
    specification["config"] = CONFIG
    specification["description"] = (
        "Seconds per simulated hour of three models against ranks, on three networks, on the whole grid and on a hundredth of it. "
        "Lines: base choices. Shaded: from the 10th to the 90th of 100 combinations of the open choices."
    )
    return specification


def _panel(rows: list[Row], grid: str, network: str) -> alt.LayerChart:
    own = [row for row in rows if (row["grid"], row["network"]) == (grid, network)]
    same = [row for row in rows if row["grid"] == grid]
    y_scale, y_axis = log_axis([row[key] for row in same for key in ("low", "high", "time")], "seconds per simulated hour", SECONDS)
    x_scale, x_axis = log_axis([row["ranks"] for row in same], "ranks", "format(datum.value, '~s')")
    data = alt.Chart(alt.Data(values=own)).encode(
        x=alt.X("ranks:Q", scale=x_scale, axis=x_axis), color=colour("model", "model", list(MODELS))
    )
    area = data.mark_area(opacity=0.15).encode(y=alt.Y("low:Q", scale=y_scale, axis=y_axis), y2="high:Q")
    line = data.mark_line(point=True).encode(y=alt.Y("time:Q", scale=y_scale, axis=y_axis))
    return (area + line).properties(width=210, height=190, title=f"{network}, {grid}")
