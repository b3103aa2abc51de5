"""Fields that the programs of the tests write, as other readers find them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import xarray

from tradewind.fieldserver.files.manifest import Manifest, check
from tradewind.fieldserver.plan.geometry import (
    Curvilinear,
    Geometry,
    Lambert,
    PolarStereographic,
    Rotated,
    Unstructured,
)

PLAN_TEXT = """
folder = "output"
durable = false
{more}

[[sink]]
name = "history"
format = "netcdf"
path = "{{name}}/{{step:03}}.nc"

[[sink]]
name = "all"
format = "netcdf"
path = "{{step:03}}.nc"

[[sink]]
name = "messages"
format = "grib2"
path = "{{step}}.grib2"
packing = "ieee"

[[sink]]
name = "levels"
format = "netcdf"
path = "{{name}}-{{level:04}}/{{step}}.nc"

[[rule]]
sink = {sinks}
every = 2

[[rule]]
sink = "messages"
fields = ["t"]
steps = [0, 2]
"""


LOST = (
    "; no other one is left: steps that have a manifest are whole, and a run with existing = 'continue' goes on from "
    "there"
)


def values(name: str, step: int) -> np.ndarray:
    """[level][point], as another reader finds them."""
    with xarray.open_dataset(f"output/{name}/{step:03}.nc") as data:
        found = data[name].values[0]
    return found.reshape(found.shape[0] if "level" in "".join(data[name].dims) or found.ndim == 3 else 1, -1)


def wanted(step: int, levels: int, points: int) -> np.ndarray:
    return 1e6 * step + 1e3 * np.arange(levels)[:, None] + np.arange(points)


SHAPES = {"t": (3, 48), "u": (3, 48), "q": (3, 48), "o": (3, 88), "s": (1, 20), "m": (3, 48), "n": (3, 48)}


def lie_where_they_were_defined(polar: bool = False) -> None:
    """Points of grids of limited areas, and of a mesh."""
    along, up = np.arange(48) * 2.0, np.arange(48) - 20.0
    grids: dict[str, Geometry] = {
        "u": Lambert(8, 6, 3, 50, 2e4, 3e4, 10, 60, 50, 6371000),
        "q": Rotated(8, 6, -10, -5, 2, 1.5, -170, 40),
        "m": Unstructured(48, along, up),
        "n": Curvilinear(8, 6, along, up),
    }
    if polar:
        grids["p"] = PolarStereographic(8, 6, -100, -50, 2e4, 3e4, 20, -71)
    for name, grid in grids.items():
        with xarray.open_dataset(f"output/{name}/000.nc") as data:
            for what, (dims, degrees, _) in grid.coordinates().items():
                assert data[what].dims == dims
                np.testing.assert_array_equal(data[what], degrees, f"{what} of {name}")


def are_right(*steps: int) -> None:
    """All fields of these steps, and no others, are in the files and the manifest."""
    assert Manifest(Path("output")).steps() == list(steps)
    assert check(Path("output")) == []
    for name, shape in SHAPES.items():
        for step in steps:
            np.testing.assert_array_equal(values(name, step).reshape(shape), wanted(step, *shape), name)
