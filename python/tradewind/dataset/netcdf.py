"""Writes NetCDF-4 by h5py alone.

In HDF5 a dimension is a dataset that is a scale, and a variable is attached to the scales of its dimensions; a variable
with the name of its first dimension is that scale. Writers for all of NetCDF look up scales and attributes anew for
each variable, which takes seconds for the hundred variables of a study.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Variable = tuple[tuple[str, ...], "NDArray[Any]", Mapping[str, Any]]
"""Dimensions, values and attributes."""
SMALL_BYTES = 4096
"""A variable up to this size is kept as it is: the index of its chunks would take more than compression saves."""
_NOT_A_VARIABLE = "This is a netCDF dimension but not a netCDF variable."


def netcdf(variables: Mapping[str, Variable], coordinates: Iterable[str], attributes: Mapping[str, Any]) -> bytes:
    """Return the content of a NetCDF file, compressed. `coordinates`: variables that label the points of others.

    Texts are rows of characters, since HDF5 stores others one by one. A missing number is NaN.
    """
    import h5py

    labels = sorted(coordinates)
    stored = {
        name: _stored(dims, values, {**own, **_labelled(name, dims, labels, variables)})
        for name, (dims, values, own) in variables.items()
    }
    sizes = {dim: size for dims, values, _ in stored.values() for dim, size in zip(dims, values.shape, strict=True)}
    numbers = {dim: number for number, dim in enumerate(sizes)}
    with h5py.File("results.nc", "w", driver="core", backing_store=False, track_order=True) as file:
        scales: dict[str, Any] = {}
        for dim, size in sizes.items():
            if dim not in stored:
                scale = file.create_dataset(dim, (size,), ">f4", maxshape=_maximum((size,)), track_order=True)
                scale.make_scale(f"{_NOT_A_VARIABLE}{size:10}")
                scales[dim] = scale.id
                _describe(scale.id, {"_Netcdf4Dimid": np.array(numbers[dim], "i4")})
        for name in sorted(stored, key=lambda name: name not in sizes):  # scales before what is attached to them
            _write(file, name, stored[name], numbers, scales)
        versions = f"version=2,hdf5={h5py.version.hdf5_version},h5py={h5py.__version__}"
        _describe(file.id, {**attributes, "_NCProperties": np.array(versions.encode())})
        file.flush()
        return bytes(file.id.get_file_image())


def _labelled(
    name: str, dims: Sequence[str], labels: Sequence[str], variables: Mapping[str, Variable]
) -> dict[str, str]:
    """Return the attribute by which CF names the coordinates of a variable."""
    if name in labels or name in dims:
        return {}
    found = [label for label in labels if set(variables[label][0]) <= set(dims)]
    return {"coordinates": " ".join(found)} if found else {}


def _stored(dims: Sequence[str], values: NDArray[Any], attributes: dict[str, Any]) -> Variable:
    """Return a variable as the file holds it: texts as characters, which have a dimension of their own."""
    if values.dtype.kind not in "OU":
        missing = {"_FillValue": values.dtype.type(np.nan)} if values.dtype.kind == "f" else {}
        return tuple(dims), values, {**missing, **attributes}
    texts = [text.encode() for text in values.ravel()]
    width = max(1, max(map(len, texts), default=1))
    characters = np.array(texts, f"S{width}").view("S1").reshape(*values.shape, width)
    return (*dims, f"string{width}"), characters, {**attributes, "_Encoding": "utf-8"}


def _maximum(shape: Sequence[int]) -> tuple[int | None, ...]:
    """Return the maximum shape of a variable: NetCDF knows no dimension of size 0 but one that may grow."""
    return tuple(size or None for size in shape)


def _write(file: Any, name: str, variable: Variable, numbers: Mapping[str, int], scales: dict[str, Any]) -> None:
    """Writes a variable. `numbers`, `scales`: of dimensions; one that is a variable is added when it is written."""
    import h5py

    dims, values, attributes = variable
    packed = values.nbytes > SMALL_BYTES
    options = {"compression": "gzip", "compression_opts": 9, "shuffle": values.dtype.kind != "S"} if packed else {}
    maximum = _maximum(values.shape)
    if None in maximum:
        options["maxshape"] = maximum
    made = file.create_dataset(name, data=values, fillvalue=attributes.get("_FillValue"), track_order=True, **options)
    if name in numbers:
        made.make_scale(name)
        scales[name] = made.id
    else:
        for axis, dim in enumerate(dims):
            h5py.h5ds.attach_scale(made.id, scales[dim], axis)
    own = np.array([numbers[dim] for dim in dims], "i4")
    _describe(made.id, {"_Netcdf4Coordinates": own, "_Netcdf4Dimid": np.array(numbers[dims[0]], "i4"), **attributes})


def _describe(target: Any, attributes: Mapping[str, Any]) -> None:
    """Writes attributes: texts, arrays, and numbers as arrays of one, as the library of NetCDF does.

    By calls of HDF5 itself: a study has 700 attributes.
    """
    import h5py
    from h5py import h5a, h5s, h5t

    texts = h5py.string_dtype()
    text, scalar = h5t.py_create(texts, logical=True), h5s.create(h5s.SCALAR)
    for key, value in attributes.items():
        if isinstance(value, str):
            h5a.create(target, key.encode(), text, scalar).write(np.array(value, texts))
        else:
            array = value if isinstance(value, np.ndarray) else np.atleast_1d(value)
            kind = h5t.py_create(array.dtype, logical=True)
            h5a.create(target, key.encode(), kind, h5s.create_simple(array.shape)).write(array)
