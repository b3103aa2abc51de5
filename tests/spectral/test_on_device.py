"""The transform on a device, by NumPy in the place of CuPy, beside that of the host."""

from __future__ import annotations

import numpy as np
import pytest

from tradewind.base.errors import InputError
from tradewind.spectral.on_device import DeviceTransform
from tradewind.spectral.transform import SpectralTransform


@pytest.mark.parametrize(
    ("grid", "precision", "bound"), [("O20", "f8", 1e-13), ("F12", "f8", 1e-13), ("O20", "f4", 1e-5)]
)
def test_values_are_those_of_the_host_but_for_roundings(grid: str, precision: str, bound: float) -> None:
    host = SpectralTransform(grid, precision=precision)
    there = DeviceTransform(host, np)
    points = np.random.default_rng(1).random((3, host.grid.points)).astype(precision)
    spectral = host.to_spectral(points)
    fields = host.to_grid(spectral)
    assert np.abs(there.to_spectral(points) - spectral).max() < bound * np.abs(spectral).max()
    assert np.abs(there.to_grid(spectral) - fields).max() < bound * np.abs(fields).max()
    again = there.to_spectral(there.to_grid(spectral))
    assert np.abs(again - spectral).max() < 10 * bound * np.abs(spectral).max()


def test_arrays_that_do_not_fit_are_refused() -> None:
    there = DeviceTransform(SpectralTransform("O8"), np)
    with pytest.raises(InputError, match=r"fields of float32 and shape \(2, 544\): float64 \(fields, 544\) is allowed"):
        there.to_spectral(np.zeros((2, 544), "f4"))
    with pytest.raises(InputError, match=r"complex128 \(\d+, fields\) is allowed"):
        there.to_grid(np.zeros((7, 2), complex))


def test_functions_that_are_computed_again_are_refused() -> None:
    with pytest.raises(InputError, match="with tables of Legendre functions"):
        DeviceTransform(SpectralTransform("O8", tables=False), np)
