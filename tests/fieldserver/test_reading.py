"""Input files of all forms, good and damaged, and files that are read ahead."""

from __future__ import annotations

import threading
import time

import eccodes
import numpy as np
import pytest
import xarray
import zarr

from tradewind.base.errors import InputError
from tradewind.fieldserver.ahead import ReadAhead
from tradewind.fieldserver.delivery import whole_field
from tradewind.fieldserver.geometry import Gaussian, Regular, Spectral, Unstructured
from tradewind.fieldserver.handover import Shape
from tradewind.fieldserver.reading import InputFile, read_input

VALUES = np.arange(2 * 6 * 4, dtype=float).reshape(2, 24) + 250


def grib(path, edition, values=VALUES):
    """A file by ecCodes alone."""
    with path.open("wb") as stream:
        for level, each in enumerate(values):
            handle = eccodes.codes_grib_new_from_samples(f"GRIB{edition}")
            sizes = {"Ni": 6, "Nj": 4, "iDirectionIncrementInDegrees": 60, "jDirectionIncrementInDegrees": 60}
            for key, value in {**sizes, "shortName": "t", "bitsPerValue": 24}.items():
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
    [(b"", "it begins as b''"), (b"CDF\x01 and more", "NetCDF of version 3"), (b"no such thing", "GRIB, NetCDF-4")],
)
def test_what_is_no_input_file(tmp_path, content, words):
    (tmp_path / "input").write_bytes(content)
    with pytest.raises(InputError, match=words):
        read_input(tmp_path / "input")
    with pytest.raises(InputError, match="No such file"):
        read_input(tmp_path / "missing")


def test_a_variable_that_claims_too_much_is_refused(tmp_path):
    group = zarr.open_group(tmp_path / "huge", mode="w")
    names = ("time", "level", "point")
    group.create_array("t", shape=(1, 2**20, 2**20), chunks=(1, 1, 1024), dtype="f8", dimension_names=names)
    with pytest.raises(InputError, match="1099511627776 values"):
        read_input(tmp_path / "huge")


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


def test_rows_that_run_the_other_way_than_those_of_the_model_are_an_error(file):
    """GRIB of the test begins in the north, as most does; the others in the south."""
    found = read_input(file)
    southward = file.read_bytes()[:4] == b"GRIB" if file.is_file() else False
    shape = Shape(2, 24, "f8", None, -1)
    for same in (southward, None):
        assert (whole_field(found, "t", shape, same) == VALUES).all()
    with pytest.raises(InputError, match=r"the rows of field t run from (north|south) to (north|south), and those of"):
        whole_field(found, "t", shape, not southward)
    assert (Regular(6, 4).southward, Regular(6, 4, latitude=9.0, dy=-3.0).southward) == (False, True)
    assert (Gaussian((4, 4)).southward, Spectral(5).southward, Unstructured(3).southward) == (True, None, None)
