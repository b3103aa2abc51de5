"""Seconds per simulated hour of three models, part by part."""

from __future__ import annotations

import numpy as np
from choices import LEVELS, POINTS, SPACING_M, WIND_M_PER_S, Values
from parts import Array, Parts, Place, field_levels

HOUR_S = 3600.0
SIMULATED_WIDTH = 10
"""Width of the wide halos of the studies."""
ON_DEMAND_WIDTH = 3
DEGREE = POINTS[1] / 2
"""Largest degree of the spherical harmonics on as many latitudes, with the cubic truncation."""
MODELS = ("spectral", "semi-implicit", "split-explicit")
Hour = dict[str, Array]
"""Seconds of each part of a model in a simulated hour, for each combination of choices."""


def hours(parts: Parts, place: Place, values: Values) -> dict[str, Hour]:
    """Return the parts of each of `MODELS`, and of the semi-implicit one with a pipelined solver."""
    advection = _semi_lagrangian(parts, place, values)
    solvers = {"semi-implicit": _solver(parts, place, values), "pipelined": _pipelined(parts, place, values)}
    long = HOUR_S / values["long_step_s"]
    steps = {
        "spectral": advection | _transforms(parts, place, values),
        **{name: advection | solver for name, solver in solvers.items()},
    }
    found = {name: {part: long * seconds for part, seconds in step.items()} for name, step in steps.items()}
    short = HOUR_S / values["short_step_s"]
    explicit = _split_explicit(parts, place, values)
    return found | {"split-explicit": {part: short * seconds for part, seconds in explicit.items()}}


def totals(found: dict[str, Hour]) -> dict[str, Array]:
    """Return the seconds of each of `MODELS`; of the semi-implicit one with the better solver."""
    sums = {name: sum(parts.values(), np.zeros(1)) for name, parts in found.items()}
    return {
        name: np.minimum(sums[name], sums["pipelined"]) if name == "semi-implicit" else sums[name] for name in MODELS
    }


def width(values: Values) -> Array:
    """Return the points of a halo that the strongest wind needs."""
    return np.ceil(values["long_step_s"] * WIND_M_PER_S / SPACING_M) + 2


def _points(place: Place) -> int:
    return place.columns * LEVELS


def _semi_lagrangian(parts: Parts, place: Place, values: Values) -> Hour:
    levels = LEVELS * (values["long_fields"] + values["tracers"])
    faster = values["faster_links"]
    wide = parts.halo(place, SIMULATED_WIDTH).at(levels * _wider(place, width(values)), faster)
    thin = parts.halo(place, ON_DEMAND_WIDTH)
    asking = thin.at(np.full_like(levels, LEVELS), faster)  # a list of points goes the other way first
    return {
        "computing": _points(place) * values["long_traffic"] / values["memory"],
        "wide halo": np.where(values["on_demand"] > 0, asking + thin.at(levels, faster), wide),
    }


def _wider(place: Place, points: Array) -> Array:
    """Return the columns of a halo over those of the simulated one."""
    block = [n / parts for n, parts in zip(place.points, place.split, strict=True)]

    def columns(w: Array | float) -> Array:
        return np.asarray((block[0] + 2 * w) * (block[1] + 2 * w) - block[0] * block[1])

    return columns(points) / columns(SIMULATED_WIDTH)


def _transforms(parts: Parts, place: Place, values: Values) -> Hour:
    line, faster = parts.transposition(place), values["faster_links"]
    there, back = (line.at(field_levels(values[name], place), faster) for name in ("forth", "back"))
    fields = values["forth"] + values["back"]
    waves = np.log2(place.points[0]) + (1 - values["legendre"]) * np.log2(place.points[1])
    rate = values["memory"] * values["flops_per_byte"]
    product_rate = values["memory"] * values["product_flops_per_byte"]
    products = values["column_flops"] + values["legendre"] * fields * DEGREE**2 / POINTS[0]
    per_point = values["transform_flops"] * waves * fields / rate + products / product_rate
    per_point = per_point + values["packing_traffic"] * fields / values["memory"]
    return {"transposition": there + back, "transforms and packing": _points(place) * per_point}


def _solver(parts: Parts, place: Place, values: Values) -> Hour:
    iterations = values["iterations"]
    sweep, halo = _iteration(parts, place, values, "iteration_traffic")
    return {
        "solver": iterations * sweep,
        "thin halos": iterations * halo,
        "allreduces": 2 * iterations * parts.allreduce(place),
    }


def _pipelined(parts: Parts, place: Place, values: Values) -> Hour:
    """One reduction an iteration, which goes on while the next direction is computed (Sanan et al. 2016)."""
    iterations = values["iterations"]
    sweep, halo = _iteration(parts, place, values, "pipelined_traffic")
    return {
        "solver": iterations * sweep,
        "thin halos": iterations * halo,
        "allreduces": iterations * np.clip(parts.allreduce(place) - sweep - halo, 0.0, None),
    }


def _iteration(parts: Parts, place: Place, values: Values, traffic: str) -> tuple[Array, Array]:
    halo = parts.halo(place, 1).at(np.full_like(values["iterations"], LEVELS), values["faster_links"])
    return _points(place) * values[traffic] / values["memory"], halo


def _split_explicit(parts: Parts, place: Place, values: Values) -> Hour:
    """Three Runge-Kutta stages; in a substep first winds are exchanged, then pressure, temperature, vertical wind."""
    faster, one = values["faster_links"], np.full_like(values["tracers"], LEVELS)
    stages = parts.halo(place, 3).at(one * (values["thin_fields"] + values["tracers"]), faster)
    thin = parts.halo(place, 1)
    return {
        "computing": _points(place) * values["short_traffic"] / values["memory"],
        "stage halos": 3 * stages,
        "acoustic halos": values["substeps"] * (thin.at(2 * one, faster) + thin.at(3 * one, faster)),
    }
