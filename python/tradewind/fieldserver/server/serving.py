"""Server ranks: each gets fields by plans of exchanges with the ranks of the model."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from tradewind.fieldserver.plan.plan_file import OutputPlan
from tradewind.fieldserver.server.control_channel import ControlChannel
from tradewind.fieldserver.server.delivery import Delivery
from tradewind.fieldserver.server.handover import Handover, HandoverMethod
from tradewind.fieldserver.server.messages import INPUT
from tradewind.fieldserver.server.ordered_server import OrderedServer
from tradewind.fieldserver.server.shape import Shape
from tradewind.fieldserver.server.slots import Slot, put_slot
from tradewind.mpi.library import MPI


class Server(OrderedServer):
    """Serves the ranks before it in `comm`, of which the first gives orders, until it is ordered to close."""

    def __init__(
        self,
        plan: OutputPlan,
        comm: MPI.Intracomm,
        shares: int,
        method: HandoverMethod,
        *,
        number: int = 0,
        watchdog_s: float = 0.0,
    ) -> None:
        """`watchdog_s`: seconds after which a transfer is an error, as the model has it; 0: no limit."""
        super().__init__(plan, ControlChannel(comm, 0), shares, number)
        self.comm = comm
        self.slots: list[Slot] = []
        self._method, self._watchdog_s = method, watchdog_s
        self._handovers: dict[str, Handover] = {}
        self.inputs: dict[str, Delivery] = {}

    def _do_slot(self, place: int, alike: str, shape: dict[str, Any]) -> None:
        if alike not in self._handovers:
            self._ready()
            self._handovers[alike] = Handover(
                self.comm, Shape(**shape), method=self._method, watchdog_s=self._watchdog_s
            )
        put_slot(self.slots, place, self._handovers[alike])

    def _do_empty(self, place: int) -> None:
        self.slots[place].empty()

    def _do_block(self, slot: int, number: int, entries: list[Any]) -> None:
        begin = perf_counter()
        taken = self.slots[slot]
        while len(taken.local) < len(entries):
            taken.grow()
        if len(entries) not in taken.plans:
            self._ready()
        taken.bound(len(entries))()
        end = perf_counter()
        self.receive_s += end - begin
        self.received_bytes += len(entries) * taken.handover.shape.bytes
        self.events.append((f"collect {len(entries)}", begin, end))
        self.submit(slot, number, entries, taken.whole_fields(len(entries)))

    def _do_send(self, path: str, name: str, alike: str, shape: dict[str, Any]) -> None:
        made = Shape(**shape)
        values = self._read(path, name, made)
        if values is None:
            return
        self._ready(INPUT)
        begin = perf_counter()
        if alike not in self.inputs:
            self.inputs[alike] = Delivery(self.comm, made, self._method, self._watchdog_s)
        self.inputs[alike].give(values)
        self.events.append((f"send {name} of {path}", begin, perf_counter()))
