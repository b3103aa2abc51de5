"""Grids of limited areas: their points against those of others, in files of all forms, and read again."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
import xarray
from output_plans import plan, record, values

pytest.importorskip("eccodes")

import eccodes

from tradewind.base.errors import InputError
from tradewind.fieldserver.files.reading import read_input
from tradewind.fieldserver.files.sinks.form import Moment
from tradewind.fieldserver.files.sinks.grib import Grib, message
from tradewind.fieldserver.plan.field import OutputField
from tradewind.fieldserver.plan.geometry import (
    Curvilinear,
    Lambert,
    PolarStereographic,
    Rotated,
    Unstructured,
    from_dict,
    is_computed,
)
from tradewind.fieldserver.server.input_field import whole_field
from tradewind.fieldserver.server.shape import Shape
from tradewind.fieldserver.server.writer import Block, Job, Writer

PROJECTED = {
    "lambert": Lambert(7, 5, 3.5, 48.25, 2500.0, 2500.0, 10.0, 60.0),
    "secant": Lambert(7, 5, 300.5, 25.0, 40e3, 50e3, 265.0, 30.0, 60.0),
    "southward": Lambert(7, 5, 3.5, 58.25, 25e3, -25e3, 10.0, 60.0, radius=6371000.0),
    "southern": Lambert(7, 5, 130.0, -40.0, 25e3, 25e3, 140.0, -30.0, -50.0),
    "arctic": PolarStereographic(7, 5, -150.0, 60.0, 1e6, 1e6, -45.0, 60.0),
    "antarctic": PolarStereographic(7, 5, -100.0, -50.0, 25e3, 25e3, 20.0, -71.0),
    "rotated": Rotated(7, 5, -20.0, -15.0, 0.25, 0.25, -162.0, 39.25),
    "rotated southward": Rotated(7, 5, 170.0, 60.0, 3.0, -2.0, 20.0, -70.0),
}
LONGITUDES = 10 + np.arange(35.0).reshape(5, 7)
CURVILINEAR = Curvilinear(7, 5, LONGITUDES, np.sin(LONGITUDES) * 60)
MESH = Unstructured(35, LONGITUDES.ravel() - 180, np.cos(LONGITUDES.ravel()), grid_number=42, grid_in_reference=1)
PLACELESS = Unstructured(35, uuid="12345678-9abc-def0-1234-56789abcdef0")


def degrees(geometry):
    known = geometry.coordinates()
    return known["longitude"][1], known["latitude"][1]


def distance(one, other):
    """Degrees along the sphere between points (longitudes, latitudes) of two grids at most."""
    east, north = ((np.asarray(each) - there + 180) % 360 - 180 for each, there in zip(one, other, strict=True))
    return np.hypot(east * np.cos(np.radians(other[1])), north).max()


PROJ = """
import json, sys, numpy, pyproj
found = {}
for name, (mapping, x, y) in json.load(sys.stdin).items():
    sphere = pyproj.CRS.from_proj4(f"+proj=longlat +R={mapping['earth_radius']} +no_defs")
    turned = pyproj.Transformer.from_crs(pyproj.CRS.from_cf(mapping), sphere, always_xy=True)
    found[name] = [each.tolist() for each in turned.transform(*numpy.meshgrid(x, y))]
json.dump(found, sys.stdout)
"""
"""In a process of its own: PROJ of pyproj and that of ecCodes do not go together."""


def test_points_are_where_proj_has_them():
    if importlib.util.find_spec("pyproj") is None:
        pytest.skip("pyproj is not installed")
    given = {}
    for name, grid in PROJECTED.items():
        y, x = (grid.coordinates()[each][1].tolist() for each in grid.names)
        given[name] = grid.grid_mapping, x, y
    found = subprocess.run([sys.executable, "-c", PROJ], input=json.dumps(given), capture_output=True, text=True)
    assert found.stderr == ""
    there = json.loads(found.stdout)
    assert {name: distance(there[name], degrees(grid)) < 1e-9 for name, grid in PROJECTED.items()} == dict.fromkeys(
        PROJECTED, True
    )
    for grid in PROJECTED.values():
        if grid.names == ("y", "x"):  # else the first point is given on the rotated sphere
            assert distance((grid.longitude, grid.latitude), [each[0, 0] for each in degrees(grid)]) < 1e-9


def written(field, **how):
    """The handle of a message."""
    return eccodes.codes_new_from_message(
        message(field, 1.0, np.zeros(field.geometry.points), Moment(datetime(2026, 11, 27), 0.0), **how)
    )


@pytest.mark.parametrize("name", PROJECTED)
def test_points_are_where_the_iterator_of_eccodes_has_them(name):
    """And the Earth, the order of points and the direction of vectors are those that are promised."""
    grid, along = PROJECTED[name], name in ("lambert", "arctic", "rotated")
    if name == "southward":  # its iterator goes along y
        (request,) = [each for each in plan(Path("x")).requests("u", 0) if each.sink.format == "grib2"]
        with pytest.raises(InputError, match="rows that run against the y axis of a map: dy of more than 0"):
            Grib.check(OutputField("u", grid, (1.0,)), request)
        return
    handle = written(OutputField("u", grid, grib="u", standard_name="x_wind" if along else "eastward_wind"))
    found = [eccodes.codes_get_array(handle, key) for key in ("longitudes", "latitudes")]
    assert distance(found, [each.ravel() for each in degrees(grid)]) < 6e-6  # it rounds degrees
    keys = ("iScansNegatively", "jPointsAreConsecutive", "jScansPositively", "resolutionAndComponentFlags", "radius")
    wanted = [0, 0, int(grid.dy > 0), 48 + 8 * along, getattr(grid, "radius", 6371229)]
    assert [eccodes.codes_get(handle, key, float) for key in keys] == wanted
    eccodes.codes_release(handle)


@pytest.mark.parametrize(
    "grid", [PROJECTED["secant"], PROJECTED["arctic"], PROJECTED["rotated"], CURVILINEAR, MESH, PLACELESS]
)
def test_grids_of_limited_areas_are_in_files_of_all_forms(tmp_path, grid):
    made, field = plan(tmp_path), OutputField("u", grid, (1.0, 2.0), grib="u", units="m s-1")
    writer = Writer(made, asynchronous=False)
    writer.submit(Block([Job(record(field, 0), made.requests("u", 0))]))
    writer.end_step(0)
    writer.close()
    assert list(writer.errors) == []
    options = {"engine": "cfgrib", "backend_kwargs": {"indexpath": ""}}
    with (
        xarray.open_dataset(tmp_path / "grib" / "0000.grib2", **options) as grib,
        xarray.open_dataset(tmp_path / "nc" / "0000.nc", engine="netcdf4", decode_coords="all") as netcdf,
        xarray.open_zarr(tmp_path / "run.zarr", chunks=None, decode_coords="all") as store,
    ):
        assert np.abs(grib.u.values.reshape(2, -1) - values(field, 0)).max() < 1e-3
        for found in (netcdf, store):
            assert np.abs(found.u.values[0].reshape(2, -1) - values(field, 0)).max() < 1e-4
            assert found.u.dims == ("time", "level", *grid.dims)
            assert all(np.array_equal(found.crs.attrs[name], value) for name, value in grid.grid_mapping.items())
            if grid is not PLACELESS:
                assert distance((found.longitude, found.latitude), degrees(grid)) == 0
        if grid.grid_mapping:
            assert distance((grib.longitude, grib.latitude), degrees(grid)) < 6e-6
    shape = Shape(2, 35, "f8", None)
    files = {path: read_input(tmp_path / path) for path in ("grib/0000.grib2", "nc/0000.nc", "run.zarr")}
    for found in files.values():
        for other in (grid, Unstructured(35), from_dict(json.loads(json.dumps(grid.as_dict())))):
            assert np.abs(whole_field(found, "u", shape, other) - values(field, 0)).max() < 1e-3
    elsewhere = [other for other in PROJECTED.values() if other != grid]
    elsewhere.append(Unstructured(35, *(0.01 + each.ravel() for each in degrees(CURVILINEAR))))
    elsewhere.append(Unstructured(35, uuid=PLACELESS.uuid[:-1] + "1"))
    refused = 0
    for path, found in files.items():
        for other in elsewhere:
            by_name = path.startswith("grib") and not grid.grid_mapping
            if is_told(grid, other, by_name=by_name):
                with pytest.raises(InputError, match="of its grid"):
                    whole_field(found, "u", shape, other)
                refused += 1
    assert refused == (1 if grid is PLACELESS else 18 if grid in (CURVILINEAR, MESH) else 24)


def is_told(grid, other, *, by_name):
    """Whether a file of a grid, which has its points or its UUID alone, and another grid can be compared."""
    if by_name:
        return other.grid_uuid is not None and not is_computed(other.grid_uuid) and not is_computed(grid.grid_uuid)
    return "longitude" in grid.coordinates() and "longitude" in other.coordinates()
