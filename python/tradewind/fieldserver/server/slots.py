"""Slots, memory for blocks of fields on all ranks; the fields that are defined, and those in a block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from tradewind.fieldserver.plan.field import OutputField, Record
from tradewind.fieldserver.plan.plan_file import Request
from tradewind.fieldserver.server.handover import Handover
from tradewind.fieldserver.server.shape import Shape
from tradewind.fieldserver.server.step_files import Part
from tradewind.fieldserver.server.writer import Job

if TYPE_CHECKING:
    from tradewind.fieldserver.server.handover import Array, Numbers
    from tradewind.mpi.library import Plan


@dataclass(frozen=True)
class Defined:
    """A field of the model: how it lies on this rank, and what it is. `alike`: fields that go in one block.

    `single`: one level of it, where levels go by themselves.
    """

    field: OutputField
    shape: Shape
    own: Numbers | None
    alike: str
    single: Defined | None = None

    def level(self, values: Array, place: int) -> Array:
        """This rank's part of one level."""
        if self.shape.levels == 1:
            return values
        if self.shape.axis == 0 and self.shape.layout is None:
            return np.ascontiguousarray(values.reshape(-1, self.shape.levels)[:, place])
        of_level: Array = values.reshape(self.shape.levels, -1)[place]
        return of_level


@dataclass
class Entry:
    """A field, or levels of it, in a block."""

    field: OutputField
    step: int
    places: tuple[int, ...]
    requests: list[Request]
    share: int = 0
    """The share of the output that it belongs to."""

    @property
    def part(self) -> Part:
        """(share, step) that it belongs to."""
        return self.share, self.step


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
    of_model: int | None = None
    """Address of the model's own array, from which its field goes without a copy."""

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

    def arrive(self) -> None:
        """Wait until what was sent has gone. Raises PlanError where the receiver takes no part."""
        plan, self.under_way = self.under_way, None
        if plan is not None:
            plan.wait()

    def take_array(self, values: Array) -> None:
        """Take the model's own array instead of one here."""
        self.local.append(values.reshape(self.handover.local))
        self.whole.append(self.handover.arrays(self.handover.whole))
        self.of_model = address(values)

    def empty(self) -> None:
        """Give its memory back."""
        self.of_model = None
        self.local.clear()
        self.whole.clear()
        self.plans.clear()

    def jobs(self, entries: Sequence[Entry]) -> list[Job]:
        """Jobs of a writer, on the receiver."""
        return [
            Job(Record(e.field, e.step, e.places, self.handover.levels_first(whole)), e.requests, e.share)
            for e, whole in zip(entries, self.whole, strict=False)
        ]


def address(values: Array) -> int:
    """Where an array lies."""
    found: int = values.__array_interface__["data"][0]
    return found


def put_slot(slots: list[Slot], place: int, handover: Handover) -> Slot:
    """A new slot of a hand-over; or the empty one in that place, whose blocks go on being counted."""
    if place == len(slots):
        slots.append(Slot(place, handover))
    slots[place].handover = handover
    return slots[place]
