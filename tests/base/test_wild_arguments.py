"""Wild values for every parameter of what models call: each is refused by an error of Tradewind, or is valid."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("mpi4py.MPI")

from mpi4py import MPI

import tradewind as tw
from tradewind.base.errors import TradewindError, quoted
from tradewind.fieldserver.plan.geometry import (
    Curvilinear,
    Gaussian,
    Lambert,
    PolarStereographic,
    Regular,
    Rotated,
    Spectral,
    Unstructured,
)
from tradewind.spectral import Distribution, Truncation

WILD = (
    *(None, -1, 1.5, float("nan"), float("inf"), 2**31, 2**63, 2**70, 10**5000, True),
    *("", "x\0y", "\udcb0", b"x", "a" * 100_000, [], {}, (), object(), {"algorithm": 3}, ["\udcb0"]),
    *([[1], [2, 3]], [object()], [2**70], range(10**11), lambda: 1, Ellipsis, slice(3), 1 + 2j),
    *(np.array(5), np.zeros(3, "u1"), np.zeros((2, 2, 2)), np.array(["a"]), np.array([None])),
    *(np.zeros(2, [("a", "i4")]), np.broadcast_to(np.zeros(1), 10**12), np.broadcast_to(np.zeros(1, "i8"), 10**11)),
)
PLAN = """
folder = "written"
[[sink]]
name = "s"
format = "netcdf"
path = "{step}.nc"
[[rule]]
sink = "s"
every = 1
"""


class Call:
    """A function with arguments that suit it; those of `optional` are named one at a time."""

    def __init__(self, function: Callable[..., Any], optional: str = "", **suiting: Any) -> None:
        self.function, self.optional, self.suiting = function, optional.split(), suiting

    def problems(self) -> Iterator[str]:
        """Call with each wild value of each argument; yields what raises anything else than an error of Tradewind."""
        for name in (*self.suiting, *self.optional):
            for value in WILD:
                try:
                    self.function(**{**self.suiting, name: value})
                except TradewindError as error:
                    str(error).encode()
                except Exception as error:
                    yield f"{name} = {quoted(value)[:40]}: {error!r}"


def of_field_servers() -> dict[str, Call]:
    def made(**arguments: Any) -> None:
        tw.FieldServer(**arguments).close()

    with open("plan.toml", "w") as file:
        file.write(PLAN)
    server = tw.FieldServer("plan.toml", MPI.COMM_SELF)
    grid, points, values = Regular(4, 3), np.arange(12), np.zeros((2, 12))
    server.define("t", points, grid, levels=[1.0, 2.0])
    steps = {"nx": 3, "ny": 2, "longitude": 5, "latitude": 50, "dx": 1, "dy": 1}
    described = "levels dtype axis level_type units long_name standard_name grib"
    return {
        "FieldServer": Call(made, "servers method steps", plan="plan.toml", comm=MPI.COMM_SELF),
        "define": Call(server.define, described, name="t", where=points, geometry=grid),
        "wants": Call(server.wants, name="t", step=0),
        "write": Call(server.write, "level", name="t", values=values, step=0),
        "start": Call(server.start, "level", name="t", values=values, step=0),
        "prefetch": Call(server.prefetch, paths=["x"]),
        "read": Call(server.read, name="t", values=values, path="x"),
        "end_step": Call(server.end_step, step=0),
        "Regular": Call(Regular, "longitude latitude dx dy", nx=4, ny=3),
        "Regular.box": Call(Regular.box, nx=4, ny=3),
        "Gaussian": Call(Gaussian, rows=[4, 4]),
        "Gaussian.octahedral": Call(Gaussian.octahedral, n=4),
        "Spectral": Call(Spectral, truncation=3),
        "Unstructured": Call(Unstructured, "longitudes latitudes uuid grid_number grid_in_reference", count=3),
        "Curvilinear": Call(Curvilinear, nx=2, ny=1, longitudes=[0, 1], latitudes=[0, 0]),
        "Lambert": Call(Lambert, "second_parallel radius", **steps, orientation=10, parallel=60),
        "PolarStereographic": Call(PolarStereographic, "radius", **steps, orientation=10, true_latitude=60),
        "Rotated": Call(Rotated, **steps, pole_longitude=10, pole_latitude=60),
    }


def of_transforms() -> dict[str, Call]:
    truncation = Truncation("O4")
    distribution = Distribution(truncation, 1, levels=2, variables=2)
    one, many = tw.SpectralTransform("O4"), tw.DistributedTransform(distribution, MPI.COMM_SELF)
    spectral, grid = np.zeros((truncation.coefficients, 2), complex), np.zeros((2, truncation.grid.points))
    plans = "methods tables threads winds radius algorithm transport packing watchdog_s check record"
    return {
        "SpectralTransform": Call(tw.SpectralTransform, "degree rule tables threads radius", grid="O4"),
        "Truncation": Call(Truncation, "degree rule top", grid="O4"),
        "GaussianGrid": Call(tw.GaussianGrid, "name rows"),
        "to_spectral": Call(one.to_spectral, "out", grid=grid),
        "to_grid": Call(one.to_grid, "out", spectral=spectral),
        "to_spectral_adjoint": Call(one.to_spectral_adjoint, "product", spectral=spectral),
        "to_grid_adjoint": Call(one.to_grid_adjoint, "product", grid=grid),
        "wind": Call(one.wind, "out", vorticity=spectral, divergence=spectral),
        "wind_adjoint": Call(one.wind_adjoint, "product", u=grid, v=grid),
        "gradient": Call(one.gradient, spectral=spectral),
        "laplacian": Call(one.laplacian, spectral=spectral),
        "Distribution": Call(Distribution, "levels variables level_sets dealt shared", truncation=truncation, ranks=2),
        "DistributedTransform": Call(tw.DistributedTransform, plans, distribution=distribution, comm=MPI.COMM_SELF),
        "its adjoint": Call(many.to_spectral_adjoint, "product"),
        "exchange": Call(many.exchange, "back", name="rows"),
    }


def of_points() -> dict[str, Call]:
    from tradewind import points

    own = tw.Points(MPI.COMM_SELF, [3, 4, 5])
    return {
        "Points": Call(tw.Points, comm=MPI.COMM_SELF, what=[1, 2]),
        "locate": Call(own.locate, wanted=[3]),
        "fetch": Call(own.fetch, "peers places", wanted=[3]),
        "fetch of owners": Call(own.fetch, "peers places", owner=[0], index=[1]),
        "halo": Call(own.halo, "peers places", owner=[0], index=[1]),
        "renumbered": Call(tw.renumbered, comm=MPI.COMM_SELF, own=[1, 2], halo=[]),
        "redistribution": Call(points.redistribution, comm=MPI.COMM_SELF, before=[1], after=[1]),
        "GatherScatter": Call(tw.GatherScatter, "operation comm", ids=[1, 2]),
    }


@pytest.mark.parametrize("calls", [of_field_servers, of_transforms, of_points])
def test_wild_arguments_are_errors_of_tradewind(calls, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    problems = [f"{name}: {problem}" for name, call in calls().items() for problem in call.problems()]
    assert problems == []
