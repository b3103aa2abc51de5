"""NetCDF-4 by h5netcdf, after the CF conventions: a file per step, a variable per field.

A file grows in memory, as HDF5 cannot part cleanly from a disk that is full.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import h5netcdf
import numpy as np

from tradewind.fieldserver.field import OutputField
from tradewind.fieldserver.sinks import convention
from tradewind.fieldserver.sinks.form import Form, Moment, PartFile, Place, Written

if TYPE_CHECKING:
    from tradewind.fieldserver.field import Array, Record
    from tradewind.fieldserver.plan_file import Request


class NetCDF(Form):
    """A file with one time."""

    def __init__(self, place: Place, path: str, when: Moment, compression: int) -> None:
        super().__init__(place, path, when, compression)
        self._memory, self._bytes = io.BytesIO(), 0
        self._names = convention.Names()
        self._data: Any = self._begin()

    @property
    def held(self) -> int:
        return self._bytes

    def _begin(self) -> Any:
        data = h5netcdf.File(self._memory, "w")
        data.attrs["Conventions"] = convention.CF
        data.dimensions["time"] = 1
        time = data.create_variable("time", ("time",), "f8", data=np.array([self.when.seconds]))
        time.attrs.update(convention.time_attributes(self.when))
        return data

    def prepare(self, record: Record, request: Request) -> Array:
        return np.asarray(record.values, request.precision or record.field.dtype)

    def append(self, record: Record, request: Request, prepared: Array) -> None:
        field = record.field
        self._bytes += prepared.nbytes
        if field.name not in self._data.variables:
            self._define(field, prepared.dtype)
        sizes = tuple(field.geometry.dims.values())
        self._data[field.name][0, list(record.places)] = prepared.reshape(-1, *sizes)

    def _define(self, field: OutputField, dtype: np.dtype[Any]) -> None:
        described = self._names.described(field)
        for name, size in described.dims.items():
            if name not in self._data.dimensions:
                self._data.dimensions[name] = size
        for name, (dims, values, attributes) in described.coordinates.items():
            if name not in self._data.variables:
                self._data.create_variable(name, dims, "f8", data=values).attrs.update(attributes)
        chunks = (1, 1, *field.geometry.dims.values())
        packed = {"compression": "gzip", "compression_opts": self.compression, "shuffle": True}
        options = packed if self.compression else {}
        variable = self._data.create_variable(
            field.name, ("time", *described.dims), dtype, chunks=chunks, fillvalue=np.nan, **options
        )
        variable.attrs.update(described.attributes)

    def finish(self) -> list[Written]:
        self._data.close()
        part = PartFile(self.folder / self.path, durable=self.durable)
        part.write(self._memory.getbuffer())
        part.finish()
        return [Written(self.path, part.bytes, part.whole_sum())]

    def abort(self) -> None:
        self._data.close()
