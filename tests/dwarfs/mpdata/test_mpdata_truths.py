"""MPDATA against exact solutions: mass, order, Williamson's test 1, the limiter."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

pytest.importorskip("mpi4py.MPI")

import mpdata_cases  # noqa: F401

from tradewind import launch
from tradewind.dwarfs.frame.advection import ROTATION_S, exact, outflow_rates, stream_fluxes
from tradewind.dwarfs.mpdata import Mpdata
from tradewind.layout.dual_meshes import octahedral

ALPHAS = {"0": 0.0, "0.05": 0.05, "pi/2 - 0.05": math.pi / 2 - 0.05, "pi/2": math.pi / 2}


def steps_of(n: int, alpha: float, courant: float = 0.8, share: float = 1.0) -> tuple[int, float]:
    """The fewest steps for this share of a rotation whose Courant number is no larger, and their length in s."""
    mesh = octahedral(n)
    rate = outflow_rates(mesh.edges, stream_fluxes(mesh, alpha), 1 / mesh.volume).max()
    steps = math.ceil(share * ROTATION_S * rate / courant)
    return steps, share * ROTATION_S / steps


def advected(*requests: dict[str, Any]) -> list[dict[str, Any]]:
    return launch.run(2, "mpdata_cases:advected", {"requests": list(requests)}, timeout_s=3000)


def rotated(n: int, alpha: float, share: float = 1.0, **values: Any) -> dict[str, Any]:
    steps, dt = steps_of(n, alpha, share=share)
    dwarf = {"grid": f"O{n}", "levels": 1, "alpha": alpha, "dt_s": dt, "strategy": "renumbered", **values}
    return {"dwarf": dwarf, "steps": steps}


FORMS: tuple[dict[str, Any], ...] = (
    {},
    {"limiter": True},
    {"form": "basic"},
    {"form": "basic", "passes": 3, "limiter": True},
)


@cache
def over_the_pole() -> list[dict[str, Any]]:
    """The bell on a quarter of its way around, over a pole, by every form."""
    return advected(*(rotated(20, math.pi / 2, 0.25, **form) for form in FORMS))


def test_mass_stays():
    for found in over_the_pole():
        assert found["after"]["mass"] == pytest.approx(found["before"]["mass"], rel=1e-13)


def test_no_new_extremes_with_the_limiter_and_no_negative_values_without_the_gauge():
    for form, found in zip(FORMS, over_the_pole(), strict=True):
        after, before = found["after"], found["before"]
        if form.get("limiter"):
            assert before["minimum"] - 1e-10 <= after["minimum"]
            assert after["maximum"] <= before["maximum"] + 1e-10
        elif form.get("form") == "basic":
            assert after["minimum"] >= 0
        else:
            assert after["minimum"] < -1


def test_further_passes_are_better_than_upwind_alone():
    asked = rotated(20, math.pi / 2, 0.25)
    dwarf = Mpdata(1, **asked["dwarf"])
    mesh, nodes = octahedral(20), np.arange(dwarf.nodes)
    start = exact(mesh, nodes, "bell", dwarf.alpha, np.zeros(1))
    upwind = replace(dwarf._reference, passes=1)
    field = start
    for _ in range(asked["steps"]):
        field = upwind.step(field)
    wanted = exact(mesh, nodes, "bell", dwarf.alpha, np.array([0.25 * ROTATION_S]))
    volume = mesh.volume[:, None]
    error = math.sqrt((volume * (field - wanted) ** 2).sum() / (volume * wanted**2).sum())
    assert all(found["after"]["l2"] < 0.75 * error for found in over_the_pole())


@pytest.mark.slow
@pytest.mark.parametrize("form", [{}, {"form": "basic"}], ids=["gauge", "basic"])
def test_a_hill_converges_at_second_order(form):
    """A quarter of a rotation over the pole, at one Courant number."""
    sizes = (40, 80, 160)
    found = advected(*(rotated(n, math.pi / 4, 0.25, tracer="hill", **form) for n in sizes))
    errors = [each["after"]["l2"] for each in found]
    print("O40, O80, O160:", errors, "orders", np.log2(np.array(errors[:-1]) / errors[1:]))
    assert math.log2(errors[0] / errors[2]) / 2 >= 1.8


@pytest.mark.slow
def test_williamson_1():
    """A whole rotation, along the equator, over the poles and close to both, in steps that suit all of them."""
    steps, dt = steps_of(40, math.pi / 2)
    requests = [rotated(40, alpha, dt_s=dt) | {"steps": steps} for alpha in ALPHAS.values()]
    found = advected(*requests)
    norms = {name: each["after"] for name, each in zip(ALPHAS, found, strict=True)}
    for name, each in norms.items():
        print(f"alpha {name}: l1 {each['l1']:.4f} l2 {each['l2']:.4f} linf {each['linf']:.4f}")
    for norm in ("l1", "l2", "linf"):
        assert norms["pi/2"][norm] <= 1.5 * norms["0"][norm]


def test_a_flat_field_comes_back():
    """By Courant numbers of a half along x: what a whole period does to a wave by hand.

    With uniform wind along x a wave exp(i k x) is multiplied by a factor that the formulas give.
    """
    nx, c, k = 24, 0.5, 2 * np.pi / 24
    dwarf = Mpdata(1, f"{nx}x4", levels=1, alpha=0.0, dt_s=c)
    x = np.arange(nx * 4) % nx
    after = dwarf.reference(np.cos(k * x)[:, None] + 2.0, 7)[:, 0] - 2.0
    upwind = 1 - c * (1 - np.exp(-1j * k))

    def correction(q: complex, d: complex) -> complex:
        """The divergence of F of a wave with factors q and d."""
        ahead = np.exp(1j * k)
        flux = c / 2 * (q * (ahead - 1)) - c / 4 * d * (1 + ahead)
        return flux * (1 - np.exp(-1j * k))

    factor = upwind - correction(upwind, c * (1 - np.exp(-1j * k)))
    assert np.abs(after - (factor**7 * np.exp(1j * k * x)).real).max() < 1e-13
    assert abs(factor) < 1
