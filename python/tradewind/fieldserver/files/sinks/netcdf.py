"""NetCDF-4 by h5netcdf, after the CF conventions: a file per step, a variable per field.

A file grows in memory, as HDF5 cannot part cleanly from a disk that is full. A level is a chunk, which is packed here
and not by HDF5: that packs one at a time, and threads wait for it.
"""

from __future__ import annotations

import io
import zlib
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tradewind.base.deferred import Deferred
from tradewind.fieldserver.files.sinks import convention
from tradewind.fieldserver.files.sinks.form import Form, Moment, PartFile, Place, Written
from tradewind.fieldserver.plan.field import OutputField, Record

if TYPE_CHECKING:
    import h5netcdf
    import h5py

    from tradewind.fieldserver.plan.field import Array
    from tradewind.fieldserver.plan.plan_file import Request
else:
    h5netcdf, h5py = Deferred("h5netcdf"), Deferred("h5py")


class NetCDF(Form):
    """A file with one time."""

    title: ClassVar[str] = "NetCDF"
    package: ClassVar[str] = "h5netcdf"
    keys: ClassVar[frozenset[str]] = frozenset({"compression"})
    grows_in_memory: ClassVar[bool] = True

    def __init__(self, place: Place, path: str, when: Moment, compression: int) -> None:
        super().__init__(place, path, when, compression)
        self._memory, self._bytes = io.BytesIO(), 0
        self._names = convention.Names()
        self._chunks: dict[str, Any] = {}
        self._store: Any = h5py.File(self._memory, "w", track_order=True)
        self._data: Any = self._begin()

    @classmethod
    def versions(cls) -> dict[str, str]:
        """Return the versions of the libraries that write these files, by name."""
        return super().versions() | {"HDF5": h5py.version.hdf5_version}

    @staticmethod
    def check(field: OutputField, request: Request) -> None:
        """Raise InputError for a field that NetCDF cannot hold."""
        convention.check_name(field)

    @property
    def held(self) -> int:
        """Bytes in memory that the file keeps until it is finished."""
        return self._bytes

    def _begin(self) -> Any:
        data = h5netcdf.File(self._store, "w")
        data.attrs["Conventions"] = convention.CF
        data.dimensions["time"] = 1
        time = data.create_variable("time", ("time",), "f8", data=np.array([self.when.seconds]))
        time.attrs.update(convention.time_attributes(self.when))
        return data

    def pieces(self, record: Record) -> list[Record]:
        """Return a record per level: each is a chunk."""
        pairs = zip(record.places, record.values, strict=True)
        return [Record(record.field, record.step, (place,), values[None]) for place, values in pairs]

    def prepare(self, record: Record, request: Request) -> bytes | memoryview:
        """Return the bytes of a chunk, compressed where the plan has it so."""
        level = convention.in_file(record.field, record.values[0], request)
        return packed(level, self.compression) if self.compression else level.data

    def append(self, record: Record, request: Request, prepared: bytes | memoryview) -> None:
        """Add a chunk to the file in memory."""
        field = record.field
        self._bytes += memoryview(prepared).nbytes
        if field.name not in self._chunks:
            self._chunks[field.name] = self._defined(field, convention.dtype_of(field, request))
        chunk = (0, record.places[0], *(0 for _ in field.geometry.dims))
        self._chunks[field.name].write_direct_chunk(chunk, prepared)

    def _defined(self, field: OutputField, dtype: np.dtype[Any]) -> Any:
        """Make the variable of a field; returns what takes its chunks."""
        described = self._names.described(field)
        for name, size in described.dims.items():
            if name not in self._data.dimensions:
                self._data.dimensions[name] = size
        for name, (dims, values, attributes) in described.coordinates.items():
            if name not in self._data.variables:
                self._data.create_variable(name, dims, "f8", data=values).attrs.update(attributes)
        scales = [self._store[name] for name in ("time", *described.dims)]
        options = (
            {"compression": "gzip", "compression_opts": self.compression, "shuffle": True} if self.compression else {}
        )
        # By h5py, as h5netcdf does it, which looks all dimensions up anew: a fifth of the time to compress a field.
        made = self._store.create_dataset(
            field.name,
            [scale.shape[0] for scale in scales],
            dtype,
            chunks=(1, 1, *field.geometry.dims.values()),
            fillvalue=np.nan,
            track_order=True,
            **options,
        )
        for axis, scale in zip(made.dims, scales, strict=True):
            axis.attach_scale(scale)
        numbers = np.array([scale.attrs["_Netcdf4Dimid"] for scale in scales], "i4")
        made.attrs.update({"_Netcdf4Coordinates": numbers, "_Netcdf4Dimid": numbers[0]})
        made.attrs.update({"_FillValue": np.array([np.nan], dtype), **described.attributes})
        return made.id

    def finish(self) -> list[Written]:
        """Write and publish the file, and return its name, bytes and checksum."""
        self._close()
        part = PartFile(self.folder, self.path, durable=self.durable)
        part.write(self._memory.getbuffer())
        part.finish()
        return [Written(self.path, part.bytes, part.whole_sum())]

    def abort(self) -> None:
        """Drop the file."""
        self._close()

    def _close(self) -> None:
        self._data.close()
        self._store.close()


def packed(values: Array, level: int) -> bytes:
    """Return values as HDF5's filters shuffle and deflate make them: the first byte of all values, the second, ..."""
    apart = values.reshape(-1).view(np.uint8).reshape(-1, values.itemsize)
    return zlib.compress(np.ascontiguousarray(apart.T).data, level)
