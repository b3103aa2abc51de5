"""Slots of a server: memory for blocks of fields."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tradewind.fieldserver.server.handover import Handover

if TYPE_CHECKING:
    from tradewind.fieldserver.server.handover import Array
    from tradewind.mpi.library import Plan


@dataclass
class Slot:
    """Memory of a block: whole fields, and what this rank has of those of the model, which is nothing."""

    handover: Handover
    local: list[Array] = field(default_factory=list)
    whole: list[Array] = field(default_factory=list)
    plans: dict[int, Plan] = field(default_factory=dict)

    def grow(self) -> None:
        """Make room for a field more."""
        self.local.append(self.handover.arrays(self.handover.local))
        self.whole.append(self.handover.arrays(self.handover.whole))

    def bound(self, count: int) -> Plan:
        """Return the plan of the first `count` fields. Collective where it is new."""
        if count not in self.plans:
            self.plans[count] = self.handover.plan(self.local[:count], self.whole[:count])
        return self.plans[count]

    def empty(self) -> None:
        """Give its memory back."""
        self.local.clear()
        self.whole.clear()
        self.plans.clear()

    def whole_fields(self, count: int) -> list[Array]:
        """Return the first fields as [level][point]."""
        return [self.handover.levels_first(whole) for whole in self.whole[:count]]


def put_slot(slots: list[Slot], place: int, handover: Handover) -> Slot:
    """Make a new slot of a hand-over; or use the empty one in that place, whose blocks go on being counted."""
    if place == len(slots):
        slots.append(Slot(handover))
    slots[place].handover = handover
    return slots[place]
