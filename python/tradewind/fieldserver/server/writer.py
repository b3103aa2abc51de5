"""The writer: takes blocks of whole fields, encodes them and writes them to files, on a thread of its own or at once.

A block lies in a slot, whose memory is used again when the writer has released it: when the steps of its fields are in
the manifest; earlier, when a field is on the local disk (spilled), or when there is no room elsewhere (`flush_now`).
"""

from __future__ import annotations

import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import IO, Any

import numpy as np

from tradewind.base.errors import TradewindError
from tradewind.fieldserver.files.sinks import form_of
from tradewind.fieldserver.files.sinks.form import Form
from tradewind.fieldserver.plan.field import Record
from tradewind.fieldserver.plan.plan_file import OutputPlan, Request
from tradewind.fieldserver.server.step_files import Key, Part, StepFiles, WriterFigures


@dataclass(eq=False)
class Job:
    """A record and the files that it goes to."""

    record: Record
    requests: Sequence[Request]
    share: int = 0
    """The share of the output that they belong to."""
    spilled: IO[bytes] | None = None
    """The file that has the values."""

    def key(self, request: Request) -> Key:
        """One of the files."""
        return self.share, self.record.step, request.path

    def spill(self, folder: str | None) -> bool:
        """Move the values to a file without a name; returns False where that disk is full, or not there any more."""
        record = self.record
        try:
            stream = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  # closed by whoever reads it
        except OSError:
            return False
        try:
            stream.write(np.ascontiguousarray(record.values).data)
            stream.flush()
        except OSError:
            with suppress(OSError):  # what is in its buffer has no room either
                stream.close()
            return False
        nothing = np.broadcast_to(np.zeros(1, record.values.dtype), record.values.shape)
        self.record, self.spilled = Record(record.field, record.step, record.places, nothing), stream
        return True

    def loaded(self) -> Record:
        """The record with its values."""
        if self.spilled is None:
            return self.record
        with self.spilled as stream:
            stream.seek(0)
            like = self.record.values
            values = np.frombuffer(stream.read(), like.dtype).reshape(like.shape)
        return Record(self.record.field, self.record.step, self.record.places, values)


@dataclass(eq=False)
class Block:
    """Fields that came together, in the memory of a slot. `number`: counts the blocks of the slot."""

    jobs: list[Job]
    slot: int = -1
    number: int = 0
    written: bool = False
    """All are in their files, which need not be whole yet."""
    released: bool = False

    @property
    def bytes(self) -> int:
        """Bytes of values that are in memory."""
        return sum(job.record.bytes for job in self.jobs if job.spilled is None)

    @property
    def parts(self) -> set[Part]:
        """The (share, step) of all its records."""
        return {(job.share, job.record.step) for job in self.jobs}


@dataclass
class _Piece:
    """A part of a record that is encoded by itself, and the file that it goes to."""

    key: Key
    file: Form
    record: Record
    request: Request


def _load_forms(plan: OutputPlan) -> None:
    """Load the libraries of the sinks."""
    for sink in plan.table.sink:
        form_of(sink.format)


class Writer:
    """Writes those of the `shares` of a plan's output that it is given.

    `asynchronous`: on a thread of its own; else `submit` and `end_step` write before they return.
    """

    def __init__(self, plan: OutputPlan, *, shares: int = 1, asynchronous: bool = True) -> None:
        table = plan.table
        self.plan, self._shares = plan, shares
        self.figures = WriterFigures()
        self.errors: deque[str] = deque()
        """Those that have not been sent to the model yet."""
        self.released: deque[tuple[int, int]] = deque()
        """Slots and numbers of blocks whose memory is free, which have not been sent to the model yet."""
        self._files = StepFiles(plan, shares, self.figures, self._note)
        self._blocks: list[Block] = []
        self._releases_early = False
        self._queue: deque[Block | Callable[[], None]] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._working = False
        self._pool = ThreadPoolExecutor(table.threads) if table.threads > 1 else None
        self._thread = threading.Thread(target=self._work, name="field writer", daemon=True) if asynchronous else None
        if self._thread is not None:
            self._thread.start()
            self.call(lambda: _load_forms(plan))  # libraries take long: before the first field comes

    # Called by the one who hands over.

    def submit(self, block: Block) -> None:
        """Take a block. Its memory is the writer's until it is `released`."""
        if self._thread is None:
            self._timed(lambda: self._write_block(block))
            return
        table = self.plan.table
        if table.when_full == "spill" and self.waiting_bytes + block.bytes > self.plan.slot_bytes // 2:
            self._spill(block)
        with self._changed:
            self._blocks.append(block)
            self._queue.append(block)
            self._note_depth()
            self._changed.notify_all()

    def drop(self, step: int, path: str, share: int = 0, fields: int = 1) -> None:
        """Give a file up, of which some `fields` will not come, and count them."""
        self.call(lambda: self._files.drop((share, step, path), fields))

    def end_step(self, step: int, share: int = 0) -> None:
        """Nothing more comes of a step of a share: its files appear, then its manifest."""
        self.call(lambda: self._end_step(step, share))

    def mark_incomplete(self, step: int, share: int) -> None:
        """Give a part up, of which fields are lost: nothing of it appears."""
        self.call(lambda: self._files.mark_incomplete(step, share))

    def abandon(self) -> None:
        """Do nothing more: another one writes all that is not finished."""
        self.discard()
        self.call(self._files.leave_all)

    def discard(self) -> None:
        """Forget what waits: the model has ended."""
        with self._changed:
            self._queue.clear()
            self._changed.notify_all()

    def flush_now(self) -> None:
        """Release blocks as soon as they are in their files: there is no room for others."""
        self.call(self._release_written)

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
                self._closing = True
                self._changed.notify_all()
            self._thread.join()
        self._files.abort()
        if self._pool is not None:
            self._pool.shutdown()

    @property
    def finished_steps(self) -> int:
        """Number of parts whose end was handed over, and is done."""
        return self._files.finished_steps

    @property
    def waiting_bytes(self) -> int:
        """Bytes of values in memory that have not been released."""
        return sum(block.bytes for block in self._blocks) + self._files.held_bytes

    def _spill(self, block: Block) -> None:
        spilled = [job.spill(self.plan.table.spill) for job in block.jobs]
        self.figures.spilled_bytes += sum(
            job.record.bytes for job, gone in zip(block.jobs, spilled, strict=True) if gone
        )
        if all(spilled):
            self._release(block)

    def _release(self, block: Block) -> None:
        if not block.released:
            block.released = True
            self.released.append((block.slot, block.number))

    def _note_depth(self) -> None:
        waiting = self.waiting_bytes
        self.figures.peak_queue_bytes = max(self.figures.peak_queue_bytes, waiting)
        self.figures.depth.append((perf_counter(), waiting))

    # On the thread of the writer.

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue or self._closing)
                if not self._queue:
                    return
                work = self._queue.popleft()
                self._working = True
            if isinstance(work, Block):
                block = work
                self._timed(lambda block=block: self._write_block(block))  # type: ignore[misc]
            else:
                self._timed(work)
            with self._changed:
                self._working = False
                self._note_depth()
                self._changed.notify_all()

    def _timed(self, work: Callable[[], None]) -> None:
        begin = perf_counter()
        try:
            work()
        except Exception as error:  # it must not end the thread: the model raises it
            self._note(error)
        self.figures.busy_s += perf_counter() - begin

    def _note(self, error: Exception) -> None:
        self.errors.append(str(error) if isinstance(error, TradewindError) else f"{type(error).__name__}: {error}")

    def _write_block(self, block: Block) -> None:
        waiting: deque[tuple[_Piece, Callable[[], Any]]] = deque()
        window = 1 if self._pool is None else 2 * self.plan.table.threads
        for piece in self._pieces(block):
            waiting.append((piece, self._prepared(piece)))
            if len(waiting) == window:
                self._append(*waiting.popleft())
        while waiting:
            self._append(*waiting.popleft())
        block.written = True
        if self._releases_early or self._files.have_ended(block.parts):
            self._forget(block)

    def _forget(self, block: Block) -> None:
        self._release(block)
        with self._changed:
            if block in self._blocks:
                self._blocks.remove(block)

    def _release_written(self) -> None:
        self._releases_early = True
        for block in [block for block in self._blocks if block.written]:
            self._forget(block)

    def _pieces(self, block: Block) -> Iterator[_Piece]:
        """All that the jobs of a block ask for, but what goes to files that are given up."""
        for job in block.jobs:
            try:
                record = job.loaded()
            except Exception as error:
                for request in job.requests:
                    self._files.count_field(job.key(request))
                    self._files.fail(job.key(request))
                self._note(error)
                continue
            for request in job.requests:
                key = job.key(request)
                self._files.count_field(key)
                if self._files.is_given_up(key):
                    self._files.give_up(key)
                    continue
                try:
                    file = self._files.file(key, request)
                except Exception as error:
                    self._files.fail(key)
                    self._note(error)
                    continue
                for each in file.pieces(record.alone() if request.by_level else record):
                    if not self._files.has_failed(key):
                        yield _Piece(key, file, each, request)

    def _prepared(self, piece: _Piece) -> Callable[[], Any]:
        """Have a part encoded, by a thread of the pool where there is one; the call waits for it."""
        if self._pool is None:
            return partial(piece.file.prepare, piece.record, piece.request)
        return self._pool.submit(piece.file.prepare, piece.record, piece.request).result

    def _append(self, piece: _Piece, prepared: Callable[[], Any]) -> None:
        begin = perf_counter()
        try:
            values = prepared()
            middle = perf_counter()
            if self._files.has_failed(piece.key):
                return
            piece.file.append(piece.record, piece.request, values)
        except Exception as error:
            if not self._files.has_failed(piece.key):
                self._files.fail(piece.key)
                self._note(error)
            return
        end = perf_counter()
        figures = self.figures
        figures.encode_s += middle - begin
        figures.write_s += end - middle
        figures.sink(piece.request.sink.name)["seconds"] += end - begin
        what, events = f"write {piece.record.field.name} {piece.record.step}", figures.events
        begin = events.pop()[1] if events and events[-1][0] == what else begin
        events.append((what, begin, end))

    def _end_step(self, step: int, share: int) -> None:
        try:
            self._files.end_step(step, share)
        finally:
            for block in [block for block in self._blocks if block.written and self._files.have_ended(block.parts)]:
                self._forget(block)
