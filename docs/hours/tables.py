"""The tables of docs/explanation/spectral_or_grid_point.md: times, who is the fastest, and what changes that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from choices import CHOICES, LEVELS, LINKS, NODES, POINTS, Values, base, changed, combinations
from models import MODELS, hours, totals
from parts import HUNDREDTH, NETWORKS, SPLITS, Parts, Place

TODAY = "today"
"""The base of the studies under which the answer stands."""
GRIDS = {POINTS: "whole grid", HUNDREDTH: "a hundredth"}
MOST = 100_000
CLOSE = 1.1
"""Times that differ by less are called a draw."""


def places(parts: Parts, base_name: str = TODAY) -> Iterator[Place]:
    """All places whose exchanges were simulated or can be estimated: the whole grid up to `MOST` ranks."""
    for points in GRIDS:
        for machine in NETWORKS:
            for ranks in (n for n in SPLITS if points == HUNDREDTH or n <= MOST):
                place = Place(machine, base_name, points, ranks)
                if parts.has(place):
                    yield place


def largest(parts: Parts, machine: str, points: tuple[int, int]) -> Place:
    """Return the place with most ranks that was simulated of a machine and a grid."""
    own = [place for place in places(parts) if (place.machine, place.points) == (machine, points)]
    return max(own, key=lambda place: place.ranks)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def seconds(value: float) -> str:
    """Return seconds with three digits, without an exponent."""
    return f"{value:.0f}" if value >= 100 else f"{value:#.3g}"


def thousands(number: float) -> str:
    """Return a number with a space before each three digits."""
    return f"{number:,.0f}".replace(",", " ")


def _where(parts: Parts, place: Place) -> list[str]:
    """Return the first cells of a row; with a mark where an exchange is estimated."""
    mark = "" if parts.simulated(place) else " *"
    return [GRIDS[place.points], NETWORKS[place.machine], thousands(place.ranks) + mark]


def base_table(parts: Parts, base_name: str = TODAY) -> str:
    """Seconds per simulated hour of each model with the base choices; the fastest in bold."""
    rows = []
    for place in places(parts, base_name):
        found = hours(parts, place, base())
        times = {name: float(value[0]) for name, value in totals(found).items()}
        fastest = min(times.values())
        cells = [f"**{seconds(time)}**" if time == fastest else seconds(time) for time in times.values()]
        plain = sum(float(part[0]) for part in found["semi-implicit"].values())
        rows.append([*_where(parts, place), *cells, seconds(plain)])
    return table(["grid", "network", "ranks", *MODELS, "without pipelining"], rows)


SOLVERS = ("semi-implicit", "pipelined")
QUIET = ("fattree-L", "dragonfly-ML")
"""The networks on which a balance decides; on the torus congestion does."""


def ratios(parts: Parts, values: Values, points: tuple[int, int]) -> dict[str, list[float]]:
    """Return the hour of each model over that of the semi-implicit one, and the share of transpositions in the
    spectral one, for all ranks of the networks `QUIET` whose exchanges were simulated."""
    found: dict[str, list[float]] = {name: [] for name in (*MODELS, "transposition")}
    for place in places(parts):
        if place.machine in QUIET and place.points == points:
            hour = hours(parts, place, values)
            times = {name: float(value[0]) for name, value in totals(hour).items()}
            for name in MODELS:
                found[name].append(times[name] / times["semi-implicit"])
            found["transposition"].append(float(hour["spectral"]["transposition"][0]) / times["spectral"])
    return found


def balance_table(parts: Parts) -> str:
    """Nodes by their balance of memory and network: how many times as long as the semi-implicit model the others take,
    and the share of transpositions, from the smallest to the largest over networks and ranks."""
    rows = []
    for node in NODES:
        whole, hundredth = (ratios(parts, node.values(), points) for points in GRIDS)
        own = [whole["spectral"], whole["split-explicit"], hundredth["spectral"], hundredth["split-explicit"]]
        cells = [*(_span(values) for values in own), _span(whole["transposition"], percent=True)]
        nominal = [f"{node.memory / 1e9:,.0f}".replace(",", " "), f"{node.network / 1e9:g}", f"{node.balance:.0f}"]
        rows.append([node.name, *nominal, *cells])
    header = ["node", "memory, GB/s", "links, GB/s", "balance", "spectral", "split-explicit"]
    return table([*header, "spectral, a hundredth", "split-explicit, a hundredth", "transpositions"], rows)


def _span(values: Sequence[float], *, percent: bool = False) -> str:
    low, high = min(values), max(values)
    return f"{100 * low:.0f} to {100 * high:.0f} %" if percent else f"{low:.2f} to {high:.2f}"


def parts_table(parts: Parts) -> str:
    """Where the time goes with the base choices on the most ranks of each grid and of `QUIET`: all parts from 1 % on,
    of the semi-implicit model with its better solver."""
    rows = []
    for place in [largest(parts, machine, points) for points in GRIDS for machine in QUIET]:
        found = hours(parts, place, base())
        better = min(SOLVERS, key=lambda name: sum(float(part[0]) for part in found[name].values()))
        for name in ("spectral", better, "split-explicit"):
            hour = found[name]
            total = sum(float(part[0]) for part in hour.values())
            shares = {part: float(value[0]) / total for part, value in hour.items()}
            shown = [f"{part} {share:.0%}" for part, share in shares.items() if share >= 0.01]
            rows.append([*_where(parts, place), name, seconds(total), ", ".join(shown)])
    return table(["grid", "network", "ranks", "model", "s", "of which"], rows)


def winners(parts: Parts, place: Place) -> dict[str, tuple[float, float]]:
    """Return the share of combinations in which each model is the fastest, and in which it is no more than `CLOSE`
    times as long as the fastest."""
    times = np.array(list(totals(hours(parts, place, combinations())).values()))
    fastest = times.min(axis=0)
    shares = [(float((own == fastest).mean()), float((own <= CLOSE * fastest).mean())) for own in times]
    return dict(zip(MODELS, shares, strict=True))


def winners_table(parts: Parts) -> str:
    """In how many of all combinations each model is the fastest, and in how many it is close to that: on `QUIET`."""
    rows = []
    for place in (place for place in places(parts) if place.machine in QUIET):
        shares = winners(parts, place)
        most = max(first for first, _ in shares.values())
        cells = [
            f"**{first:.0%}** ({close:.0%})" if first == most else f"{first:.0%} ({close:.0%})"
            for first, close in shares.values()
        ]
        rows.append([*_where(parts, place), *cells])
    return table(["grid", "network", "ranks", *MODELS], rows)


def choices_table() -> str:
    """The open choices: base, other values, source."""
    rows = [[c.name, c.shown(0), ", ".join(c.shown(i) for i in range(1, c.count)), c.unit, c.source] for c in CHOICES]
    return table(["choice", "base", "others", "unit", "published, or assumed"], rows)


def changes_table(parts: Parts, place: Place) -> str:
    """One choice at a time: seconds of the fastest model, and how many times as long the others take."""
    rows = [["base", "", *_ratios(parts, place, base())]]
    for choice in CHOICES:
        for i in range(1, choice.count):
            rows.append([choice.name, choice.shown(i), *_ratios(parts, place, changed(choice, i))])
    sphere = base() | {"legendre": np.ones(1)}
    rows.append(["spherical harmonics in place of two Fourier transforms", "", *_ratios(parts, place, sphere)])
    return table(["changed", "to", *MODELS], rows)


def _ratios(parts: Parts, place: Place, values: Values) -> list[str]:
    times = {name: float(value[0]) for name, value in totals(hours(parts, place, values)).items()}
    fastest = min(times.values())
    return [f"**{seconds(time)} s**" if time == fastest else f"{time / fastest:.2f}" for time in times.values()]


VARIED = {
    "long_step_s": "semi-Lagrangian step, s",
    "short_step_s": "split-explicit step, s",
    "forth": "fields transposed forth (back in proportion)",
    "long_traffic": "traffic of a semi-Lagrangian step, B/point",
    "short_traffic": "traffic of a split-explicit step, B/point",
    "iterations": "solver iterations",
    "faster_links": "memory : network, by the links",
}
"""Parameters for which a value is looked for at which two models are equally fast."""
PAIRS = (("spectral", "semi-implicit"), ("semi-implicit", "split-explicit"), ("spectral", "split-explicit"))
SEARCHED = np.geomspace(1 / 30, 30, 2001)
"""Multiples of the base among which it is looked for."""


def break_even(parts: Parts, place: Place, parameter: str, a: str, b: str) -> float | None:
    """Return the multiple of a parameter's base that is nearest to 1 and makes two models equally fast, or None."""
    values = {name: np.full(len(SEARCHED), value[0]) for name, value in base().items()}
    values[parameter] = values[parameter] * SEARCHED
    if parameter == "forth":
        values["back"] = values["back"] * SEARCHED
    times = totals(hours(parts, place, values))
    found = np.flatnonzero(np.diff(np.sign(times[a] - times[b])))
    if len(found) == 0:
        return None
    nearest = found[np.argmin(np.abs(np.log(SEARCHED[found])))]
    return float(np.sqrt(SEARCHED[nearest] * SEARCHED[nearest + 1]))


def break_even_table(parts: Parts, place: Place) -> str:
    """The values of single parameters at which two models are equally fast; the others are the base's."""
    rows = []
    for parameter, words in VARIED.items():
        start = float(base()[parameter][0])
        factors = [break_even(parts, place, parameter, a, b) for a, b in PAIRS]
        if parameter == "faster_links":
            start = float(base()["memory"][0]) / (LINKS * start)
            factors = [factor and 1 / factor for factor in factors]
        rows.append([words, f"{start:g}", *("never" if f is None else f"{start * f:.2g}" for f in factors)])
    rows = [[cell if "e+" not in cell else f"{float(cell):,.0f}".replace(",", " ") for cell in row] for row in rows]
    return table(["parameter", "base", *(f"{a} = {b} at" for a, b in PAIRS)], rows)


def buffers_text(parts: Parts) -> str:
    """Return what finite buffers make of the time of transpositions of four fields."""
    found = []
    for machine, network in NETWORKS.items():
        for ranks in SPLITS:
            ratio = parts.finite_over_unbounded(Place(machine, TODAY, HUNDREDTH, ranks), 4 * LEVELS)
            if ratio is not None:
                found.append(f"{ratio:.2f} ({network}, {thousands(ranks)} ranks)")
    return f"Time of a transposition with finite buffers over that with unbounded ones: {', '.join(found)}."
