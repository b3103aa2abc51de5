"""The model's end of a share of the output: slots, from which blocks of fields go to the rank that writes them.

A slot is memory for a block on all ranks. It is used again when the writer has released it, which the ranks of the
model learn together: so all of them know alike which slot is free, and no rank asks another.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.base.errors import InputError
from tradewind.fieldserver.field import OutputField, Record
from tradewind.fieldserver.handover import Handover, Shape
from tradewind.fieldserver.plan_file import OutputPlan, Request, megabytes
from tradewind.fieldserver.talk import NEWS, ORDER, READY, Talk
from tradewind.fieldserver.writer import Block, Job, Writer

if TYPE_CHECKING:
    from tradewind.fieldserver.handover import Array, Numbers
    from tradewind.mpi.library import MPI, Plan

_PAUSE_S = 1e-4
MAX_SLOTS = 64
"""Blocks that may be under way to a share."""


@dataclass(frozen=True)
class Defined:
    """A field of the model: how it lies on this rank, and what it is. `alike`: fields that go in one block."""

    field: OutputField
    shape: Shape
    own: Numbers | None
    alike: str


@dataclass
class Entry:
    """A field, or levels of it, in a block."""

    field: OutputField
    step: int
    places: tuple[int, ...]
    requests: list[Request]


@dataclass
class Slot:
    """Memory of a block: arrays of this rank, and on the receiver whole fields."""

    id: int
    handover: Handover
    local: list[Array] = field(default_factory=list)
    whole: list[Array] = field(default_factory=list)
    plans: dict[int, Plan] = field(default_factory=dict)
    number: int = 0
    """Blocks so far."""
    entries: list[Entry] = field(default_factory=list)
    under_way: Plan | None = None

    def grow(self) -> None:
        """Room for a field more."""
        self.local.append(self.handover.arrays(self.handover.local))
        self.whole.append(self.handover.arrays(self.handover.whole))

    def bound(self, count: int) -> Plan:
        """The plan of so many fields. Collective where it is new."""
        if count not in self.plans:
            self.plans[count] = self.handover.plan(self.local[:count], self.whole[:count])
        return self.plans[count]

    @property
    def bytes(self) -> int:
        """Bytes of its whole fields."""
        return len(self.local) * self.handover.shape.bytes

    def jobs(self, entries: Sequence[Entry]) -> list[Job]:
        """Jobs of a writer, on the receiver."""
        return [
            Job(Record(e.field, e.step, e.places, self.handover.levels_first(whole)), e.requests)
            for e, whole in zip(entries, self.whole, strict=False)
        ]


class Share:
    """A share of the output. `comm`: the ranks of the model, and behind them `receiver` where it is a server.

    `model`: the ranks of the model, where a server writes; then the first of them has `talk`. Else `writer` is on the
    rank that writes.
    `waits`: it writes before it goes on.
    """

    def __init__(
        self,
        plan: OutputPlan,
        number: int,
        comm: MPI.Intracomm,
        receiver: int,
        *,
        writer: Writer | None = None,
        talk: Talk | None = None,
        method: Mapping[str, str | None] | None = None,
        model: MPI.Intracomm | None = None,
        waits: bool = False,
    ) -> None:
        self.plan, self.number, self.comm, self.receiver = plan, number, comm, receiver
        self.writer, self.talk, self.remote, self.waits = writer, talk, model is not None, waits
        self._model = model
        self.lost = ""
        """Why nothing goes there any more."""
        self.ended: list[int] = []
        """Steps, in the order of their ends."""
        self.finished = 0
        """Steps of these that are known to be finished."""
        self.released = np.zeros(MAX_SLOTS, np.int64)
        self.reused: set[int] = set()
        """Steps whose memory was used again before they were finished."""
        self.hurried = False
        """The model waits for room."""
        self.news: list[Any] = []
        """News of the server that came while something else was waited for."""
        self._method = method
        self._handovers: dict[str, Handover] = {}
        self._slots: list[Slot] = []
        self._pending: dict[str, Slot] = {}
        self._told: set[str] = set()

    def say(self, order: Any) -> None:
        """Give the server an order; the first rank does it for all."""
        if self.talk is not None:
            self.talk.say(ORDER, order)

    def add(self, what: Defined, entry: Entry, values: Array, *, grows: bool = True) -> bool:
        """Put a field into a block, which goes when it is full. Returns False where there is no room yet.

        `grows`: a new slot may be made.
        """
        if self.lost:
            return False
        slot = self._pending.get(what.alike)
        if slot is not None and len(slot.entries) == len(slot.local) and not self._has_room(what.shape.bytes):
            self._send(slot)
            slot = None
        if slot is None:
            slot = self._free_slot(what, grows=grows)
            if slot is None:
                return False
            self._pending[what.alike] = slot
        place = len(slot.entries)
        if place == len(slot.local):
            slot.grow()
        np.copyto(slot.local[place], values.reshape(slot.local[place].shape), casting="same_kind")
        slot.entries.append(entry)
        self._tell_of(entry.field)
        if (place + 1) * what.shape.levels >= self.plan.table.block:
            self._send(slot)
        return True

    def flush(self) -> None:
        """Let all blocks go."""
        for slot in list(self._pending.values()):
            if not self.lost:
                self._send(slot)

    def arrive(self) -> None:
        """Wait until the server has all blocks."""
        for slot in self._slots:
            if slot.under_way is not None:
                slot.under_way.wait()
                slot.under_way = None

    def end_step(self, step: int) -> None:
        """Let all blocks go; nothing more comes of a step."""
        self.flush()
        self.ended.append(step)
        self.say({"op": "end", "step": step})
        if self.writer is not None:
            self.writer.end_step(step)
        if self.waits:
            self.finished = len(self.ended)

    def drop(self, step: int, path: str) -> None:
        """Give a file up."""
        self.say({"op": "drop", "step": step, "path": path})
        if self.writer is not None:
            self.writer.drop(step, path)

    def hurry(self) -> None:
        """Ask for room; the model waits until there is some."""
        self.hurried = True
        self.flush()
        self.say({"op": "hurry"})
        if self.writer is not None:
            self.writer.hurry()

    def kept(self, done: set[int]) -> list[tuple[Entry, Array]]:
        """The fields that lie here of steps that are not `done`, those that have not been sent, too."""
        pairs = [pair for slot in self._slots for pair in zip(slot.entries, slot.local, strict=False)]
        return [(entry, values) for entry, values in pairs if entry.step not in done]

    @property
    def bytes(self) -> int:
        """Bytes of whole fields that its slots hold."""
        return sum(slot.bytes for slot in self._slots)

    def _has_room(self, more: int) -> bool:
        return self.bytes + more <= self.plan.slot_bytes

    def _is_free(self, slot: Slot) -> bool:
        return slot.number == 0 or self.waits or bool(self.released[slot.id] >= slot.number)

    def _free_slot(self, what: Defined, *, grows: bool) -> Slot | None:
        alike = [slot for slot in self._slots if slot.handover is self._handovers.get(what.alike)]
        for slot in alike:
            if slot not in self._pending.values() and self._is_free(slot):
                self._take(slot)
                return slot
        if alike and (not grows or len(self._slots) == MAX_SLOTS or self.waits or not self._has_room(alike[0].bytes)):
            return None
        if len(self._slots) == MAX_SLOTS or not self._has_room(what.shape.bytes):
            needed = (self.bytes + what.shape.bytes) * self.plan.table.queue // self.plan.slot_bytes
            raise InputError(
                f"field {what.field.name}: a queue of {megabytes(self.plan.table.queue)} has no room for it beside "
                f"other fields: {megabytes(needed)} or more is needed"
            )
        return self._new_slot(what)

    def _take(self, slot: Slot) -> None:
        """Use a slot again."""
        if slot.under_way is not None:
            slot.under_way.wait()
            slot.under_way = None
        done = set(self.ended[: self.finished])
        self.reused |= {entry.step for entry in slot.entries} - done
        slot.entries = []

    def _new_slot(self, what: Defined) -> Slot | None:
        """Make a slot, unless the server is lost. Collective, with the server."""
        number = len(self._slots)
        self.say({"op": "slot", "alike": what.alike, "shape": asdict(what.shape)})
        if what.alike not in self._handovers:
            if self.remote and not self._is_ready():
                return None
            said = None if what.shape.layout is None else json.loads(what.shape.layout)
            self._handovers[what.alike] = Handover(
                self.comm, self.receiver, what.shape, said, what.own, method=self._method
            )
        slot = Slot(number, self._handovers[what.alike])
        self._slots.append(slot)
        return slot

    def _is_ready(self) -> bool:
        """Whether the server is there to make something together: it may have stopped. Collective."""
        assert self._model is not None
        problem = ""
        if self.talk is not None:
            end = perf_counter() + self.plan.table.patience
            while self.talk.hear(READY) is None and not problem:
                if (news := self.talk.hear(NEWS)) is not None:
                    self.news.append(news)
                    problem = news.get("lost", "")
                if perf_counter() > end:
                    problem = f"it did not take part for {self.plan.table.patience:g} s"
                time.sleep(_PAUSE_S)
            if not problem:
                self.say({"op": "go"})
        self.lost = self._model.bcast(problem)
        return not self.lost

    def _tell_of(self, field: OutputField) -> None:
        if field.name not in self._told:
            self._told.add(field.name)
            self.say({"op": "field", "field": field.as_dict()})

    def _send(self, slot: Slot) -> None:
        """Let a block go: it is on its way when this returns, and its arrays stay as they are until it is released."""
        del self._pending[next(alike for alike, each in self._pending.items() if each is slot)]
        slot.number += 1
        entries = [[e.field.name, e.step, e.places, [r.sink.name for r in e.requests]] for e in slot.entries]
        self.say({"op": "block", "slot": slot.id, "number": slot.number, "entries": entries})
        if self.remote:
            if len(slot.entries) in slot.plans or self._is_ready():
                slot.under_way = slot.bound(len(slot.entries))
                slot.under_way.start()
            return
        plan = slot.bound(len(slot.entries))
        plan()
        if self.writer is not None:
            self.writer.submit(Block(slot.jobs(slot.entries), slot.id, slot.number))
