"""Forms of files: GRIB2, NetCDF-4 and Zarr 3, each in a module that imports its library only when it is used."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, cast

from tradewind.base.errors import InputError
from tradewind.fieldserver.plan.forms import form_named

if TYPE_CHECKING:
    from tradewind.fieldserver.files.sinks.form import Form


def form_of(format: str) -> type[Form]:
    """Return the class of a format, ready to write. Raises InputError for an unknown one, and without its package."""
    kind = form_named(format)
    if importlib.util.find_spec(kind.package) is None:
        raise InputError(f"format {format} needs the package {kind.package}: pip install 'tradewind[output]'")
    kind.load()
    return cast("type[Form]", kind)
