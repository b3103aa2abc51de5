"""The writer: takes whole fields, encodes them and writes them to files, on a thread of its own or at once.

What waits for it is bounded in bytes. Where there is no room, who hands over waits, or the fields are spilled to a
local disk, or their file is given up and counted, as the plan says.
"""

from __future__ import annotations

import tempfile
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.base.errors import TradewindError
from tradewind.fieldserver.field import Record
from tradewind.fieldserver.manifest import Manifest
from tradewind.fieldserver.plan_file import OutputPlan, Request
from tradewind.fieldserver.sinks import form_of
from tradewind.fieldserver.sinks.form import Form, Moment, Place, Written

if TYPE_CHECKING:
    pass

Key = tuple[int, str]
"""A file: step and path."""


@dataclass
class Job:
    """A record and the files that it goes to."""

    record: Record | None
    requests: list[Request]
    bytes: int
    spilled: tuple[Any, Record] | None = None
    """An open file with the values, and the record without them."""

    def loaded(self) -> Record:
        """The record with its values, from the disk where it was spilled."""
        if self.spilled is None:
            assert self.record is not None
            return self.record
        stream, bare = self.spilled
        stream.seek(0)
        values = np.frombuffer(stream.read(), bare.values.dtype).reshape(bare.values.shape)
        stream.close()
        return Record(bare.field, bare.step, bare.places, values)


@dataclass
class WriterFigures:
    """Figures of a writer: seconds, bytes and counts."""

    busy_s: float = 0.0
    encode_s: float = 0.0
    write_s: float = 0.0
    read_s: float = 0.0
    peak_queue_bytes: int = 0
    spilled_bytes: int = 0
    dropped_fields: int = 0
    sinks: dict[str, dict[str, float]] = field(default_factory=dict)
    depth: list[tuple[float, int]] = field(default_factory=list)
    """Time and bytes that wait."""
    events: list[tuple[str, float, float]] = field(default_factory=list)

    def sink(self, name: str) -> dict[str, float]:
        return self.sinks.setdefault(name, {"bytes": 0, "files": 0, "seconds": 0.0})


class Writer:
    """Writes the `share` of the steps of a plan that it is given; there are so many `shares`.

    `asynchronous`: on a thread of its own; else `submit` and `end_step` write before they return.
    """

    def __init__(self, plan: OutputPlan, *, share: int = 0, shares: int = 1, asynchronous: bool = True) -> None:
        table = plan.table
        self.plan, self.share = plan, share
        self.figures = WriterFigures()
        self.errors: list[str] = []
        self._place = Place(plan.folder, table.durable)
        self._manifest = Manifest(plan.folder, shares=shares, durable=table.durable)
        self._files: dict[Key, Form] = {}
        self._fields_of: defaultdict[Key, int] = defaultdict(int)
        self._failed: set[Key] = set()
        self._dropped: set[Key] = set()
        self._queue: deque[Job | Callable[[], None]] = deque()
        self._bytes = 0
        self._held = 0  # by files that wait for the other levels of a field
        self._changed = threading.Condition()
        self._ended = False
        self._working = False
        self._pool = ThreadPoolExecutor(table.threads) if table.threads > 1 else None
        self._thread = threading.Thread(target=self._work, name="field writer", daemon=True) if asynchronous else None
        if self._thread is not None:
            self._thread.start()

    # Called by the one who hands over.

    def submit(self, record: Record, requests: Sequence[Request]) -> None:
        """Take a record, whose values are the writer's from now on. Waits, spills or drops where there is no room."""
        job = Job(record, list(requests), record.bytes)
        if self._thread is None:
            self._do(job)
            return
        with self._changed:
            if not self._has_room(job) and not self._make_do(job, record):
                return
            self._queue.append(job)
            self._count(job.bytes)
            self._changed.notify_all()

    def end_step(self, step: int) -> None:
        """Nothing more comes of a step: its files appear, then its manifest."""
        self.call(lambda: self._end_step(step))

    def call(self, work: Callable[[], None]) -> None:
        """Do work after all that was handed over before."""
        if self._thread is None:
            self._timed(work)
            return
        with self._changed:
            self._queue.append(work)
            self._changed.notify_all()

    def drained(self, wait_s: float | None = None) -> bool:
        """Wait until nothing waits; returns whether that is so."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._queue and not self._working, wait_s)

    def close(self) -> None:
        """Finish all that was handed over, and end. Steps without their end leave nothing."""
        if self._thread is not None:
            with self._changed:
                self._ended = True
                self._changed.notify_all()
            self._thread.join()
        for file in self._files.values():
            file.abort()
        self._files.clear()
        if self._pool is not None:
            self._pool.shutdown()

    @property
    def queued_bytes(self) -> int:
        """Bytes that wait to be written."""
        return self._bytes

    # Room in the queue. The lock is held.

    def _has_room(self, job: Job) -> bool:
        table = self.plan.table
        reserve = job.bytes if table.when_full == "spill" else 0  # of a record that is read back
        if self._bytes + self._held + job.bytes + reserve <= table.queue:
            return True
        return not self._queue and not self._working  # to wait would change nothing

    def _make_do(self, job: Job, record: Record) -> bool:
        """Do as the plan says where there is no room; returns whether the job goes into the queue."""
        policy = self.plan.table.when_full
        if policy == "drop":
            for request in job.requests:
                self._dropped.add((record.step, request.path))
            for request in job.requests:
                self._fields_of[record.step, request.path] += 1
            self.figures.dropped_fields += 1
            return False
        if policy == "spill" and self._spill(job, record):
            return True
        self._changed.wait_for(lambda: self._has_room(job) or self._ended)
        return True

    def _spill(self, job: Job, record: Record) -> bool:
        """Write values to a file without a name on the local disk; returns False where that is full."""
        stream = tempfile.TemporaryFile(dir=self.plan.table.spill)  # noqa: SIM115  # closed by whoever reads it
        try:
            stream.write(np.ascontiguousarray(record.values).data)
        except OSError:
            stream.close()
            return False
        self.figures.spilled_bytes += job.bytes
        bare = Record(
            record.field,
            record.step,
            record.places,
            np.lib.stride_tricks.as_strided(
                np.zeros(1, record.values.dtype), record.values.shape, (0,) * record.values.ndim, writeable=False
            ),
        )
        job.spilled, job.record, job.bytes = (stream, bare), None, 0
        return True

    def _count(self, change: int) -> None:
        self._bytes += change
        self.figures.peak_queue_bytes = max(self.figures.peak_queue_bytes, self._bytes + self._held)
        if change:
            self.figures.depth.append((perf_counter(), self._bytes))

    # On the thread of the writer.

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue or self._ended)
                if not self._queue:
                    return
                job = self._queue.popleft()
                self._working = True
            if isinstance(job, Job):
                self._do(job)
            else:
                self._timed(job)
            held = sum(file.held for file in self._files.values())
            with self._changed:
                self._working, self._held = False, held
                if isinstance(job, Job):
                    self._count(-job.bytes)
                del job
                self._changed.notify_all()

    def _do(self, job: Job) -> None:
        self._timed(lambda: self._write(job.loaded(), job.requests))

    def _timed(self, work: Callable[[], None]) -> None:
        begin = perf_counter()
        try:
            work()
        except Exception as error:  # it must not end the thread: the model hears of it
            self._note(error)
        self.figures.busy_s += perf_counter() - begin

    def _note(self, error: Exception) -> None:
        self.errors.append(str(error) if isinstance(error, TradewindError) else f"{type(error).__name__}: {error}")

    def _write(self, record: Record, requests: Sequence[Request]) -> None:
        for request in requests:
            key = (record.step, request.path)
            self._fields_of[key] += 1
            if key in self._failed or key in self._dropped:
                self._give_up(key)
                continue
            try:
                self._append(self._file(key, request), record, request)
            except BaseException:
                self._failed.add(key)
                self._give_up(key)
                raise

    def _append(self, file: Form, record: Record, request: Request) -> None:
        pieces = iter(file.pieces(record))
        window = 1 if self._pool is None else 2 * self.plan.table.threads
        name = request.sink.name
        while batch := list(islice(pieces, window)):
            begin = perf_counter()
            prepared: Iterator[Any] = (
                map(lambda piece: file.prepare(piece, request), batch)
                if self._pool is None
                else self._pool.map(lambda piece: file.prepare(piece, request), batch)
            )
            values = list(prepared)
            middle = perf_counter()
            for piece, each in zip(batch, values, strict=True):
                file.append(piece, request, each)
            end = perf_counter()
            self.figures.encode_s += middle - begin
            self.figures.write_s += end - middle
            self.figures.sink(name)["seconds"] += end - begin
        self.figures.events.append((f"write {record.field.name} {record.step}", begin, end))

    def _file(self, key: Key, request: Request) -> Form:
        if key not in self._files:
            step, path = key
            table = self.plan.table
            when = Moment(table.start, table.step * step)
            kind = form_of(request.sink.format)
            self._files[key] = kind(self._place, path, when, request.sink.compression)
            self._files[key].sink = request.sink.name
        return self._files[key]

    def _give_up(self, key: Key) -> None:
        file = self._files.pop(key, None)
        if file is not None:
            file.abort()

    def _end_step(self, step: int) -> None:
        begin = perf_counter()
        written: list[Written] = []
        mine = [key for key in self._fields_of if key[0] == step]
        for key in mine:
            if key in self._dropped:
                self._give_up(key)
                continue
            file = self._files.pop(key, None)
            if file is None:
                continue
            try:
                found = file.finish()
            except Exception as error:
                self._failed.add(key)
                self._note(error)
                continue
            written += found
            sink = self.figures.sink(file.sink)
            sink["files"] += len(found)
            sink["bytes"] += sum(each.bytes for each in found)
        dropped = {path: self._fields_of[step, path] for at, path in mine if (at, path) in self._dropped}
        failed = any(key in self._failed for key in mine)
        for key in mine:
            del self._fields_of[key]
        if not failed:
            self._manifest.add(step, self.share, self.plan.time(step).isoformat(), written, dropped)
        end = perf_counter()
        self.figures.write_s += end - begin
        self.figures.events.append((f"finish {step}", begin, end))
