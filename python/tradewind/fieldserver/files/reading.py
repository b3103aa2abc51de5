"""Input files: GRIB of both editions, NetCDF and Zarr, read into whole fields [level][point]."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.base.errors import InputError
from tradewind.base.names import unknown
from tradewind.base.reading import check_source, is_folder
from tradewind.fieldserver.files.decoding import Variable, check_values
from tradewind.fieldserver.files.input_grid import Stated, grid_of_message, grid_problem, grids_of_variables
from tradewind.fieldserver.files.units import conversion, of_eccodes
from tradewind.fieldserver.plan.geometry import Spectral

if TYPE_CHECKING:
    from tradewind.fieldserver.plan.field import Array
    from tradewind.fieldserver.plan.geometry import Geometry

_GRIB, _HDF5, _CDF = b"GRIB", b"\x89HDF\r\n\x1a\n", b"CDF"
_NETCDF_FILL = (float(np.float32(9.9692099683868690e36)), 9.9692099683868690e36)
_OF_NUMBERS = "1"
"""Units that many files have of fields without any, those of earlier versions among them."""
_MISSING = float(np.finfo("f8").min)
"""The number that ecCodes returns for missing values, which a message marks in a bitmap."""


@dataclass(frozen=True)
class InputFile:
    """Fields of a file by name, each [level][point]. `grids`, `units`: theirs, where the file has them.

    `unwritten`: levels of fields that were not written, by their places.
    """

    path: str
    fields: Mapping[str, Array]
    grids: Mapping[str, Sequence[Stated]] = field(default_factory=dict)
    unwritten: Mapping[str, Sequence[int]] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    _compared: dict[tuple[int, str], str] = field(default_factory=dict, init=False, compare=False)

    @property
    def bytes(self) -> int:
        """Bytes of all fields."""
        return sum(int(values.nbytes) for values in self.fields.values())

    def field(self, name: str) -> Array:
        """The values of a field. Raises InputError for one that the file does not have, or not all levels of it."""
        if not self.fields:
            raise InputError(
                f"{self.path}: it has no field: numbers along 2 dimensions or more with names are one, out of groups"
            )
        if name not in self.fields:
            raise InputError(f"{self.path}: {unknown('field', name, self.fields)}")
        if levels := self.unwritten.get(name):
            missing, last = ", ".join(map(str, levels)), len(self.fields[name]) - 1
            raise InputError(f"{self.path}: field {name}: of its levels 0..{last} these were never written: {missing}")
        return self.fields[name]

    def in_units(self, name: str, units: str, geometry: Geometry) -> Array:
        """Return the values of a field in units. Raises InputError where those of the file do not convert to them.

        Where either is empty, or UDUNITS does not know it, they are as in the file; also where they are 1, which does
        not convert to these units.
        """
        values, own = self.field(name), self.units.get(name, "")
        found = conversion(own, units) if own and units else (1.0, 0.0)
        if found is None and own == _OF_NUMBERS:
            found = 1.0, 0.0
        if found is None or (found[1] and isinstance(geometry, Spectral)):
            raise InputError(f"{self.path}: field {name}: it has units {own!r}, and the model's field {units!r}")
        return values if found == (1.0, 0.0) else values * found[0] + found[1]

    def grid_problem(self, name: str, geometry: Geometry) -> str:
        """Return what of the grid of a field differs from that of a model, in words; empty where nothing known does.

        Fields of one grid are compared once: six million points take 0.4 s, and the model waits.
        """
        for grid in self.grids.get(name, ()):
            key = id(grid), geometry.digest
            if key not in self._compared:
                self._compared[key] = grid_problem(grid, geometry)
            if self._compared[key]:
                return self._compared[key]
        return ""


def read_input(path: Path | str) -> InputFile:
    """Read all fields of a file, whose first bytes identify its form. Raises InputError where it has another one."""
    path = Path(path)
    try:
        if is_folder(path):
            return _zarr(path)
        check_source(path, "input file")
        with path.open("rb") as stream:
            begin = stream.read(8)
        if begin.startswith(_GRIB):
            return _grib(path)
        if begin == _HDF5:
            return _netcdf(path)
    except InputError:
        raise
    except Exception as error:  # libraries raise what they like where a file is damaged
        raise InputError(f"{path}: it cannot be read: {type(error).__name__}: {error}") from None
    if not begin:
        raise InputError(f"{path}: it is empty; GRIB, NetCDF-4 and folders of Zarr are allowed")
    known = "NetCDF of version 3 (convert it to NetCDF-4)" if begin.startswith(_CDF) else repr(begin)
    raise InputError(f"{path}: it begins as {known}; GRIB, NetCDF-4 and folders of Zarr are allowed")


def _of_variables(path: Path, found: Sequence[Variable]) -> InputFile:
    fields = [each for each in found if each.is_field]
    grids = {name: [grid] for name, grid in grids_of_variables(fields, found).items()}
    values = {each.name: each.decoded() for each in fields}
    unwritten = {each.name: each.levels_without_values(values[each.name]) for each in fields}
    units = {each.name: str(each.attributes.get("units", "")) for each in fields}
    return InputFile(str(path), values, grids, unwritten, units)


def _grib(path: Path) -> InputFile:
    """The messages of a file: those of one short name and grid are the levels of a field, in their order."""
    import eccodes

    levels: dict[str, list[Array]] = {}
    known: dict[str, Stated | None] = {}
    units: dict[str, str] = {}
    grids: dict[str, dict[str, Stated]] = {}
    """By field, then by a checksum of what messages have of their grid."""
    with path.open("rb") as stream:
        while True:
            try:
                handle = eccodes.codes_grib_new_from_file(stream)
            except eccodes.CodesInternalError as error:
                raise InputError(f"{path}: message {sum(map(len, levels.values())) + 1}: {error}") from None
            if handle is None:
                break
            try:
                name = eccodes.codes_get(handle, "shortName")
                if name == "unknown":
                    name = f"param{eccodes.codes_get(handle, 'paramId')}"
                _check_count(path, name, handle)
                values = _grib_values(handle)
                if name not in levels:
                    units[name] = of_eccodes(eccodes.codes_get(handle, "units"))
                levels.setdefault(name, []).append(values)
                section = eccodes.codes_get(handle, "md5GridSection")
                if section not in known:
                    known[section] = grid_of_message(handle, values.size)
                if (grid := known[section]) is not None:
                    grids.setdefault(name, {})[section] = grid
            except eccodes.CodesInternalError as error:
                raise InputError(f"{path}: message {sum(map(len, levels.values())) + 1}: {error}") from None
            finally:
                eccodes.codes_release(handle)
    for name, found in levels.items():
        if len({each.size for each in found}) > 1:
            raise InputError(f"{path}: field {name}: its levels have {sorted({each.size for each in found})} points")
    stated = {name: list(found.values()) for name, found in grids.items()}
    return InputFile(str(path), {name: np.stack(found) for name, found in levels.items()}, stated, units=units)


def _check_count(path: Path, name: str, handle: int) -> None:
    """Raises InputError where a message claims more values than points, or too many."""
    import eccodes

    values, key = eccodes.codes_get_size(handle, "values"), "numberOfDataPoints"
    points = eccodes.codes_get(handle, key) if eccodes.codes_is_defined(handle, key) else values
    if values != points and eccodes.codes_get(handle, "gridType") != "sh":
        raise InputError(f"{path}: field {name}: a message has {points} points and {values} values")
    check_values(f"{path}: field {name}", values)


def _grib_values(handle: int) -> Array:
    """The values of a message, missing ones as NaN."""
    import eccodes

    if not (eccodes.codes_is_defined(handle, "bitmapPresent") and eccodes.codes_get(handle, "bitmapPresent")):
        return np.asarray(eccodes.codes_get_values(handle))
    eccodes.codes_set(handle, "missingValue", _MISSING)
    values = np.asarray(eccodes.codes_get_values(handle))
    values[values == _MISSING] = np.nan
    return values


def _netcdf(path: Path) -> InputFile:
    import h5netcdf
    import h5py

    with h5py.File(path, "r") as store, h5netcdf.File(store, "r") as data:
        found = []
        for name, each in data.variables.items():
            if not isinstance(each.dtype, np.dtype):
                continue
            attributes = {key: _text(value) for key, value in each.attrs.items()}
            own = store[name]
            if "DIMENSION_LIST" not in own.attrs and "CLASS" not in own.attrs and own.ndim:
                raise InputError(f"{path}: {name} has no dimensions with names: this is HDF5, and not NetCDF-4")
            if own.fillvalue in _NETCDF_FILL:  # what the library of NetCDF puts where nothing is written
                attributes.setdefault("_FillValue", own.fillvalue)
            is_there = None if own.chunks is None else partial(_has_chunks, own)
            dims, shape = tuple(each.dimensions), tuple(each.shape)
            found.append(Variable(path, name, dims, shape, np.dtype(each.dtype), attributes, each, is_there))
        return _of_variables(path, found)


def _text(value: Any) -> Any:
    """An attribute, whose text of one letter h5netcdf returns as bytes."""
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _has_chunks(dataset: Any, part: tuple[slice, ...]) -> bool:
    """Whether all chunks that a part of a data set lies in were written."""
    sizes = dataset.chunks
    count = np.prod([-(-n // size) for n, size in zip(dataset.shape, sizes, strict=True)])
    if dataset.id.get_num_chunks() == count:
        return True
    firsts = [range(each.start // size * size, each.stop, size) for each, size in zip(part, sizes, strict=True)]
    return all(dataset.id.get_chunk_info_by_coord(at).byte_offset is not None for at in itertools.product(*firsts))


def _zarr(path: Path) -> InputFile:
    import zarr
    from zarr.errors import ContainsArrayError, GroupNotFoundError

    try:
        group: Any = zarr.open_group(path, mode="r")
    except (GroupNotFoundError, ContainsArrayError):
        problem = f"{path}: this folder is no group of Zarr; GRIB, NetCDF-4 and groups of Zarr are allowed"
        raise InputError(problem) from None
    found = []
    for name, array in group.arrays():
        attributes = dict(array.attrs)
        if array.metadata.zarr_format == 2:  # dimensions as xarray names them, missing values as Zarr does
            dims = tuple(attributes.get("_ARRAY_DIMENSIONS", ()))
            if array.fill_value is not None:
                attributes.setdefault("_FillValue", array.fill_value)
        else:
            dims = tuple(array.metadata.dimension_names or ())
        if len(dims) == array.ndim:
            found.append(Variable(path, name, dims, tuple(array.shape), np.dtype(array.dtype), attributes, array))
    return _of_variables(path, found)
