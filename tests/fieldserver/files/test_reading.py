"""Input files of all forms, good and damaged, and files that are read ahead."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import eccodes
import h5py
import netCDF4
import numpy as np
import psutil
import pytest
import xarray
import zarr

from tradewind.base.errors import InputError
from tradewind.fieldserver.files.input_grid import grid_problem
from tradewind.fieldserver.files.reading import InputFile, read_input
from tradewind.fieldserver.plan.geometry import Gaussian, Regular, Spectral, Unstructured
from tradewind.fieldserver.server.ahead import ReadAhead
from tradewind.fieldserver.server.input_field import whole_field
from tradewind.fieldserver.server.shape import Shape

VALUES = np.arange(2 * 6 * 4, dtype=float).reshape(2, 24) + 250


def grib(path, edition, values=VALUES):
    """A file by ecCodes alone."""
    with path.open("wb") as stream:
        for level, each in enumerate(values):
            handle = eccodes.codes_grib_new_from_samples(f"GRIB{edition}")
            sizes = {"Ni": 6, "Nj": 4, "iDirectionIncrementInDegrees": 60, "jDirectionIncrementInDegrees": 10}
            corners = {"latitudeOfFirstGridPointInDegrees": 60, "latitudeOfLastGridPointInDegrees": 30}
            corners["longitudeOfLastGridPointInDegrees"] = 300
            for key, value in {**sizes, **corners, "shortName": "t", "bitsPerValue": 24}.items():
                eccodes.codes_set(handle, key, value)
            eccodes.codes_set(handle, "typeOfLevel", "isobaricInhPa")
            eccodes.codes_set(handle, "level", 500 + level)
            if np.isnan(each).any():
                eccodes.codes_set(handle, "bitmapPresent", 1)
                eccodes.codes_set(handle, "missingValue", 9999.0)
            eccodes.codes_set_values(handle, np.where(np.isnan(each), 9999.0, each))
            eccodes.codes_write(handle, stream)
            eccodes.codes_release(handle)


def dataset():
    return xarray.Dataset(
        {"t": (("time", "level", "latitude", "longitude"), VALUES.reshape(1, 2, 4, 6))},
        {"time": [0.0], "level": [1, 2], "latitude": np.arange(4.0), "longitude": np.arange(6.0)},
    )


@pytest.fixture(params=["grib1", "grib2", "netcdf", "zarr"])
def file(request, tmp_path):
    path = tmp_path / "input"
    if request.param.startswith("grib"):
        grib(path, request.param[-1])
    elif request.param == "netcdf":
        dataset().to_netcdf(path, engine="netcdf4")
    else:
        dataset().to_zarr(path, zarr_format=3, consolidated=False)
    return path


WITH_MISSING = np.where(VALUES == 255, np.nan, VALUES)
PACKED = {"dtype": "i2", "scale_factor": 0.5, "add_offset": 300.0, "_FillValue": -32767}


@pytest.mark.parametrize("encoding", [PACKED, {"_FillValue": 1e20}, {"dtype": ">f4"}])
@pytest.mark.parametrize("form", ["netcdf", 2, 3])
def test_packed_and_missing_values(tmp_path, form, encoding):
    data = dataset()
    data["t"] = data.t.where(data.t != 255)
    data["land"] = (("latitude", "longitude"), np.arange(24, dtype="i4").reshape(4, 6))
    if form == "netcdf":
        data.to_netcdf(tmp_path / "in", engine="netcdf4", encoding={"t": encoding})
    else:
        data.to_zarr(tmp_path / "in", zarr_format=form, encoding={"t": encoding}, consolidated=False)
    found = read_input(tmp_path / "in")
    assert np.array_equal(found.field("t"), WITH_MISSING, equal_nan=True)
    assert (found.field("land") == np.arange(24)).all()


@pytest.mark.parametrize("edition", ["1", "2"])
def test_values_that_a_message_has_not(tmp_path, edition):
    grib(tmp_path / "in", edition, WITH_MISSING)
    found = read_input(tmp_path / "in").field("t")
    assert np.abs(np.nan_to_num(found) - np.nan_to_num(WITH_MISSING)).max() <= 1e-4
    assert (np.isnan(found) == np.isnan(WITH_MISSING)).all()


@pytest.mark.parametrize(
    ("dims", "levels"),
    [
        (("time", "plev", "lat", "lon"), 2),
        (("valid_time", "pressure_level", "lat", "lon"), 2),
        (("time", "lev", "cell"), 2),
        (("time", "lat", "lon"), 1),
        (("lat", "lon"), 1),
        (("z", "cell"), 2),
    ],
)
def test_levels_by_the_names_of_dimensions(tmp_path, dims, levels):
    shape = {"plev": 2, "pressure_level": 2, "lev": 2, "z": 2, "lat": 4, "lon": 6, "cell": 24}
    values = VALUES[:levels].reshape([shape.get(name, 1) for name in dims])
    xarray.Dataset({"t": (dims, values)}).to_netcdf(tmp_path / "in", engine="netcdf4")
    assert (read_input(tmp_path / "in").field("t") == VALUES[:levels]).all()


@pytest.mark.parametrize("form", ["grib2", "netcdf"])
def test_values_are_read_in_the_units_of_the_model(tmp_path, form):
    """And refused in others; as they are where either does not say which, and where a file says 1."""
    if form == "grib2":
        grib(tmp_path / "in", "2")
    else:
        data = dataset()
        data["u"] = data.t.assign_attrs(units="1")
        data["t"] = data.t.assign_attrs(units="K")
        data.to_netcdf(tmp_path / "in", engine="netcdf4")
        assert (whole_field(read_input(tmp_path / "in"), "u", SHAPE, NORTHWARD, "degC") == VALUES).all()
        percent = whole_field(read_input(tmp_path / "in"), "u", SHAPE, NORTHWARD, "%")
        np.testing.assert_allclose(percent, 100 * VALUES)
    found, grid = read_input(tmp_path / "in"), SOUTHWARD if form == "grib2" else NORTHWARD
    for units, offset in (("degC", -273.15), ("K", 0.0), ("", 0.0), ("of no kind", 0.0)):
        assert np.abs(whole_field(found, "t", SHAPE, grid, units) - VALUES - offset).max() <= 1e-4
    with pytest.raises(InputError, match="in: field t: it has units 'K', and the model's field 'm s-1'"):
        whole_field(found, "t", SHAPE, grid, "m s-1")


def test_files_of_all_forms(file):
    found = read_input(file)
    assert list(found.fields) == ["t"]
    assert np.abs(found.field("t") - VALUES).max() <= 1e-4
    with pytest.raises(InputError, match=r"unknown field 'u'.*\(known: t\)"):
        found.field("u")


@pytest.mark.parametrize("end", [3, 30, 100, 200])
def test_files_that_end_early(tmp_path, file, end):
    if file.is_dir():
        (file / "t" / "zarr.json").write_text((file / "t" / "zarr.json").read_text()[:end])
    else:
        file.write_bytes(file.read_bytes()[:end])
    with pytest.raises(InputError, match="input"):
        read_input(file).field("t")


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "input: it is empty"), (b"CDF\x01 and more", "NetCDF of version 3"), (b"no such thing", "GRIB, NetCDF-4")],
)
def test_what_is_no_input_file(tmp_path, content, words):
    (tmp_path / "input").write_bytes(content)
    with pytest.raises(InputError, match=words):
        read_input(tmp_path / "input")
    with pytest.raises(InputError, match="No such file"):
        read_input(tmp_path / "missing")


def test_files_and_folders_without_a_field_say_so(tmp_path):
    netCDF4.Dataset(tmp_path / "empty.nc", "w").close()
    zarr.open_group(tmp_path / "empty.zarr", mode="w")
    zarr.open_group(tmp_path / "nameless.zarr", mode="w").create_array("t", shape=(2, 3), dtype="f8")
    with netCDF4.Dataset(tmp_path / "group.nc", "w") as data:
        data.createGroup("g").createDimension("x", 3)
        data["g"].createVariable("t", "f8", ("x", "x"))
    for name in ("empty.nc", "empty.zarr", "nameless.zarr", "group.nc"):
        with pytest.raises(InputError, match=f"{name}: it has no field: numbers along 2 dimensions or more with names"):
            read_input(tmp_path / name).field("t")
    with netCDF4.Dataset(tmp_path / "timeless", "w") as data:
        for name, size in {"time": None, "x": 3}.items():
            data.createDimension(name, size)
        data.createVariable("t", "f8", ("time", "x", "x"))
    with pytest.raises(InputError, match="timeless: variable t has no time: 1 or more are allowed"):
        read_input(tmp_path / "timeless")
    with h5py.File(tmp_path / "plain", "w") as data:
        data["t"] = np.zeros((2, 3))
    with pytest.raises(InputError, match="plain: t has no dimensions with names: this is HDF5, and not NetCDF-4"):
        read_input(tmp_path / "plain")
    (tmp_path / "folder").mkdir()
    zarr.create_array(tmp_path / "array", shape=(2, 3), dtype="f8")
    for name in ("folder", "array"):
        with pytest.raises(InputError, match=f"{name}: this folder is no group of Zarr; GRIB"):
            read_input(tmp_path / name)


@pytest.fixture
def little_memory(monkeypatch):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=2**33))


def test_a_message_that_claims_too_much_is_refused(tmp_path, little_memory):
    """One value for all points, of which ecCodes would return one for each."""
    handle = eccodes.codes_grib_new_from_samples("GRIB2")
    message = bytearray(eccodes.codes_get_message(handle))
    eccodes.codes_release(handle)
    many, section = (2**31 - 2).to_bytes(4, "big"), b"\0\0\0\x15\x05"
    at = message.index(section) + len(section)
    message[at : at + 4] = many
    (tmp_path / "values").write_bytes(message)
    with pytest.raises(InputError, match=r"values: field .*: a message has 496 points and 2147483646 values"):
        read_input(tmp_path / "values")
    points = message.index((496).to_bytes(4, "big"))
    message[points : points + 4] = many
    (tmp_path / "both").write_bytes(message)
    with pytest.raises(InputError, match=r"both: field .* needs about .* of memory and .* are free: a computer"):
        read_input(tmp_path / "both")


def test_a_variable_that_needs_too_much_memory_is_refused(tmp_path, little_memory):
    with netCDF4.Dataset(tmp_path / "large", "w") as data:
        data.createDimension("x", 2**15)
        data.createVariable("t", "f8", ("x", "x"), chunksizes=(2**10, 2**10))
    with pytest.raises(InputError, match=r"large: variable t needs about .* of memory and 8.* are free"):
        read_input(tmp_path / "large")


def test_a_variable_that_claims_too_much_is_refused(tmp_path):
    group = zarr.open_group(tmp_path / "huge", mode="w")
    names = ("time", "level", "point")
    group.create_array("t", shape=(1, 2**20, 2**20), chunks=(1, 1, 1024), dtype="f8", dimension_names=names)
    with pytest.raises(InputError, match="1099511627776 values"):
        read_input(tmp_path / "huge")


@pytest.mark.parametrize("chunks", [True, False])
@pytest.mark.parametrize("fill", [None, np.nan, -1.0])
def test_levels_that_nobody_wrote_to_netcdf_are_an_error(tmp_path, chunks, fill):
    values = np.arange(3 * 24.0).reshape(3, 4, 6)
    with netCDF4.Dataset(tmp_path / "in", "w") as data:
        for name, size in {"time": 2, "level": 3, "latitude": 4, "longitude": 6}.items():
            data.createDimension(name, size)
        sizes = (1, 1, 4, 3) if chunks else None
        for name in ("t", "u", "v"):
            dims = ("time", "level", "latitude", "longitude")
            data.createVariable(name, "f8", dims, fill_value=fill, chunksizes=sizes, contiguous=not chunks)
        data["t"][0], data["t"][1, 1] = values, values[1]
        data["u"][1] = values
        data["u"][1, 2] = np.nan  # it was written
        data["u"][1, 2, 0, 0] = 1.0
    found = read_input(tmp_path / "in")
    with pytest.raises(InputError, match=r"in: field t: of its levels 0..2 these were never written: 0, 2$"):
        found.field("t")
    assert np.isfinite(found.field("u")[:2]).all()
    with pytest.raises(InputError, match=r"field v: .* these were never written: 0, 1, 2$"):
        found.field("v")


def test_parts_of_levels_that_nobody_wrote_are_an_error_where_chunks_tell(tmp_path):
    with netCDF4.Dataset(tmp_path / "in", "w") as data:
        for name, size in {"level": 2, "latitude": 4, "longitude": 6}.items():
            data.createDimension(name, size)
        t = data.createVariable("t", "f8", ("level", "latitude", "longitude"), chunksizes=(2, 3, 4))
        t[:, :3] = 1.0
    with pytest.raises(InputError, match=r"field t: of its levels 0..1 these were never written: 0, 1$"):
        read_input(tmp_path / "in").field("t")


@pytest.mark.parametrize("form", [2, 3])
def test_levels_without_a_value_of_a_store_are_an_error(tmp_path, form):
    data = dataset()
    data["t"] = data.t.where(data.level == 1)
    data["land"] = xarray.zeros_like(dataset().t)
    data.chunk(level=1).to_zarr(tmp_path / "in", zarr_format=form, consolidated=False)
    found = read_input(tmp_path / "in")
    with pytest.raises(InputError, match=r"field t: of its levels 0..1 these were never written: 1$"):
        found.field("t")
    assert (found.field("land") == 0).all()


PATIENCE_S = 240.0


class Source:
    """Files that take as long as the test says."""

    def __init__(self):
        self.begun: list[str] = []
        self.go = {name: threading.Event() for name in "abcde"}

    def read(self, path):
        self.begun.append(path)
        assert self.go[path].wait(PATIENCE_S)
        if path == "c":
            raise InputError("c: it is damaged")
        return InputFile(path, {"t": np.ones((1, 1))})


def test_two_files_are_read_ahead_and_no_more():
    source, threads = Source(), []

    def call(work):
        threads.append(threading.Thread(target=work))
        threads[-1].start()

    ahead = ReadAhead(call, 2, source.read)
    ahead.ask(list("abcde"))
    source.go["a"].set()
    assert ahead.get("a").path == "a"
    end = time.monotonic() + PATIENCE_S
    while len(source.begun) < 2:
        assert time.monotonic() < end
        time.sleep(0.001)
    assert len(threads) == 2  # a lies here until the next one is asked for
    assert sorted(source.begun) == ["a", "b"]
    source.go["b"].set()
    assert ahead.get("b").path == "b"
    source.go["c"].set()
    with pytest.raises(InputError, match="c: it is damaged"):
        ahead.get("c")
    source.go["d"].set()
    source.go["e"].set()
    assert ahead.get("e").path == "e"  # d is left out
    for thread in threads:
        thread.join()
    assert sorted(each for each in source.begun if each != "d") == ["a", "b", "c", "e"]


def test_a_late_file_is_read_by_whoever_asks():
    source, later = Source(), []
    ahead = ReadAhead(later.append, 2, source.read)
    ahead.ask(["a"])
    source.go["a"].set()
    assert ahead.get("a").path == "a"
    assert len(later) == 1
    later[0]()  # has nothing to do any more
    assert source.begun == ["a"]


SHAPE = Shape(2, 24, "f8", None)
SOUTHWARD = Regular(6, 4, 0, 60, 60, -10)
"""The grid of the test's GRIB files."""
NORTHWARD = Regular(6, 4)
"""That of its others."""


def test_rows_that_run_the_other_way_than_those_of_the_model_are_an_error(file):
    found = read_input(file)
    southward = file.read_bytes()[:4] == b"GRIB" if file.is_file() else False
    right, wrong = (SOUTHWARD, NORTHWARD) if southward else (NORTHWARD, SOUTHWARD)
    for grid in (right, Unstructured(24)):
        assert np.abs(whole_field(found, "t", SHAPE, grid) - VALUES).max() <= 1e-4
    with pytest.raises(InputError, match=r"field t: its rows run from (north|south) to (north|south), and those of"):
        whole_field(found, "t", SHAPE, wrong)


def test_a_grid_elsewhere_than_that_of_the_model_is_an_error(file):
    found = read_input(file)
    is_grib = file.is_file() and file.read_bytes()[:4] == b"GRIB"
    nx, ny, west, first, dx, dy = (6, 4, 0, 60, 60, -10) if is_grib else (6, 4, 0, 0, 1, 1)
    whole_field(found, "t", SHAPE, Regular(nx, ny, west + 360, first + 0.0009, dx, dy))
    elsewhere = {
        "another longitude": Regular(nx, ny, west + dx, first, dx, dy),
        "half a cell": Regular(nx, ny, west - dx / 2, first, dx, dy),
        "another latitude": Regular(nx, ny, west, first + 0.01, dx, dy),
        "narrower": Regular(nx, ny, west, first, dx / 2, dy),
        "other sizes": Regular(ny, nx, west, first, dx, dy / 2),
        "rows of Gauss": Gaussian((6,) * 4),
        "points": Unstructured(24, np.arange(24.0), np.zeros(24)),
    }
    for why, grid in elsewhere.items():
        words = r"input: field t: (point \d+ of its grid is at latitude .*: the file has 6 x|its rows run from south)"
        with pytest.raises(InputError, match=words):
            pytest.fail(f"{why}: {np.shape(whole_field(found, 't', SHAPE, grid))}")
    assert "the model asks for coefficients" in grid_problem(found.grids["t"][0], Spectral(3))


def test_points_and_rows_of_one_grid_are_the_same(file):
    """A mesh of the same points reads a grid of rows, and a file of points is read as rows."""
    found = read_input(file)
    grid = SOUTHWARD if file.is_file() and file.read_bytes()[:4] == b"GRIB" else NORTHWARD
    known = grid.coordinates()
    latitudes, longitudes = np.repeat(known["latitude"][1], 6), np.tile(known["longitude"][1], 4)
    whole_field(found, "t", SHAPE, Unstructured(24, longitudes - 360, latitudes))
    with pytest.raises(InputError, match="point 5 of its grid"):
        whole_field(found, "t", SHAPE, Unstructured(24, np.where(np.arange(24) == 5, 0.5, longitudes), latitudes))


@pytest.mark.parametrize("form", ["netcdf", 2, 3])
@pytest.mark.parametrize("radians", [False, True])
def test_coordinates_of_points_beside_a_field(tmp_path, form, radians):
    grid = Gaussian((2, 4, 4, 2))
    known = {name: values for name, (_, values, _) in grid.coordinates().items()}
    scale, units = (np.pi / 180, "radian") if radians else (1.0, None)
    beside = {
        f"c{name[:3]}": ("cell", values.astype("f4") * scale, {"standard_name": name, "units": units or "degrees"})
        for name, values in known.items()
    }
    data = xarray.Dataset({"t": (("lev", "cell"), VALUES[:, :12])}, coords=beside)
    if form == "netcdf":
        data.to_netcdf(tmp_path / "in", engine="netcdf4")
    else:
        data.to_zarr(tmp_path / "in", zarr_format=form, consolidated=False)
    found = read_input(tmp_path / "in")
    shape = Shape(2, 12, "f8", None)
    assert (whole_field(found, "t", shape, grid) == VALUES[:, :12]).all()
    with pytest.raises(InputError, match="point 1 of its grid is at latitude"):
        whole_field(found, "t", shape, Gaussian((3, 3, 3, 3)))


def test_curvilinear_and_transposed_coordinates(tmp_path):
    data = dataset().rename({"latitude": "y", "longitude": "x"}).drop_vars(["x", "y"])
    latitudes, longitudes = np.meshgrid(np.arange(4.0), np.arange(6.0), indexing="ij")
    turned = data.assign_coords(lat=(("x", "y"), latitudes.T), lon=(("x", "y"), longitudes.T))
    turned.to_netcdf(tmp_path / "curvilinear", engine="netcdf4")
    whole_field(read_input(tmp_path / "curvilinear"), "t", SHAPE, NORTHWARD)
    dataset().transpose("time", "level", "longitude", "latitude").to_netcdf(tmp_path / "turned", engine="netcdf4")
    with pytest.raises(InputError, match=r"point 1 .* at latitude 1, longitude 0, and .* at latitude 0, longitude 1"):
        whole_field(read_input(tmp_path / "turned"), "t", SHAPE, NORTHWARD)


def test_coordinates_of_another_size_are_an_error(tmp_path):
    dataset().to_zarr(tmp_path / "in", zarr_format=3, consolidated=False)
    group = zarr.open_group(tmp_path / "in", mode="a")
    group["latitude"].resize((5,))
    with pytest.raises(InputError, match=r"latitude latitude has \(5,\) values, and field t \(4,\) points"):
        read_input(tmp_path / "in")


def gaussian_grib(path, rows, edition, **keys):
    """A file of a Gaussian grid by ecCodes alone, from a longitude on."""
    full = len(set(rows)) == 1
    handle = eccodes.codes_grib_new_from_samples(f"{'regular' if full else 'reduced'}_gg_pl_grib{edition}")
    if full:
        eccodes.codes_set(handle, "Ni", rows[0])
        eccodes.codes_set(handle, "iDirectionIncrementInDegrees", 360 / rows[0])
    else:
        eccodes.codes_set_array(handle, "pl", rows)
    last = {"longitudeOfLastGridPointInDegrees": 360 - 360 / max(rows)}
    for key, value in {"Nj": len(rows), "N": len(rows) // 2, "shortName": "t", **last, **keys}.items():
        eccodes.codes_set(handle, key, value)
    eccodes.codes_set_values(handle, np.arange(float(sum(rows))))
    with path.open("wb") as stream:
        eccodes.codes_write(handle, stream)
    eccodes.codes_release(handle)


@pytest.mark.parametrize("edition", [1, 2])
@pytest.mark.parametrize("rows", [(8, 12, 12, 8), (8,) * 4])
def test_gaussian_grids_of_messages(tmp_path, rows, edition):
    shape = Shape(1, sum(rows), "f8", None)
    gaussian_grib(tmp_path / "in", rows, edition)
    found = read_input(tmp_path / "in")
    whole_field(found, "t", shape, Gaussian(rows))
    row, count = r"(row 0 of its Gaussian grid has 8 points.* grid 4|point 1 .*8 x 4 points)", "(it has 4 rows|8 x 4)"
    with pytest.raises(InputError, match=row):
        whole_field(found, "t", shape, Gaussian((4, sum(rows) // 2 - 4) * 2))
    with pytest.raises(InputError, match=count):
        whole_field(found, "t", shape, Gaussian((sum(rows) // 2,) * 2))


def test_a_full_gaussian_grid_from_another_longitude_is_an_error(tmp_path):
    rows = (8,) * 4
    ends = {"longitudeOfFirstGridPointInDegrees": 180, "longitudeOfLastGridPointInDegrees": 135}
    gaussian_grib(tmp_path / "in", rows, 2, **ends)
    with pytest.raises(InputError, match=r"point 0 .*, longitude 180, and .*, longitude 0: the file has"):
        whole_field(read_input(tmp_path / "in"), "t", Shape(1, 32, "f8", None), Gaussian(rows))


def test_messages_that_scan_otherwise_or_are_rotated_are_an_error(tmp_path):
    grib(tmp_path / "plain", "2")
    shape = Shape(1, 24, "f8", None)
    whole_field(read_input(tmp_path / "plain"), "t", SHAPE, SOUTHWARD)
    point = r"point \d+ of its grid is at latitude"
    for name, keys, words in (
        ("westward", {"iScansNegatively": 1}, point),
        ("columns", {"jPointsAreConsecutive": 1}, point),
        ("alternate", {"alternativeRowScanning": 1}, "a grid of type regular_ll, or a part of one, and the model's is"),
        ("rotated", {"gridType": "rotated_ll", "latitudeOfSouthernPoleInDegrees": -30}, point),
        ("turned", {"gridType": "rotated_ll", "angleOfRotationInDegrees": 20}, "a grid of type rotated_ll"),
    ):
        with (tmp_path / "plain").open("rb") as stream:
            handle = eccodes.codes_grib_new_from_file(stream)
        for key, value in keys.items():
            eccodes.codes_set(handle, key, value)
        if name == "westward":
            eccodes.codes_set(handle, "longitudeOfFirstGridPointInDegrees", 300)
            eccodes.codes_set(handle, "longitudeOfLastGridPointInDegrees", 0)
        with (tmp_path / name).open("wb") as stream:
            eccodes.codes_write(handle, stream)
        found = read_input(tmp_path / name)
        whole_field(found, "t", shape, Unstructured(24))
        with pytest.raises(InputError, match=words):
            whole_field(found, "t", shape, SOUTHWARD)


def test_fields_of_one_grid_are_compared_once(tmp_path, monkeypatch):
    known = NORTHWARD.coordinates()
    over = {name: (dims, values) for name, (dims, values, _) in known.items()}
    field = ("latitude", "longitude"), np.zeros((4, 6))
    xarray.Dataset({"t": field, "u": field}, over).to_netcdf(tmp_path / "in", engine="h5netcdf")
    compared = []

    def problem(there, geometry):
        compared.append(there)
        return grid_problem(there, geometry)

    monkeypatch.setattr("tradewind.fieldserver.files.reading.grid_problem", problem)
    found, shape = read_input(tmp_path / "in"), Shape(1, 24, "f8", None)
    for name in ("t", "u", "t"):
        whole_field(found, name, shape, NORTHWARD)
    with pytest.raises(InputError, match="field u: its rows run from south to north"):
        whole_field(found, "u", shape, SOUTHWARD)
    assert len(compared) == 2
    assert found.grids["t"][0] is found.grids["u"][0]


def test_spectral_coefficients_are_no_grid(tmp_path):
    handle = eccodes.codes_grib_new_from_samples("sh_ml_grib2")
    truncation = eccodes.codes_get(handle, "J")
    with (tmp_path / "in").open("wb") as stream:
        eccodes.codes_write(handle, stream)
    found = read_input(tmp_path / "in")
    (name,) = found.fields
    points = Spectral(truncation).points
    for geometry in (Spectral(truncation), Unstructured(points)):
        whole_field(found, name, Shape(1, points, "f8", None), geometry)
    with pytest.raises(InputError, match="coefficients of spherical harmonics, and the model's grid is regular"):
        whole_field(found, name, Shape(1, points, "f8", None), Regular(points, 1, dx=1e-3))
