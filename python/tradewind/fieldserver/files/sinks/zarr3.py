"""Zarr 3: a store of all steps. A variable has one shard per step, with all levels inside, each of which is a chunk.

A step appears when the consolidated metadata of the store are replaced, as one file: until then no reader sees it.
"""

from __future__ import annotations

import os
import warnings
from contextlib import suppress
from datetime import datetime
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tradewind.base.errors import InputError, WriteError
from tradewind.base.files import inside, make_folder, reason_of, remove_tree, sync_folder
from tradewind.fieldserver.files.sinks import convention
from tradewind.fieldserver.files.sinks.convention import SINCE
from tradewind.fieldserver.files.sinks.form import WHAT, Form, Moment, Place, Written, below, checksum

if TYPE_CHECKING:
    from tradewind.fieldserver.plan.field import Array, OutputField, Record
    from tradewind.fieldserver.plan.plan_file import Request

_TIMES_PER_CHUNK = 1024
_FILE = "zarr.json"
"""File of a store and of each of its variables."""


@cache
def _zarr() -> Any:
    """Return the package, which only ranks that write load: it takes as long as all else that a rank loads."""
    import zarr
    from zarr.errors import ZarrUserWarning

    # Zarr's own reader and xarray take consolidated metadata where they are; others read each variable's, which agree.
    warnings.filterwarnings("ignore", "Consolidated metadata is currently not part", ZarrUserWarning)
    return zarr


def _opened(root: Path) -> Any:
    """Return the group of a store, made where it is not there."""
    from zarr.errors import ContainsGroupError

    try:
        return _zarr().open_group(root, mode="a")
    except ContainsGroupError:  # a server from which this rank takes over has made it since it was looked for
        return _zarr().open_group(root, mode="r+")


class _Store:
    """A store and its variables, as long as this process writes to it."""

    def __init__(self, root: Path, durable: bool) -> None:
        self.root = root
        make_folder(root, WHAT, durable=durable)
        inside(root, _FILE, WHAT)
        self.group: Any = _opened(root)
        self.names = convention.Names()
        self.arrays: dict[str, Any] = {}
        found = self.group.metadata.consolidated_metadata
        known: Any = {} if found is None else found.metadata
        self.whole = set(known)
        """Variables that readers know, and coordinates that this process has written. Of others a killed run may have
        left the metadata without the values."""
        self.new: list[str] = []
        """Coordinates that were written since a time appeared."""
        self.times: list[float] = []
        self.start: datetime | None = None
        """The origin of its times: the start of the run that has made it."""
        if "time" in known:
            time: Any = self.group["time"]
            self.times = [float(t) for t in np.asarray(time[: known["time"].shape[0]])]
            self.start = _start_of(root, time.attrs.get("units"))

    def seconds_of(self, when: Moment) -> float:
        """A time as it is counted here."""
        return when.seconds + (0.0 if self.start is None else (when.start - self.start).total_seconds())

    def index_of(self, when: Moment) -> int:
        """The place of a time: that which it has, or the next."""
        seconds = self.seconds_of(when)
        return self.times.index(seconds) if seconds in self.times else len(self.times)

    def array(self, field: OutputField, dtype: np.dtype[Any], compression: int) -> Any:
        """The variable of a field, made where it is not there yet."""
        if field.name in self.arrays:
            return self.arrays[field.name]
        described = self.names.described(field)
        sizes = tuple(described.dims.values())
        for name in (*described.coordinates, field.name, "time"):
            inside(self.root, f"{name}/c", WHAT)
        for name, (dims, values, attributes) in described.coordinates.items():
            if name in self.whole:
                self._check_coordinate(field, name, values)
            else:
                like = {"shape": values.shape, "dtype": "f8", "dimension_names": dims, "attributes": attributes}
                left = self.group.get(name)
                if left is None or left.shape != values.shape:
                    left = self.group.create_array(name, **like, overwrite=left is not None)
                left[...] = values
                self.whole.add(name)
                self.new.append(name)
        if field.name in self.group:
            array = self.group[field.name]
            if tuple(array.shape[1:]) != sizes or array.dtype != dtype:
                raise InputError(
                    f"store {self.root}: its variable {field.name} has {array.shape[1:]} points of {array.dtype}, "
                    f"and the field {sizes} of {dtype}: another path is needed"
                )
        else:
            array = self.group.create_array(
                field.name,
                shape=(0, *sizes),
                shards=(1, *sizes),
                chunks=(1, 1, *sizes[1:]),
                dtype=dtype,
                compressors=_zarr().codecs.ZstdCodec(level=compression) if compression else None,
                fill_value=np.nan,
                dimension_names=("time", *described.dims),
                attributes=described.attributes,
            )
        self.arrays[field.name] = array
        return array

    def _check_coordinate(self, field: OutputField, name: str, values: Array) -> None:
        """Raises InputError where an earlier run has left other coordinates."""
        found = np.asarray(self.group[name][...])
        if found.shape != values.shape or not np.array_equal(found, values):
            raise InputError(
                f"store {self.root}: its {name} is another one than that of field {field.name}: another path is needed"
            )

    def shard(self, name: str, index: int) -> Path:
        """The file of a variable at a place of time. Raises InputError where a link leads out of the store."""
        zeros = ["0"] * (self.arrays[name].ndim - 1)
        return inside(self.root, os.path.join(name, "c", str(index), *zeros), WHAT)

    def publish(self, index: int, when: Moment) -> None:
        """Let a time appear, with all that was written at its place."""
        if "time" not in self.group:
            self.group.create_array(
                "time",
                shape=(0,),
                chunks=(_TIMES_PER_CHUNK,),
                dtype="f8",
                dimension_names=("time",),
                attributes=convention.time_attributes(when),
            )
        if self.start is None:
            self.start = when.start
        seconds = self.seconds_of(when)
        times = [*self.times[:index], seconds, *self.times[index + 1 :]]
        time = self.group["time"]
        time.resize((len(times),))
        time[index] = seconds
        for array in self.group.array_values():
            if (array.metadata.dimension_names or ())[:1] == ("time",) and array.shape[0] != len(times):
                array.resize((len(times), *array.shape[1:]))
        self.group.attrs.update({"Conventions": convention.CF})
        self.group = _zarr().consolidate_metadata(self.group.store)
        self.times = times
        self.arrays = {name: self.group[name] for name in self.arrays}

    def force(self, index: int, fields: list[str]) -> None:
        """Force to the disk what was written for a place of time, with the names of files and folders."""
        files = [self.root / name / _FILE for name in ("", *fields)]
        files += [path for path in (self.shard(name, index) for name in fields) if path.exists()]
        files += [path for name in ("time", *self.new) for path in (self.root / name).rglob("*") if path.is_file()]
        for path in files:
            with open(path, "rb") as stream:
                os.fsync(stream.fileno())
        for folder in {each for path in files for each in path.parents if each.is_relative_to(self.root)}:
            sync_folder(folder)


class Zarr(Form):
    """The part of a store that one step is."""

    title: ClassVar[str] = "Zarr"
    package: ClassVar[str] = "zarr"
    keys: ClassVar[frozenset[str]] = frozenset({"compression"})
    store_file: ClassVar[str] = _FILE

    @classmethod
    def load(cls) -> None:
        """Import nothing: only ranks that write load the package, when they begin a store."""

    def __init__(self, place: Place, path: str, when: Moment, compression: int) -> None:
        super().__init__(place, path, when, compression)
        root = Path(os.path.abspath(below(place.folder, path)))
        if root not in place.kept:
            place.kept[root] = _guarded(root, _Store, root, place.durable)
        self._store: _Store = place.kept[root]
        self._index = self._store.index_of(when)
        self._waiting: dict[str, tuple[Array, set[int]]] = {}
        self._shards: list[str] = []

    @staticmethod
    def check(field: OutputField, request: Request) -> None:
        """Raise InputError for a field that Zarr cannot hold."""
        convention.check_name(field)

    @property
    def held(self) -> int:
        """Bytes in memory that wait for the other levels of their shard."""
        return sum(int(values.nbytes) for values, _ in self._waiting.values())

    def prepare(self, record: Record, request: Request) -> Array:
        """Return the values of a record in the type of the store."""
        return convention.in_file(record.field, record.values, request)

    def append(self, record: Record, request: Request, prepared: Array) -> None:
        """Write levels to the store, as soon as all of a field are there."""
        field, levels = record.field, len(record.field.levels)
        if len(record.places) == levels:
            order = np.argsort(record.places)
            ordered = prepared if (order == np.arange(levels)).all() else prepared[order]
            _guarded(self._store.root, self._write, field, ordered)
            return
        if field.name not in self._waiting:
            self._waiting[field.name] = np.empty((levels, *prepared.shape[1:]), prepared.dtype), set()
        whole, there = self._waiting[field.name]
        whole[list(record.places)] = prepared
        there |= set(record.places)
        if len(there) == levels:
            del self._waiting[field.name]
            _guarded(self._store.root, self._write, field, whole)

    def _write(self, field: OutputField, values: Array) -> None:
        array = self._store.array(field, values.dtype, self.compression)
        if array.shape[0] <= self._index:
            array.resize((self._index + 1, *array.shape[1:]))
        self._store.shard(field.name, self._index)
        array[self._index] = values.reshape(array.shape[1:])
        self._shards.append(field.name)

    def finish(self) -> list[Written]:
        """Publish the time, and return files, bytes and checksums. Raises InputError for missing levels."""
        if self._waiting:
            missing = {name: len(values) - len(there) for name, (values, there) in self._waiting.items()}
            self.abort()
            levels = ", ".join(f"{name} {count}" for name, count in missing.items())
            raise InputError(f"store {self._store.root}: levels that were not written: {levels}; a shard has them all")
        return list(_guarded(self._store.root, self._publish))

    def _publish(self) -> list[Written]:
        self._store.publish(self._index, self.when)
        written = []
        for name in self._shards:
            shard = self._store.shard(name, self._index)
            if shard.exists():  # else all values are those of an empty one
                with open(shard, "rb") as stream:
                    size, found = checksum(stream)
                path = PurePosixPath(self.path, shard.relative_to(self._store.root).as_posix())
                written.append(Written(str(path), size, found))
        if self.durable:
            self._store.force(self._index, self._shards)
        self._store.new.clear()
        return written

    def leave(self) -> None:
        """Touch nothing: the other one writes the same."""

    def abort(self) -> None:
        """Remove what was written of this time."""
        if self._index < len(self._store.times):
            return  # a time that is there already: what was replaced stays
        for name in self._shards:
            with suppress(InputError):
                remove_tree(inside(self._store.root, f"{name}/c/{self._index}", WHAT, follow=False), WHAT)


def _start_of(root: Path, units: Any) -> datetime:
    """Return the origin of the times of a store. Raises InputError where it is not of ours."""
    try:
        return datetime.fromisoformat(str(units).removeprefix(SINCE))
    except ValueError:
        raise InputError(
            f"store {root}: its times are in {units!r}, and not in {SINCE!r}: another path is needed"
        ) from None


def _guarded(root: Path, work: Any, *arguments: Any) -> Any:
    """Call what writes to a store; errors of the system name the store."""
    try:
        return work(*arguments)
    except OSError as error:
        raise WriteError(f"cannot write store {root}: {reason_of(error)}") from None
