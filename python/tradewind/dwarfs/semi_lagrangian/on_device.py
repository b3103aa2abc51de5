"""The loops of a semi-Lagrangian step by kernels of a device (`tradewind/device/kernels/semi_lagrangian.cpp`).

On blocks of columns whose halo does not change. The fields stay on the device; what comes to the host in each step are
the findings of a loop, six numbers: the cells of departure points, and whether something is wrong.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.base.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tradewind.dwarfs.semi_lagrangian.lattice import Window

    Cells = tuple[tuple[int, int], tuple[int, int]]

_MOST = np.iinfo(np.int64).max
_NOTHING_FOUND = np.array([_MOST, -_MOST, _MOST, -_MOST, _MOST, 0])
"""As kernels take it: first and last cell along x and y, the first point that is no number, and a missing column."""
ANGLES = ("cos_x", "sin_x", "cos_y", "sin_y")


class OnDevice:
    """The parts of a rank's block that kernels read and that do not change."""

    def __init__(self, run: Any) -> None:
        self._run, self._device, dwarf = run, run.device, run.dwarf
        lattice, (nx, ny) = dwarf.lattice, run.around.points
        self._levels = dwarf.grid[2]
        self._block = (*run.around.first, nx, ny, self._levels, lattice.nx if lattice.sphere else 0)
        self._points = nx * ny * self._levels
        self._lifted, self._real = int(dwarf.lift > 0), dwarf.precision
        angles = run.around.angles()
        self._angles = [self._device.to_device(angles[name]) if lattice.sphere else None for name in ANGLES]
        per_x, per_y = lattice.nx / (2 * math.pi), lattice.ny / math.pi
        self._sphere = int(lattice.sphere), self._lifted, dwarf.dt / 2, 1 / lattice.spacing_m
        self._scales = per_x, per_y, lattice.ny / 2 - 0.5
        self._windows: dict[int, tuple[Any, ...]] = {}
        self._findings = self._device.empty((len(_NOTHING_FOUND),), np.int64)
        self._scratch = self._device.empty((dwarf.tracers, self._points), self._real)

    def _window(self, window: Window) -> tuple[Any, ...]:
        """A window as kernels take it, which is copied once."""
        found = self._windows.get(id(window))
        if found is None:
            rows, columns = window.place.shape
            found = *window.first, columns, rows, self._device.to_device(window.place)
            self._windows[id(window)] = found
        return found

    def _run_kernel(self, name: str, points: int, *arguments: Any) -> NDArray[np.int64]:
        """Run a kernel, and return what it has found. Raises InputError where a column is missing."""
        self._device.update(self._findings, _NOTHING_FOUND)
        self._device.run(f"{name}_{self._real}", points, *self._block, *arguments, self._findings)
        found: NDArray[np.int64] = self._device.to_host(self._findings)
        if found[-1]:
            raise InputError("departure points: the window does not have the columns around one of them")
        return found

    def trace(self, wind: Any, columns: Any, guess: bool, iterations: int) -> tuple[Any, Any, int]:
        """Compute departure points, as `_core.trace_departures` does.

        `wind`: of the points; `columns`: those of the extrapolated winds. Returns the first and the last cell (x, y),
        and the first point that is no number, or -1.
        """
        field = columns.field
        stride = field.shape[1] * field.shape[2]
        how = *self._window(columns.window), *self._sphere, *self._scales, *self._angles
        arrays = wind, field, stride, self._run.departures
        found = self._run_kernel("trace", self._points, *how, *arrays, int(guess), iterations)
        (low_x, high_x, low_y, high_y), wrong = found[:4].tolist(), int(found[4])
        if low_x == _MOST:  # none is a number
            low_x = high_x = low_y = high_y = 0
        return (low_x, low_y), (high_x, high_y), -1 if wrong == _MOST else wrong

    def interpolate(self, columns: Any, tracers: int, cubic: bool, limiter: bool) -> int:
        """Replace the tracers by what was at the departure points.

        Returns the first value [tracer][z][y][x] that is no number, or -1.
        """
        field, window = columns.field, columns.window
        stride = field.shape[1] * field.shape[2]
        how = self._run.departures, int(cubic), int(limiter), self._lifted, tracers
        self._run_kernel("interpolate", self._points, *self._window(window), *how, field, stride, self._scratch)
        places = window.own_first, window.own_pitch
        found = self._run_kernel("put_back", tracers * self._points, tracers, self._scratch, field, stride, *places)
        wrong = int(found[4])
        return -1 if wrong == _MOST else wrong
