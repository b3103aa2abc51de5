"""Channels, the model's ends of the ways to its writers: slots, from which blocks of fields go to the rank that writes.

A slot is memory for a block on all ranks. It is used again when the writer has released it, which the ranks of the
model learn together: so all of them know alike which slot is free, and no rank asks another.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from tradewind.base.errors import InputError, PlanError
from tradewind.base.units import format_bytes
from tradewind.fieldserver.model.server_messages import ServerMessages
from tradewind.fieldserver.model.step_parts import StepParts
from tradewind.fieldserver.plan.plan_file import OutputPlan, megabytes
from tradewind.fieldserver.server.control_channel import ControlChannel
from tradewind.fieldserver.server.handover import Handover
from tradewind.fieldserver.server.messages import READY
from tradewind.fieldserver.server.slots import Defined, Entry, Slot, address, put_slot
from tradewind.fieldserver.server.step_files import Part
from tradewind.fieldserver.server.writer import Block, Writer
from tradewind.mpi.library import MPI

if TYPE_CHECKING:
    from tradewind.fieldserver.server.handover import Array

MAX_SLOTS = 64
"""Blocks that may be under way in a channel."""


class Channel(ServerMessages):
    """The way to a writer of one or more shares of the output, of which one has its `number`.

    `comm`: the ranks of the model, and behind them `receiver` where it is a server. `model`: the ranks of the model,
    where a server writes; then the first of them has `control`. Else `writer` is on the rank that writes. `waits`: it
    writes before it goes on.
    """

    def __init__(
        self,
        plan: OutputPlan,
        number: int,
        comm: MPI.Intracomm,
        receiver: int,
        *,
        writer: Writer | None = None,
        control: ControlChannel | None = None,
        method: Mapping[str, str | None] | None = None,
        model: MPI.Intracomm | None = None,
        waits: bool = False,
    ) -> None:
        super().__init__(plan, control, model)
        self.number, self.comm, self.receiver = number, comm, receiver
        self.writer, self.remote, self.waits = writer, model is not None, waits
        self.parts = StepParts()
        self.released = np.zeros(MAX_SLOTS, np.int64)
        self.awaited = False
        """The model waits for room, or for its array."""
        self.agree: Callable[[], None] = lambda: None
        """Called before the ranks of the model do something together."""
        self._method = method
        self._handovers: dict[str, Handover] = {}
        self._slots: list[Slot] = []
        self._pending: dict[str, Slot] = {}

    def add(self, what: Defined, entry: Entry, values: Array, *, grows: bool = True) -> bool:
        """Put a field into a block, which goes when it is full. Returns False where there is no room yet.

        `grows`: a new slot may be made.
        """
        if self.lost:
            return False
        slot = self._pending.get(what.alike)
        if slot is not None and len(slot.entries) == len(slot.local) and not self._has_room(what.shape.bytes):
            if not self._send(slot):
                return False
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
        self.describe(entry.field)
        if (place + 1) * what.shape.levels >= self.plan.table.block:
            self._send(slot)
        return True

    def start(self, what: Defined, entry: Entry, values: Array, *, grows: bool = True) -> Slot | None:
        """Let a field go from the model's own array. Returns its slot, or None where there is no room yet."""
        slot = None if self.lost else self._free_slot(what, grows=grows, of_model=address(values))
        if slot is None:
            return None
        if not slot.local:
            slot.take_array(values)
        slot.entries.append(entry)
        self.describe(entry.field)
        self._pending[f"slot {slot.id}"] = slot
        self._send(slot)
        return slot

    def give_back(self, slot: Slot, number: int) -> None:
        """The array of a block is the model's own again: if its server is lost now, the field is."""
        if slot.number == number:
            self._await(slot)
            self._reuse(slot)

    def flush(self) -> None:
        """Let all blocks go."""
        for slot in list(self._pending.values()):
            if not self.lost:
                self._send(slot)

    def discard(self) -> None:
        """Let what has not been sent be forgotten: it is not the same on all ranks."""
        for slot in self._pending.values():
            slot.entries = []
        self._pending.clear()

    def arrive(self) -> None:
        """Wait until the server has all blocks."""
        for slot in self._slots:
            self._await(slot)

    def has_gone(self, slot: Slot) -> bool:
        """Whether a block has gone as far as this rank can find without waiting, or waits where its transport must."""
        if slot.under_way is None or not slot.under_way.pokes:
            return self._await(slot)
        return slot.under_way.poke()

    def _await(self, slot: Slot) -> bool:
        """Wait until a block has gone; returns False where its server takes no part, as the next status has."""
        try:
            slot.arrive()
        except PlanError as error:
            if not self.remote:
                raise
            self.gone = str(error)
        return not self.gone

    def end_step(self, share: int, step: int) -> None:
        """Let all blocks go; nothing more comes of a step of a share."""
        self.flush()
        self.parts.end((share, step))
        self.send_order({"op": "end", "share": share, "step": step})
        if self.writer is not None:
            self.writer.end_step(step, share)
        if self.waits:
            self.parts.note_finished(self.parts.finished + 1)

    def drop(self, part: Part, path: str) -> None:
        """Give a file up, for one of its fields."""
        share, step = part
        self.parts.dropped.append((part, path))
        self.send_order({"op": "drop", "share": share, "step": step, "path": path})
        if self.writer is not None:
            self.writer.drop(step, path, share)

    def mark_incomplete(self, part: Part) -> None:
        """Mark a part of which fields are lost: it must not look whole."""
        share, step = part
        self.parts.reused.add(part)
        self.send_order({"op": "mark_incomplete", "share": share, "step": step})
        if self.writer is not None:
            self.writer.mark_incomplete(step, share)

    def flush_now(self) -> None:
        """Have all blocks written now; the model waits until there is room."""
        self.awaited = True
        self.flush()
        self.send_order({"op": "flush_now"})
        if self.writer is not None:
            self.writer.flush_now()

    @property
    def unfinished(self) -> list[Part]:
        """Parts that are not known to be finished and have ended, or have fields or given-up files here; by step."""
        return self.parts.unfinished(entry.part for entry, _ in self.kept())

    def kept(self) -> list[tuple[Entry, Array]]:
        """The fields that lie here of parts that are not finished, those that have not been sent, too."""
        pairs = [pair for slot in self._slots for pair in zip(slot.entries, slot.local, strict=False)]
        return [(entry, values) for entry, values in pairs if not self.parts.is_done(entry.part)]

    @property
    def bytes(self) -> int:
        """Bytes of whole fields that its slots hold."""
        return sum(slot.bytes for slot in self._slots)

    def _has_room(self, more: int) -> bool:
        return self.bytes + more <= self.plan.slot_bytes

    def _is_free(self, slot: Slot) -> bool:
        return slot.number == 0 or self.waits or bool(self.released[slot.id] >= slot.number)

    def _free_slot(self, what: Defined, *, grows: bool, of_model: int | None = None) -> Slot | None:
        """A slot for a field, which lies in the model's own array at `of_model` where it is; None without room yet."""
        free = [slot for slot in self._slots if slot not in self._pending.values() and self._is_free(slot)]
        alike = self._alike(self._handovers.get(what.alike), of_model)
        for slot in alike:
            if slot in free:
                self._take(slot)
                return slot
        if alike and (not grows or self.waits):
            return None
        if self._place() < MAX_SLOTS and self._has_room(alike[0].bytes if alike else what.shape.bytes):
            return self._new_slot(what)
        return None if alike else self._instead_of(what, free)

    def _alike(self, handover: Handover | None, of_model: int | None) -> list[Slot]:
        """Slots of a hand-over; with an address those of this array, on all ranks of the model. Collective then."""
        found = [slot for slot in self._slots if slot.handover is handover and slot.local]
        if of_model is None:
            return [slot for slot in found if slot.of_model is None]
        self.agree()
        mine = np.zeros(MAX_SLOTS, np.int8)
        mine[[slot.id for slot in found if slot.of_model == of_model]] = 1
        everyone = np.empty_like(mine)
        (self._model or self.comm).Allreduce(mine, everyone, MPI.MIN)
        return [slot for slot in found if everyone[slot.id]]

    def _place(self) -> int:
        """The place of the next slot: that of an empty one, or a new one."""
        return next((slot.id for slot in self._slots if not slot.local), len(self._slots))

    def _instead_of(self, what: Defined, free: Sequence[Slot]) -> Slot | None:
        """A slot for fields of a form that has none, where other forms leave no room: they give back what is free."""
        needed = what.shape.bytes
        if needed > self.plan.slot_bytes:
            raise InputError(
                f"field {what.field.name}: a queue of {format_bytes(self.plan.table.queue)} has no room for it: "
                f"{megabytes(needed * self.plan.queue_parts)} or more is needed"
            )
        for slot in free:
            self._take(slot)
            slot.empty()
            self.send_order({"op": "empty", "place": slot.id})
            if self._has_room(needed):
                return self._new_slot(what)
        return None

    def _take(self, slot: Slot) -> None:
        """Use a slot again."""
        self._await(slot)
        self._reuse(slot)

    def _reuse(self, slot: Slot) -> None:
        """Forget the fields of a slot, and note those that were not finished."""
        self.parts.note_reuse(entry.part for entry in slot.entries)
        slot.entries = []

    def _new_slot(self, what: Defined) -> Slot | None:
        """Make a slot, or use an empty one, unless the server is lost. Collective, with the server."""
        self.agree()
        place = self._place()
        self.send_order({"op": "slot", "place": place, "alike": what.alike, "shape": asdict(what.shape)})
        if what.alike not in self._handovers:
            if self.remote and self.reply(READY, go=True) is None:
                return None
            layout = None if what.shape.layout is None else json.loads(what.shape.layout)
            self._handovers[what.alike] = Handover(
                self.comm,
                self.receiver,
                what.shape,
                layout,
                what.own,
                method=self._method,
                watchdog_s=self.plan.table.patience if self.remote else 0.0,
            )
        return put_slot(self._slots, place, self._handovers[what.alike])

    def _send(self, slot: Slot) -> bool:
        """Let a block go: it is on its way when this returns, and its arrays stay as they are until it is released.

        Returns False where the server is lost: then the slot keeps what was to go.
        """
        self.agree()
        del self._pending[next(alike for alike, each in self._pending.items() if each is slot)]
        slot.number += 1
        entries = [[e.field.name, e.step, e.places, [r.sink.name for r in e.requests], e.share] for e in slot.entries]
        self.send_order({"op": "block", "slot": slot.id, "number": slot.number, "entries": entries})
        if self.remote:
            if len(slot.entries) in slot.plans or self._has_bound(slot):
                self._start(slot)
            return not self.lost
        plan = slot.bound(len(slot.entries))
        plan()
        if self.writer is not None:
            self.writer.submit(Block(slot.jobs(slot.entries), slot.id, slot.number))
        return True

    def _has_bound(self, slot: Slot) -> bool:
        """Make the plan of the fields of a slot with the server; returns whether that takes part. Collective."""
        assert self._model is not None
        if self.reply(READY, go=True) is None:
            return False
        problem = ""
        try:
            slot.bound(len(slot.entries))
        except PlanError as error:
            problem = str(error)
        self.lost = next(filter(None, self._model.allgather(problem)), "")
        return not self.lost

    def _start(self, slot: Slot) -> None:
        slot.under_way = slot.bound(len(slot.entries))
        try:
            slot.under_way.start()
        except PlanError as error:  # of a transport that waits as it starts
            slot.under_way, self.gone = None, str(error)


def in_use(channels: Sequence[Channel]) -> list[Channel]:
    """Those channels of shares, each once."""
    return list({channel.number: channel for channel in channels}.values())
