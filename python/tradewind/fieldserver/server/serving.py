"""Server ranks: each takes orders and blocks, lets its writer write, and sends its status."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict
from time import perf_counter
from typing import Any

from tradewind.base.errors import InputError, PlanError
from tradewind.fieldserver.plan.plan_file import OutputPlan
from tradewind.fieldserver.server.control_channel import (
    ANSWER,
    AVAILABLE,
    END,
    INPUT,
    ORDER,
    READY,
    STATUS,
    ControlChannel,
    ServerStatus,
    encoded,
    from_json,
)
from tradewind.fieldserver.server.delivery import Delivery
from tradewind.fieldserver.server.events import Event, Events
from tradewind.fieldserver.server.handover import Handover, HandoverMethod, Shape
from tradewind.fieldserver.server.orders import Order, Orders
from tradewind.fieldserver.server.slots import Slot, put_slot
from tradewind.fieldserver.server.writer import Writer
from tradewind.mpi.library import MPI

_SHORTEST_S, _LONGEST_S = 2e-5, 1e-3


class Server(Orders):
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
        super().__init__(plan, Writer(plan, shares=shares))
        self.comm, self.number = comm, number
        self.control = ControlChannel(comm, 0)
        self.slots: list[Slot] = []
        self.idle_s = 0.0
        self.receive_s = 0.0
        self.received_bytes = 0
        self.events: Events[Event] = Events()
        self._method, self._watchdog_s = method, watchdog_s
        self._handovers: dict[str, Handover] = {}
        self.inputs: dict[str, Delivery] = {}
        self._closing = False
        self.problem = ""
        """Error after which this server does nothing any more."""
        self.left = False
        """Whether another one has taken over."""
        self._sent_finished = 0

    def serve(self) -> dict[str, Any]:
        """Serve; returns figures of this server. Collective, with the model."""
        begin, awaited = perf_counter(), True
        while True:
            order = self._next()
            if order["op"] == "close":
                awaited = order.get("awaited", True)
                break
            if not self.problem:
                self._carry_out(order)
            self._send_status()
            if self._closing:
                break
        while not self.writer.drained(_LONGEST_S * 50):
            if awaited:
                self._keep_alive()
        self.writer.close()
        self.ahead.close()
        figures = self.figures(perf_counter() - begin)
        self.release_folder()
        if awaited:
            self._send_status()
            self.control.send_json(END, figures)
            self.control.finish()
        else:  # the model has left, and receives nothing any more
            for each in self.writer.errors:
                print(f"tradewind: {each}", file=sys.stderr)
        return figures

    def _carry_out(self, order: Order) -> None:
        """Carry out an order; after an error nothing any more: the model takes over."""
        try:
            self.carry_out(order)
        except Exception as error:
            self.problem = f"{type(error).__name__}: {error}"
            self.writer.abandon()
            self.control.send(STATUS, ServerStatus(lost=self.problem).pack())

    def figures(self, total_s: float) -> dict[str, Any]:
        """Figures as plain values."""
        return {
            "total_s": total_s,
            "idle_s": max(0.0, total_s - self.writer.figures.busy_s),
            "receive_s": self.receive_s,
            "received_bytes": self.received_bytes,
            "receive_events": self.events,
            **asdict(self.writer.figures),
            "read_s": self.ahead.read_s,
            "read_bytes": self.ahead.read_bytes,
            "read_events": self.ahead.events,
        }

    def _next(self) -> dict[str, Any]:
        """The next order; meanwhile the core is the writer's."""
        pause, begin = _SHORTEST_S, perf_counter()
        while (order := self.control.receive(ORDER)) is None:
            self._send_status()
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_S)
        self.idle_s += perf_counter() - begin
        found: dict[str, Any] = from_json(order)
        self.left = self.left or found["op"] == "leave"
        return found

    def _send_status(self, *, always: bool = False) -> None:
        """Send the model what is new; `always`: also where nothing is."""
        status = self.new_status()
        if always or status.released or status.errors or status.finished > self._sent_finished:
            self._sent_finished = status.finished
            self.control.send(STATUS, status.pack())

    def _keep_alive(self) -> None:
        """Give a sign of life: what this server does takes long."""
        self._send_status(always=True)

    def _ready(self, tag: int = READY) -> None:
        """Wait for the model to do something together. Raises PlanError where it does not, and goes on without us."""
        self.control.send(tag, b"")
        order = self._next()
        if order["op"] != "go":
            self._closing = order["op"] == "close"
            raise PlanError("the model does not wait for this server any more")

    # Orders.

    def _do_leave(self) -> None:
        raise PlanError("the model does not wait for this server any more")

    def _do_define(self, **arguments: Any) -> None:
        self.control.send(ANSWER, self.defined(**arguments))

    def _do_check(self, steps: int | None) -> None:
        self.control.send(ANSWER, self.checked(steps))

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

    def _do_prefetch(self, paths: list[str]) -> None:
        self.control.send(AVAILABLE, b"")
        self.ahead.ask(paths)

    def _do_send(self, path: str, name: str, alike: str, shape: dict[str, Any]) -> None:
        made = Shape(**shape)
        try:
            values = self.input_field(path, name, made, self._keep_alive)
        except InputError as error:
            self.control.send(INPUT, encoded(str(error)))
            return
        self._ready(INPUT)
        begin = perf_counter()
        if alike not in self.inputs:
            self.inputs[alike] = Delivery(self.comm, made, self._method, self._watchdog_s)
        self.inputs[alike].give(values)
        self.events.append((f"send {name} of {path}", begin, perf_counter()))
