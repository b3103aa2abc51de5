"""Checks of the parts: against closed forms where the network is quiet, and against whole steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import closed
import numpy as np
from choices import LEVELS, base
from models import MODELS, hours, totals
from parts import HUNDREDTH, NETWORKS, POINTS, SPLITS, Parts, Place
from tables import GRIDS, TODAY, places, table, thousands

LATENCY_S = 4e-7
"""Latency of the head of a message between 1000 ranks of a fat-tree of 33 nodes per switch: two NICs and two links."""
RANKS = 1000
COPIES = 100e9
"""Bytes per second that a node of the machine files copies, each read and written."""


def quiet_s(sweep: str, width: int | None) -> float:
    """Return the time of an exchange of the study `checks` on a network without congestion: alpha-beta."""
    split = SPLITS[RANKS]
    if sweep == "quiet transposition":
        return closed.ring(1024, int(np.prod(HUNDREDTH)), split, LATENCY_S)
    if sweep == "quiet allreduce":
        return 4 * 5 * (LATENCY_S + 3 * 3 * 8 / closed.BANDWIDTH)  # 4**5 ranks: 5 stages, 3 messages of 3 values
    assert width
    return closed.halo(32, POINTS, split, width, LATENCY_S)


def quiet_rows(records: Sequence[Mapping[str, Any]]) -> list[tuple[str, float, float]]:
    """Return the exchanges that were simulated on a quiet network, their closed forms, and their times."""
    return [
        (_name(record), quiet_s(record["sweep"], record["width"]), record["time_s"])
        for record in records
        if record["base"] == "quiet"
    ]


def _name(record: Mapping[str, Any]) -> str:
    width = f" of {record['width']}" if record["width"] else ""
    return record["sweep"].removeprefix("quiet ") + width


def seeds_text(records: Sequence[Mapping[str, Any]]) -> str:
    """Return how far the times of Valiant's random routing lie apart."""
    times = [record["time_s"] for record in records if record["sweep"] == "seeds of Valiant's routing"]
    share = (max(times) - min(times)) / min(times)
    return f"{len(times)} seeds of Valiant's routing lie within {share:.1%} of one another."


def quiet_table(records: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        [name, f"{1e6 * form:.4g} us", f"{1e6 * time:.4g} us", f"{time / form:.3f}"]
        for name, form, time in quiet_rows(records)
    ]
    return table(["exchange of 1000 ranks (allreduce: 1024)", "alpha-beta", "simulated", "ratio"], rows)


def sum_of_parts(parts: Parts, place: Place, model: str) -> float:
    """Return the time of a step of the study `checks`, from its parts. Its bytes are those of copies."""
    points = place.columns * LEVELS / COPIES

    def halo(width: int) -> float:
        return float(parts.halo(place, width).at(np.array(float(LEVELS))))

    if model == "spectral":
        return points * 40e3 + halo(10) + 2 * float(parts.transposition(place).at(np.array(float(LEVELS))))
    if model == "semi-implicit":
        return points * 40e3 + halo(10) + halo(1) + 4 * parts.allreduce(place)
    return points * 20e3 + 3 * halo(3) + 14 * halo(1)


def whole_rows(parts: Parts, records: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, int, float, float]]:
    """Return model, network, ranks, and the times of whole steps and of the sums of their parts."""
    found = []
    for record in records:
        model, _, network = record["sweep"].partition(", ")
        if model in MODELS:
            place = Place(record["machine"], TODAY, HUNDREDTH, record["ranks"])
            found.append((model, network, record["ranks"], record["time_s"], sum_of_parts(parts, place, model)))
    return found


def whole_table(parts: Parts, records: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        [model, network, thousands(ranks), f"{1e3 * whole:.3g} ms", f"{1e3 * parts_s:.3g} ms", f"{whole / parts_s:.3f}"]
        for model, network, ranks, whole, parts_s in whole_rows(parts, records)
    ]
    return table(["step", "network", "ranks", "simulated whole", "sum of its parts", "ratio"], rows)


HIDDEN = (100_000, 1_000_000)
"""Ranks whose simulations, and those of more, are hidden to see what the estimate would have been."""


def estimate_rows(records: Sequence[Mapping[str, Any]]) -> list[tuple[Place, dict[str, float]]]:
    """Return the hours that are estimated from fewer ranks, over the simulated ones: for each place and model."""
    full = Parts(records)
    fewer = {ranks: Parts(record for record in records if record["ranks"] < ranks) for ranks in HIDDEN}
    found = []
    for place in places(full):
        if place.ranks in HIDDEN and full.simulated(place) and fewer[place.ranks].has(place):
            simulated, estimated = (totals(hours(parts, place, base())) for parts in (full, fewer[place.ranks]))
            found.append((place, {name: float(estimated[name][0] / simulated[name][0]) for name in MODELS}))
    return found


def estimate_table(records: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        [
            GRIDS[place.points],
            NETWORKS[place.machine],
            thousands(place.ranks),
            *(f"{ratio:.2f}" for ratio in ratios.values()),
        ]
        for place, ratios in estimate_rows(records)
    ]
    return table(["grid", "network", "ranks", *MODELS], rows)
