"""Forms of files: GRIB2, NetCDF-4 and Zarr 3, each in a module that imports its library only when it is used."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import TYPE_CHECKING

from tradewind.base.errors import InputError
from tradewind.base.names import unknown

if TYPE_CHECKING:
    from tradewind.fieldserver.files.sinks.form import Form

FORMS = {
    "grib2": ("tradewind.fieldserver.files.sinks.grib:Grib", "eccodes"),
    "netcdf": ("tradewind.fieldserver.files.sinks.netcdf:NetCDF", "h5netcdf"),
    "zarr": ("tradewind.fieldserver.files.sinks.zarr3:Zarr", "zarr"),
}
"""By format "module:Class", and the package that it needs."""


def form_of(format: str) -> type[Form]:
    """The class of a format. Raises InputError for one that nobody knows, and where its package is missing."""
    if format not in FORMS:
        raise InputError(unknown("format", format, FORMS))
    home, package = FORMS[format]
    if importlib.util.find_spec(package) is None:
        raise InputError(f"format {format} needs the package {package}: pip install 'tradewind[output]'")
    module, _, name = home.partition(":")
    kind: Callable[..., Form] = getattr(importlib.import_module(module), name)
    return kind  # type: ignore[return-value]
