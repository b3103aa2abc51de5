"""Dwarfs whose fields stay on a device: the bits of the host, and nothing that travels but by plans.

The kernels run on the host: those of the simulated device, and behind a fake CuPy.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

pytest.importorskip("mpi4py.MPI")

from slow_tests import slow

from tradewind import launch
from tradewind.base.errors import InputError
from tradewind.dwarfs.diffusion import Diffusion
from tradewind.dwarfs.mpdata import Mpdata
from tradewind.dwarfs.semi_lagrangian import SemiLagrangian
from tradewind.dwarfs.spherical_harmonics import SphericalHarmonics

FINDINGS = 6 * 8
"""Bytes that a loop of the semi-Lagrangian dwarf hands to the host."""
PLACES = [(2, "simulated"), (1, "cuda"), *slow((3, "simulated"), (2, "rocm"))]


@cache
def outcomes(ranks: int, device: str) -> list[list[dict[str, Any]]]:
    return launch.run(ranks, "device_cases:on_both", device, timeout_s=240)


@pytest.mark.parametrize(("ranks", "device"), PLACES)
def test_the_same_bits_as_on_the_host(ranks: int, device: str) -> None:
    found = outcomes(ranks, device)
    assert len(found) > 25
    for host, there in found:
        assert there["field"] == host["field"], host["name"]
        assert there["diagnosis"] == host["diagnosis"], host["name"]


@pytest.mark.parametrize(("ranks", "device"), PLACES)
def test_fields_stay_on_the_device(ranks: int, device: str) -> None:
    """Between steps no byte of a field is copied, but by the strategy that shows what this costs."""
    staged = 0
    for host, there in outcomes(ranks, device):
        assert set(host["copied"].values()) == {0}
        copied = there["copied"]
        if there["strategy"] == "staged":
            staged += 1
            assert copied["to_host_bytes"] >= there["field_bytes"], there["name"]
            assert copied["to_device_bytes"] >= there["field_bytes"], there["name"]
        elif there["strategy"] in ("wide", "overlap") and "tracers" in there["name"]:
            assert copied["to_host_bytes"] == copied["to_host"] * FINDINGS, there["name"]
            if there["is_steady"]:
                assert copied["to_device_bytes"] == copied["to_device"] * FINDINGS, there["name"]
        else:
            assert set(copied.values()) == {0}, there["name"]
    assert staged


@pytest.mark.parametrize(("ranks", "device"), [(2, "cuda"), *slow((1, "rocm"), (4, "cuda"))])
def test_transforms_stay_on_the_device_and_differ_by_roundings(ranks: int, device: str) -> None:
    for precision, apart, copied in launch.run(ranks, "device_cases:spectral_on_both", device, timeout_s=240):
        assert apart < {"f8": 1e-13, "f4": 1e-5}[precision]
        assert set(copied.values()) == {0}


@pytest.mark.parametrize(
    ("kind", "options", "problem"),
    [
        (Diffusion, {"grid": (8, 8, 2), "strategy": "objects"}, "strategy objects: with device simulated exchange"),
        (Mpdata, {"grid": "O8", "strategy": "fused"}, "strategy fused: with device simulated exchange, mask"),
        (SemiLagrangian, {"grid": (16, 16, 2), "strategy": "on-demand"}, "strategy on-demand: with device simulated"),
        (SemiLagrangian, {"grid": "O8x4"}, "geometry octahedral: with device simulated plane and sphere are allowed"),
        (Diffusion, {"grid": (8, 8, 2), "device": "gpu"}, "unknown device 'gpu'"),
        (SphericalHarmonics, {"truncation": 15}, "unknown device 'simulated' .known: host, cuda, rocm"),
        (SphericalHarmonics, {"truncation": 15, "device": "cuda", "winds": True}, "winds: with device cuda none are"),
    ],
)
def test_what_a_device_cannot_do_is_refused(kind: Any, options: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        kind(1, **{"device": "simulated", **options})


@pytest.mark.parametrize("dwarf", [Diffusion(2, grid=(8, 8, 2), device="cuda"), Mpdata(2, grid="O8", device="cuda")])
def test_a_device_is_not_simulated(dwarf: Any) -> None:
    """Machine files have the rates of hosts, which are not a device's."""
    problem = "device cuda: machine files have the rates of hosts, so host alone is simulated"
    with pytest.raises(InputError, match=problem):
        dwarf.simulate("fugaku")
    assert dwarf.simulation_problems() == [problem]


def test_a_device_is_no_part_of_cases_of_the_host() -> None:
    """Keys of stored cases stay as they are."""
    assert "device" not in Diffusion(1, grid=(8, 8, 2)).as_dict()
    assert Diffusion(1, grid=(8, 8, 2), device="simulated").as_dict()["device"] == "simulated"
