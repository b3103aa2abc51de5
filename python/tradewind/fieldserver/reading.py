"""Input files: GRIB of both editions, NetCDF and Zarr, read into whole fields [level][point]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.base.errors import InputError
from tradewind.base.names import unknown
from tradewind.base.reading import check_source, is_folder
from tradewind.fieldserver.decoding import Variable

if TYPE_CHECKING:
    from tradewind.fieldserver.field import Array

_GRIB, _HDF5, _CDF = b"GRIB", b"\x89HDF\r\n\x1a\n", b"CDF"
_MISSING = float(np.finfo("f8").min)
"""The number that ecCodes returns for missing values, which a message marks in a bitmap."""


@dataclass(frozen=True)
class InputFile:
    """Fields of a file by name, each [level][point]. `southward`: whether rows run from north to south, where known."""

    path: str
    fields: Mapping[str, Array]
    southward: Mapping[str, bool | None] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        return sum(int(values.nbytes) for values in self.fields.values())

    def field(self, name: str) -> Array:
        """The values of a field. Raises InputError for a name that the file does not have."""
        if name not in self.fields:
            raise InputError(f"{self.path}: {unknown('field', name, self.fields)}")
        return self.fields[name]


def read_input(path: Path | str) -> InputFile:
    """Read all fields of a file, whose first bytes say what it is. Raises InputError where it is not what it says."""
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
    known = "NetCDF of version 3 (convert it to NetCDF-4)" if begin.startswith(_CDF) else repr(begin)
    raise InputError(f"{path}: it begins as {known}; GRIB, NetCDF-4 and folders of Zarr are allowed")


def _of_variables(path: Path, found: Sequence[Variable]) -> InputFile:
    by_name = {each.name: each for each in found}
    fields = [each for each in found if each.is_field]
    southward = {each.name: each.runs_southward(by_name) for each in fields}
    return InputFile(str(path), {each.name: each.decoded() for each in fields}, southward)


def _grib(path: Path) -> InputFile:
    """The messages of a file: those of one short name and grid are the levels of a field, in their order."""
    import eccodes

    levels: dict[str, list[Array]] = {}
    southward: dict[str, bool | None] = {}
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
                levels.setdefault(name, []).append(_grib_values(handle))
                if eccodes.codes_is_defined(handle, "jScansPositively"):
                    southward[name] = not eccodes.codes_get(handle, "jScansPositively")
            except eccodes.CodesInternalError as error:
                raise InputError(f"{path}: message {sum(map(len, levels.values())) + 1}: {error}") from None
            finally:
                eccodes.codes_release(handle)
    for name, found in levels.items():
        if len({each.size for each in found}) > 1:
            raise InputError(f"{path}: field {name}: its levels have {sorted({each.size for each in found})} points")
    return InputFile(str(path), {name: np.stack(found) for name, found in levels.items()}, southward)


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

    with h5netcdf.File(path, "r") as data:
        found = [
            Variable(path, name, tuple(each.dimensions), tuple(each.shape), np.dtype(each.dtype), each.attrs, each)
            for name, each in data.variables.items()
            if isinstance(each.dtype, np.dtype)
        ]
        return _of_variables(path, found)


def _zarr(path: Path) -> InputFile:
    import zarr

    group: Any = zarr.open_group(path, mode="r")
    found = []
    for name, array in group.arrays():
        said = dict(array.attrs)
        if array.metadata.zarr_format == 2:  # dimensions as xarray names them, missing values as Zarr does
            dims = tuple(said.get("_ARRAY_DIMENSIONS", ()))
            if array.fill_value is not None:
                said.setdefault("_FillValue", array.fill_value)
        else:
            dims = tuple(array.metadata.dimension_names or ())
        if len(dims) == array.ndim:
            found.append(Variable(path, name, dims, tuple(array.shape), np.dtype(array.dtype), said, array))
    return _of_variables(path, found)
