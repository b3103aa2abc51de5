"""Open files of the steps of a writer: they are finished, given up, or left to another writer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from time import perf_counter

from tradewind.fieldserver.files.manifest import Manifest
from tradewind.fieldserver.files.sinks import form_of
from tradewind.fieldserver.files.sinks.form import Form, Moment, Place, Written
from tradewind.fieldserver.plan.plan_file import OutputPlan, Request
from tradewind.fieldserver.server.events import Event, Events

Key = tuple[int, int, str]
"""A file: share, step and path."""
Part = tuple[int, int]
"""The part of a step that a share has: share, step."""


@dataclass
class WriterFigures:
    """Figures of a writer: seconds, bytes and counts."""

    busy_s: float = 0.0
    encode_s: float = 0.0
    write_s: float = 0.0
    read_s: float = 0.0
    peak_queue_bytes: int = 0
    spilled_bytes: int = 0
    sinks: dict[str, dict[str, float]] = field(default_factory=dict)
    depth: Events[tuple[float, int]] = field(default_factory=Events)
    """Time, and bytes that wait then."""
    events: Events[Event] = field(default_factory=Events)

    def sink(self, name: str) -> dict[str, float]:
        """Figures of a sink."""
        return self.sinks.setdefault(name, {"bytes": 0, "files": 0, "seconds": 0.0})


class StepFiles:
    """Open files of those of the `shares` of a plan's output that a writer has, by share, step and path.

    `note_error` is called with each error that leaves a file out.
    """

    def __init__(
        self, plan: OutputPlan, shares: int, figures: WriterFigures, note_error: Callable[[Exception], None]
    ) -> None:
        self._plan, self._shares, self._figures, self._note = plan, shares, figures, note_error
        self._place = Place(plan.folder, plan.table.durable)
        self._manifest = Manifest(plan.folder, shares=shares, durable=plan.table.durable)
        self._files: dict[Key, Form] = {}
        self._fields_of: defaultdict[Key, int] = defaultdict(int)
        self._failed: set[Key] = set()
        self._dropped: defaultdict[Key, int] = defaultdict(int)
        self._incomplete: set[Part] = set()
        self._last: dict[int, int] = {}
        """The last step of each share that has ended: they end in ascending order."""
        self.finished_steps = 0
        """Number of parts whose end is done."""

    @property
    def held_bytes(self) -> int:
        """Bytes of files that grow in memory."""
        return sum(file.held for file in list(self._files.values()))

    def have_ended(self, parts: Iterable[Part]) -> bool:
        """Whether all of these parts have ended."""
        return all(step <= self._last.get(share, -1) for share, step in parts)

    def has_failed(self, key: Key) -> bool:
        """Whether a file was given up after an error."""
        return key in self._failed

    def is_given_up(self, key: Key) -> bool:
        """Whether nothing more goes to a file."""
        return key in self._failed or key in self._dropped or key[:2] in self._incomplete

    def count_field(self, key: Key) -> None:
        """Count a field of a file."""
        self._fields_of[key] += 1

    def drop(self, key: Key, fields: int) -> None:
        """Give a file up, of which some `fields` will not come, and count them."""
        self._dropped[key] += fields
        self.give_up(key)

    def mark_incomplete(self, step: int, share: int) -> None:
        """Give a part up, of which fields are lost: nothing of it appears."""
        self._incomplete.add((share, step))
        for key in self._keys(step, share):
            self.give_up(key)

    def abort(self) -> None:
        """Remove what is there of steps that have not ended."""
        for key in list(self._files):
            self.give_up(key)

    def fail(self, key: Key) -> None:
        """Give a file up after an error: the step of its share fails."""
        self._failed.add(key)
        self.give_up(key)

    def file(self, key: Key, request: Request) -> Form:
        """Return a file, which is made where it is not there."""
        if key not in self._files:
            _, step, path = key
            table = self._plan.table
            when = Moment(table.start, table.step * step)
            kind = form_of(request.sink.format)
            self._files[key] = kind(self._place, path, when, request.sink.compression)
            self._files[key].sink = request.sink.name
        return self._files[key]

    def give_up(self, key: Key) -> None:
        """Remove what is there of a file."""
        file = self._files.pop(key, None)
        if file is not None:
            file.abort()

    def end_step(self, step: int, share: int) -> None:
        """Let the files of a part appear, then its manifest."""
        begin = perf_counter()
        written: list[Written] = []
        if self._shares > 1 and self._manifest.has(step):
            self._leave(step, share)  # it was taken over
            return
        mine = self._keys(step, share)
        for key in mine:
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
            sink = self._figures.sink(file.sink)
            sink["files"] += len(found)
            sink["bytes"] += sum(each.bytes for each in found)
        dropped = {key[2]: self._fields_of[key] + n for key, n in self._dropped.items() if key[:2] == (share, step)}
        failed = (share, step) in self._incomplete or any(key in self._failed for key in mine)
        for key in mine:
            del self._fields_of[key]
        try:
            time = self._plan.time(step).isoformat()
            self._manifest.add(step, share, time, written, dropped, failed=failed)
        finally:
            self._count_end(step, share)
        end = perf_counter()
        self._figures.write_s += end - begin
        self._figures.events.append((f"finish {step}", begin, end))

    def _keys(self, step: int, share: int) -> list[Key]:
        return [key for key in self._fields_of if key[:2] == (share, step)]

    def _count_end(self, step: int, share: int) -> None:
        part = (share, step)
        self._last[share] = step
        self.finished_steps += 1
        self._incomplete.discard(part)
        self._failed = {key for key in self._failed if key[:2] != part}
        self._dropped = defaultdict(int, {key: n for key, n in self._dropped.items() if key[:2] != part})

    def _leave(self, step: int, share: int) -> None:
        """Leave a part to the one who has taken it over."""
        for key in self._keys(step, share):
            file = self._files.pop(key, None)
            if file is not None:
                file.leave()
            del self._fields_of[key]
        self._count_end(step, share)

    def leave_all(self) -> None:
        """Leave all to the one who has taken over."""
        for file in self._files.values():
            file.leave()
        self._files.clear()
