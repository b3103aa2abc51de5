"""Forms of output files: a row for each, and what a plan has to know of it."""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, ClassVar

from tradewind.base.names import known_name

SMALLEST_RATIO = 0.5
"""Size of compressed values over that of others, at best, as long as it was not measured."""
FORMS = {
    "grib2": "tradewind.fieldserver.files.sinks.grib:Grib",
    "netcdf": "tradewind.fieldserver.files.sinks.netcdf:NetCDF",
    "zarr": "tradewind.fieldserver.files.sinks.zarr3:Zarr",
}
"""By format "module:Class", of a class that is a `FormRules`."""


class FormRules:
    """Rules of a form of files, which plans follow: known without the package that writes it."""

    title: ClassVar[str]
    """Its name in sentences."""
    package: ClassVar[str]
    """Package that writes it, which `load` imports."""
    keys: ClassVar[frozenset[str]] = frozenset()
    """Keys of a sink that not all forms have, and this one has."""
    instead: ClassVar[Mapping[str, str]] = {}
    """By a key that it does not have: what it has instead."""
    store_file: ClassVar[str] = ""
    """File of a store, which holds all steps and has one writer; "": a file is of one step."""
    grows_in_memory: ClassVar[bool] = False
    """Whether a part of the queue is for files that are not finished."""
    whole_seconds: ClassVar[bool] = False
    """Whether times are counted in whole seconds."""

    @classmethod
    def load(cls) -> None:
        """Import what writes it, so that the model does not wait for that later."""
        importlib.import_module(cls.package)

    @classmethod
    def versions(cls) -> dict[str, str]:
        """Return the versions of what writes it."""
        return {cls.package: importlib.metadata.version(cls.package)}

    @staticmethod
    def problems(sink: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield the keys of a sink whose values do not fit one another, each with its problem."""
        yield from ()

    @staticmethod
    def bits_per_value(sink: Any, bits: int | None, precision: str | None, dtype: str) -> float:
        """Estimate the bits in a file of a value of type `dtype`. `bits`, `precision`: those of its request."""
        width = 8 * int((precision or dtype)[1:])
        return width * SMALLEST_RATIO if sink.compression else width


@cache
def form_named(format: str) -> type[FormRules]:
    """Return the class of a format, without its packages. Raises InputError for an unknown one."""
    module, _, name = FORMS[known_name("format", format, FORMS)].partition(":")
    kind: type[FormRules] = getattr(importlib.import_module(module), name)
    return kind


def forms_with(key: str) -> str:
    """Return the names of the formats that have a key, in words."""
    return " and ".join(name for name in FORMS if key in form_named(name).keys)


def special_keys() -> list[str]:
    """Return the keys that not all forms have."""
    return sorted({key for name in FORMS for key in form_named(name).keys})
