"""Fields of a dwarf as the field server takes them: the one seam through which all dwarfs write."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from tradewind import _core
from tradewind.fieldserver.plan.geometry import Gaussian, Geometry, Regular
from tradewind.layout.mesh_rows import mesh_extents

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tradewind.fieldserver.model.field_server import FieldServer
    from tradewind.mpi.library import Array


@dataclass(frozen=True)
class Output:
    """A field of a dwarf. `where` and `axis`: as of `FieldServer.define`; `values`: this rank's part at present."""

    name: str
    where: _core.Layout | NDArray[np.int64]
    geometry: Geometry
    values: Callable[[], Array]
    levels: int | None = None
    """None: those of the layout."""
    axis: int = -1
    attributes: Mapping[str, Any] = field(default_factory=dict)
    """Units and names, as `FieldServer.define` takes them."""


NAMED: dict[str, dict[str, Any]] = {
    "t": {"units": "K", "long_name": "temperature", "grib": "t"},
    "q": {"units": "1", "long_name": "tracer", "grib": "q"},
    "u": {"units": "m s-1", "long_name": "wind along x", "grib": "u"},
    "v": {"units": "m s-1", "long_name": "wind along y", "grib": "v"},
    "phi": {"units": "m2 s-2", "long_name": "geopotential", "grib": "z"},
    "vorticity": {"units": "s-1", "long_name": "vorticity", "grib": "vo"},
    "divergence": {"units": "s-1", "long_name": "divergence", "grib": "d"},
    "x": {"units": "1", "long_name": "solution"},
    "geopotential": {"units": "m2 s-2", "long_name": "geopotential", "grib": "z"},
}
"""Fields that dwarfs have, as files call them."""


def of_blocks(layout: _core.Blocks, parts: Mapping[str, Callable[[], Array]]) -> list[Output]:
    """The fields of a plane of columns, drawn as a box of latitudes and longitudes around the equator."""
    nx, ny, _ = layout.grid.points
    box = Regular.box(nx, ny)
    return [Output(name, layout, box, values, attributes=NAMED.get(name, {})) for name, values in parts.items()]


def of_tracers(
    where: _core.Blocks | NDArray[np.int64],
    geometry: Geometry,
    tracers: int,
    levels: int,
    values: Callable[[int], Array],
) -> list[Output]:
    """Tracers of one layout, or of points by their ids; `values` of each; q, or q1, q2, ... of several."""
    names = ["q"] if tracers == 1 else [f"q{number + 1}" for number in range(tracers)]
    return [
        Output(name, where, geometry, partial(values, number), levels, attributes=NAMED["q"])
        for number, name in enumerate(names)
    ]


def of_mesh(name: str, own: NDArray[np.int64], levels: int, parts: Mapping[str, Callable[[], Array]]) -> list[Output]:
    """The fields of a mesh by name, [node][level]."""
    n, ny = mesh_extents(name)
    grid = Regular.box(n, ny) if ny else Gaussian.octahedral(n)
    return [Output(each, own, grid, values, levels, 0, NAMED.get(each, {})) for each, values in parts.items()]


def define(server: FieldServer, outputs: Sequence[Output], precision: str) -> None:
    """Define the fields that a dwarf will write."""
    for each in outputs:
        levels = None if each.levels is None else range(1, each.levels + 1)
        server.define(
            each.name, each.where, each.geometry, levels=levels, dtype=precision, axis=each.axis, **each.attributes
        )


def write(server: FieldServer, outputs: Sequence[Output], step: int) -> None:
    """Write all fields that the plan wants of a step, and end it."""
    for each in outputs:
        if server.wants(each.name, step):
            server.write(each.name, each.values(), step)
    server.end_step(step)
