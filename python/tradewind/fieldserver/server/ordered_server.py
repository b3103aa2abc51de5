"""Servers that carry out the orders of a model: their loop, their status, and their replies."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict
from time import perf_counter
from typing import TYPE_CHECKING, Any

from tradewind.base.errors import InputError, PlanError
from tradewind.fieldserver.plan.plan_file import OutputPlan
from tradewind.fieldserver.server.events import Event, Events
from tradewind.fieldserver.server.messages import (
    ANSWER,
    AVAILABLE,
    END,
    INPUT,
    ORDER,
    READY,
    STATUS,
    Control,
    ServerStatus,
    encoded,
    from_json,
    to_json,
)
from tradewind.fieldserver.server.orders import Order, Orders
from tradewind.fieldserver.server.shape import Shape
from tradewind.fieldserver.server.writer import Writer

if TYPE_CHECKING:
    from tradewind.fieldserver.server.handover import Array

_SHORTEST_S, _LONGEST_S = 2e-5, 1e-3


class OrderedServer(Orders):
    """Carries out the orders of a model, and sends its status, until it is ordered to close.

    Its subclasses receive and send fields.
    """

    def __init__(self, plan: OutputPlan, control: Control, shares: int, number: int) -> None:
        super().__init__(plan, Writer(plan, shares=shares))
        self.control, self.number = control, number
        self.idle_s = 0.0
        self.receive_s = 0.0
        self.received_bytes = 0
        self.events: Events[Event] = Events()
        self._closing = False
        self.problem = ""
        """Error after which this server does nothing any more."""
        self.left = False
        """Whether another one has taken over."""
        self._sent_finished = 0

    def serve(self) -> dict[str, Any]:
        """Serve; returns figures of this server. Collective, with the model."""
        begin, awaited, watched = perf_counter(), True, True
        while True:
            order = self._next()
            if order["op"] == "close":
                awaited = order.get("awaited", True)
                watched = awaited or order.get("watched", False)
                if order.get("discard", False):
                    self.writer.discard()
                break
            if not self.problem:
                self._carry_out(order)
            self._send_status()
            if self._closing:
                break
        while not self.writer.drained(_LONGEST_S * 50):
            if watched:
                self._keep_alive()
        self.writer.close()
        self.ahead.close()
        figures = self.figures(perf_counter() - begin)
        self.release_folder()
        if awaited:
            self._send_status()
            self.control.send(END, to_json(figures))
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

    def _do_prefetch(self, paths: list[str]) -> None:
        self.control.send(AVAILABLE, b"")
        self.ahead.ask(paths)

    def _read(self, path: str, name: str, shape: Shape) -> Array | None:
        """Return a field of an input file, [level][point]; or None, after the reply of what is wrong with it."""
        try:
            return self.input_field(path, name, shape, self._keep_alive)
        except InputError as error:
            self.control.send(INPUT, encoded(str(error)))
            return None
