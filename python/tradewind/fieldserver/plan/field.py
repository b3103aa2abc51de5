"""Fields as a model writes them: what they are, apart from their values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.base.elements import DTYPES
from tradewind.base.errors import InputError, quoted
from tradewind.base.names import unknown
from tradewind.fieldserver.plan.file_names import name_problems
from tradewind.fieldserver.plan.geometry import Geometry, from_dict
from tradewind.fieldserver.plan.plan_file import LEVEL_TYPES, FieldTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


_LONGEST_SHORT_NAME = 40
_OCTET = 255


@dataclass(frozen=True)
class OutputField:
    """A field: its name, horizontal grid, levels (numbers, in the order of the array) and element type.

    `grib`: a short name of ecCodes, or (discipline, category, number); `level_type`: model, pressure (hPa), surface or
    height (m). `units`: as UDUNITS has them; empty where nothing is known of them. Raises InputError.
    """

    name: str
    geometry: Geometry
    levels: tuple[float, ...] = (0.0,)
    dtype: str = "f8"
    level_type: str = "model"
    units: str = ""
    long_name: str = ""
    standard_name: str = ""
    grib: str | tuple[int, int, int] | None = None

    def __post_init__(self) -> None:
        problems = name_problems(self.name)
        if self.dtype not in ("f4", "f8"):
            problems.append(unknown("element type", self.dtype, ("f4", "f8")))
        if not isinstance(self.level_type, str) or self.level_type not in LEVEL_TYPES:
            problems.append(unknown("level type", self.level_type, LEVEL_TYPES))
        if not self.levels or len(set(self.levels)) < len(self.levels) or not np.isfinite(self.levels).all():
            problems.append(f"levels of {self.name}: 1 or more finite numbers, each once, are allowed")
        for what in ("units", "long_name", "standard_name"):
            text = getattr(self, what)
            if not isinstance(text, str) or not text.isprintable():
                problems.append(f"{what} of {self.name}: {quoted(text)}: a text of one line, in UTF-8, is allowed")
        grib: Any = self.grib
        if isinstance(grib, list):
            object.__setattr__(self, "grib", tuple(grib))
        if not _is_grib_name(self.grib):
            begin = f"grib of {self.name}: {quoted(self.grib)}"
            problems.append(f"{begin}: a short name of ecCodes, or [discipline, category, number], is allowed")
        if problems:
            raise InputError(*problems)

    @property
    def level_bytes(self) -> int:
        """Bytes of a level."""
        return self.geometry.points * DTYPES[self.dtype]

    @property
    def bytes(self) -> int:
        """Bytes of all levels."""
        return self.level_bytes * len(self.levels)

    def described(self, table: FieldTable | None) -> OutputField:
        """The same with what a plan has of it."""
        return self if table is None else replace(self, **table.model_dump(exclude_none=True))

    def as_dict(self) -> dict[str, Any]:
        """Plain values, which can go to other processes as JSON; of the geometry its digest."""
        return {**self.__dict__, "geometry": self.geometry.digest}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], geometries: Mapping[str, Geometry]) -> OutputField:
        """The field of `as_dict`, also after a way through JSON. Its geometry is one of these, or described there."""
        own: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}
        geometry = values["geometry"]
        return cls(**own | {"geometry": geometries[geometry] if isinstance(geometry, str) else from_dict(geometry)})


@dataclass(frozen=True)
class Record:
    """Values of a field at a step: some of its levels, by their places, whole. `values`: [level][point]."""

    field: OutputField
    step: int
    places: tuple[int, ...]
    values: Array

    @property
    def bytes(self) -> int:
        """Bytes of its values."""
        return int(self.values.nbytes)

    def alone(self) -> Record:
        """The same values of one level as those of a field that has no others."""
        (place,) = self.places
        return replace(self, field=replace(self.field, levels=(self.field.levels[place],)), places=(0,))


def _is_grib_name(grib: Any) -> bool:
    if grib is None or isinstance(grib, str):
        return grib is None or (0 < len(grib) <= _LONGEST_SHORT_NAME and grib.isprintable())
    return isinstance(grib, tuple) and len(grib) == 3 and all(type(n) is int and 0 <= n <= _OCTET for n in grib)


def not_finite(values: Array) -> int:
    """Number of values that are NaN or infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):  # one pass without memory, as of most fields
            return 0
    return int(values.size - np.count_nonzero(np.isfinite(values)))
