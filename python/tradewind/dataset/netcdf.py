"""Writes NetCDF-4 in memory, by the library of NetCDF itself.

h5netcdf, by which xarray writes else, looks up scales and attributes anew for each variable: seconds for the hundred
variables of a study.
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


def netcdf(variables: Mapping[str, Variable], coordinates: Iterable[str], attributes: Mapping[str, Any]) -> bytes:
    """Return the content of a NetCDF file, compressed. `coordinates`: variables that label the points of others.

    Texts are rows of characters, since HDF5 stores others one by one. A missing number is NaN.
    """
    import netCDF4

    labels = sorted(coordinates)
    file = netCDF4.Dataset("results.nc", "w", memory=1 << 16)
    for name, (dims, values, own) in variables.items():
        described = {**own, **_labelled(name, dims, labels, variables)}
        if values.dtype.kind in "OU":
            dims, values = _characters(dims, values)
            described["_Encoding"] = "utf-8"
        for dim, size in zip(dims, values.shape, strict=True):
            if dim not in file.dimensions:
                file.createDimension(dim, size)  # of size 0: one that may grow, as there is no other
        packed = values.nbytes > SMALL_BYTES
        made = file.createVariable(
            name,
            values.dtype,
            dims,
            fill_value=np.nan if values.dtype.kind == "f" else None,
            compression="zlib" if packed else None,
            complevel=9,
            shuffle=packed and values.dtype.kind != "S",
            contiguous=not packed and values.size > 0,
        )
        made.set_auto_maskandscale(False)
        made.set_auto_chartostring(False)
        made[...] = values
        made.setncatts(described)
    file.setncatts(attributes)
    return bytes(file.close())


def _labelled(
    name: str, dims: Sequence[str], labels: Sequence[str], variables: Mapping[str, Variable]
) -> dict[str, str]:
    """Return the attribute by which CF names the coordinates of a variable."""
    if name in labels or name in dims:
        return {}
    found = [label for label in labels if set(variables[label][0]) <= set(dims)]
    return {"coordinates": " ".join(found)} if found else {}


def _characters(dims: Sequence[str], texts: NDArray[Any]) -> tuple[tuple[str, ...], NDArray[Any]]:
    """Return texts as characters, which have a dimension of their own."""
    encoded = [text.encode() for text in texts.ravel()]
    width = max(1, max(map(len, encoded), default=1))
    return (*dims, f"string{width}"), np.array(encoded, f"S{width}").view("S1").reshape(*texts.shape, width)
