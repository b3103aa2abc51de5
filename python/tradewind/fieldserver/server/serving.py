"""Servers that are ranks of the job: they get fields by plans of exchanges."""

from __future__ import annotations

import json
from time import perf_counter
from typing import Any

from tradewind.fieldserver.plan.plan_file import OutputPlan
from tradewind.fieldserver.server.control_channel import ControlChannel
from tradewind.fieldserver.server.delivery import Delivery
from tradewind.fieldserver.server.handover import Handover
from tradewind.fieldserver.server.messages import INPUT
from tradewind.fieldserver.server.orders import OrderServer
from tradewind.fieldserver.server.shape import Shape
from tradewind.fieldserver.server.slots import Slot, put_slot
from tradewind.fieldserver.server.writer import Block
from tradewind.mpi.library import MPI


class Server(OrderServer):
    """Serves the ranks before it in `comm`, of which the first gives orders, until it is ordered to close."""

    def __init__(
        self,
        plan: OutputPlan,
        comm: MPI.Intracomm,
        shares: int,
        method: Any = None,
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
            made = Shape(**shape)
            layout = None if made.layout is None else json.loads(made.layout)
            self._handovers[alike] = Handover(
                self.comm, self.comm.Get_rank(), made, layout, None, method=self._method, watchdog_s=self._watchdog_s
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
        whole = [taken.handover.levels_first(each) for each in taken.whole]
        end = perf_counter()
        self.receive_s += end - begin
        self.received_bytes += len(entries) * taken.handover.shape.bytes
        self.events.append((f"collect {len(entries)}", begin, end))
        self.writer.submit(Block(self._jobs(entries, whole), slot, number))

    def _do_send(self, path: str, name: str, alike: str, shape: dict[str, Any]) -> None:
        made = Shape(**shape)
        values = self._read(path, name, made)
        if values is None:
            return
        self._ready(INPUT)
        begin = perf_counter()
        if alike not in self.inputs:
            self.inputs[alike] = Delivery(self.comm, self.comm.Get_rank(), made, None, self._method, self._watchdog_s)
        self.inputs[alike].give(values)
        self.events.append((f"send {name} of {path}", begin, perf_counter()))
