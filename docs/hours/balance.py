"""Claims about the three models that could fail: what is composed of simulated exchanges beside what is published."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from choices import NODES, POINTS, Node
from models import hours
from parts import HUNDREDTH, Parts
from tables import QUIET, places, ratios, table


@dataclass(frozen=True)
class Claim:
    """A claim: a number with limits on both sides, and how it is computed from the parts."""

    text: str
    published: str
    """The published value and its source; empty where there is none."""
    low: float
    high: float
    values: Callable[[Parts], list[float]]

    def holds(self, parts: Parts) -> bool:
        """Whether all values lie between the limits."""
        return all(self.low <= value <= self.high for value in self.values(parts))


def _node(name: str) -> Node:
    return next(node for node in NODES if node.name == name)


def _over(name: str, points: tuple[int, int] = POINTS) -> Callable[[Parts], list[float]]:
    return lambda parts: ratios(parts, _node(name).values(), points)["spectral"]


def _processors(parts: Parts) -> list[float]:
    """Return the shares of transpositions on nodes without a GPU."""
    return [
        share for node in NODES if node.balance < 30 for share in ratios(parts, node.values(), POINTS)["transposition"]
    ]


def _transform(parts: Parts) -> list[float]:
    """Return the share of transpositions in transforms, packing and transpositions, on ESCAPE's nodes."""
    found = []
    sphere = _node("two Gold 6148, ESCAPE 2018").values() | {"legendre": np.ones(1)}
    for place in places(parts):
        if place.machine in QUIET and place.points == HUNDREDTH:
            hour = hours(parts, place, sphere)["spectral"]
            moved, computed = (float(hour[part][0]) for part in ("transposition", "transforms and packing"))
            found.append(moved / (moved + computed))
    return found


CLAIMS = (
    Claim(
        "processors, 7 : 1 to 25 : 1: transpositions are between half and twice the published share of the spectral "
        "model's time",
        "about 27 % of IFS at T799 with 91 levels, computers not named (ECMWF Forecast User Guide, section 2.1.1); "
        "known",
        0.135,
        0.54,
        _processors,
    ),
    Claim(
        "ESCAPE's nodes, 21 : 1, spherical harmonics: transpositions are most of the time of transforms, packing and "
        "transpositions",
        "most of the time of the dwarf is spent in all-to-alls (ESCAPE 2018, section 3.2.1.3); known",
        0.5,
        1.0,
        _transform,
    ),
    Claim("Piz Daint, 7 : 1: spectral over semi-implicit", "", 1.0, 1.2, _over("processor of Piz Daint")),
    Claim("Fugaku, 25 : 1: the same", "", 1.3, 1.7, _over("A64FX of Fugaku")),
    Claim("H100, 67 : 1: the same", "", 1.9, 2.6, _over("H100")),
    Claim("half an MI250X, 128 : 1: the same", "", 2.5, 3.7, _over("half an MI250X, LUMI-G")),
)
"""Those without a publication were interpolated by hand between 10 : 1, 20 : 1 and 160 : 1 before they were known."""


def claims_table(parts: Parts) -> str:
    """The claims, their limits, what is composed, and whether they hold; from the smallest value to the largest."""
    rows = []
    for claim in CLAIMS:
        found = claim.values(parts)
        word = "**confirmed**" if claim.holds(parts) else "contradicted"
        limits, span = (f"{low:.3g} to {high:.3g}" for low, high in ((claim.low, claim.high), (min(found), max(found))))
        rows.append([claim.text, claim.published, limits, span, word])
    return table(["claim", "published", "limits", "composed", "here"], rows)
