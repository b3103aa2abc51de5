"""Orders of a model: a server carries them out, lets its writer write, and sends its status."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from time import perf_counter
from typing import TYPE_CHECKING, Any

from tradewind.base.errors import InputError, PlanError, TradewindError
from tradewind.fieldserver.files.output_folder import FolderHold
from tradewind.fieldserver.plan.field import OutputField, Record
from tradewind.fieldserver.plan.geometry import Geometry, from_dict
from tradewind.fieldserver.plan.plan_file import OutputPlan
from tradewind.fieldserver.plan.space import check_space
from tradewind.fieldserver.server.ahead import ReadAhead
from tradewind.fieldserver.server.events import Event, Events
from tradewind.fieldserver.server.field_check import fitting_field
from tradewind.fieldserver.server.input_field import whole_field
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
from tradewind.fieldserver.server.shape import Shape
from tradewind.fieldserver.server.writer import Job, Writer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

_SHORTEST_S, _LONGEST_S = 2e-5, 1e-3


class OrderServer:
    """Carries out the orders of a model until it is ordered to close. Its subclasses receive and send fields."""

    def __init__(self, plan: OutputPlan, control: Control, shares: int, number: int) -> None:
        self.plan, self.control, self.number = plan, control, number
        self.writer = Writer(plan, shares=shares)
        self.fields: dict[str, OutputField] = {}
        self.geometries: dict[str, Geometry] = {}
        self.idle_s = 0.0
        self.receive_s = 0.0
        self.received_bytes = 0
        self.events: Events[Event] = Events()
        self.ahead = ReadAhead(self.writer.call, plan.table.look_ahead)
        self._closing = False
        self.problem = ""
        """Error after which this server does nothing any more."""
        self.left = False
        """Whether another one has taken over."""
        self._sent_finished = 0
        self.holds: list[FolderHold] = []
        """The folder, on the first server of a model in C or Fortran."""

    def serve(self) -> dict[str, Any]:
        """Serve; returns figures of this server. Collective, with the model."""
        begin, awaited = perf_counter(), True
        while True:
            order = self._next()
            if order["op"] == "close":
                awaited = order.get("awaited", True)
                if order.get("discard", False):
                    self.writer.discard()
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
        while self.holds:
            self.holds.pop().release()
        if awaited:
            self._send_status()
            self.control.send(END, to_json(figures))
            self.control.finish()
        else:  # the model has left, and receives nothing any more
            for each in self.writer.errors:
                print(f"tradewind: {each}", file=sys.stderr)
        return figures

    def _carry_out(self, order: dict[str, Any]) -> None:
        """Carry out an order; after an error nothing any more: the model takes over."""
        try:
            getattr(self, f"_do_{order['op']}")(**{key: value for key, value in order.items() if key != "op"})
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
        writer = self.writer
        released = [writer.released.popleft() for _ in range(len(writer.released))]
        errors = [writer.errors.popleft() for _ in range(len(writer.errors))]
        finished = writer.finished_steps
        if always or released or errors or finished > self._sent_finished:
            self._sent_finished = finished
            self.control.send(STATUS, ServerStatus(finished, released, errors).pack())

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

    def _do_geometry(self, digest: str, geometry: dict[str, Any]) -> None:
        self.geometries[digest] = from_dict(geometry)

    def _do_field(self, field: dict[str, Any]) -> None:
        made = OutputField.from_dict(field, self.geometries)
        self.fields[made.name] = made

    def _do_define(self, field: dict[str, Any], shape: dict[str, Any], geometry_name: str, late: bool) -> None:
        """Take a field of a model that cannot check it itself, and answer what is wrong with it.

        `geometry_name`: what further fields may have in place of its geometry. `late`: a field has been written, so
        that no `check` comes any more.
        """

        def define() -> None:
            made, form = OutputField.from_dict(field, self.geometries), Shape(**shape)
            self.geometries[geometry_name] = made.geometry
            found = fitting_field(self.plan, made, form.points, form.levels)
            if late:
                self.plan.check_fields({**self.fields, made.name: found})
            self.fields[made.name] = found

        self._answer(define)

    def _do_check(self) -> None:
        """Answer what is wrong with all fields and the plan together, before the first is written."""

        def check() -> None:
            self.plan.check_fields(self.fields)
            check_space(self.plan, list(self.fields.values()), None)

        self._answer(check)

    def _answer(self, work: Callable[[], None]) -> None:
        try:
            work()
        except TradewindError as error:
            self.control.send(ANSWER, encoded(str(error)))
        else:
            self.control.send(ANSWER, b"")

    def _do_prefetch(self, paths: list[str]) -> None:
        self.control.send(AVAILABLE, b"")
        self.ahead.ask(paths)

    def _jobs(self, entries: list[Any], whole: Sequence[Array]) -> list[Job]:
        """Return the jobs of a block. `whole`: its fields, [level][point]."""
        return [
            Job(
                Record(self.fields[name], step, tuple(places), values),
                self._requests(name, step, sinks, places),
                share,
            )
            for (name, step, places, sinks, share), values in zip(entries, whole, strict=False)
        ]

    def _read(self, path: str, name: str, shape: Shape) -> Array | None:
        """Return a field of an input file, [level][point]; or None after sending what is wrong with it."""
        try:
            field = self.fields[name]
            return whole_field(self.ahead.get(path, self._keep_alive), name, shape, field.geometry, field.units)
        except InputError as error:
            self.control.send(INPUT, encoded(str(error)))
            return None

    def _requests(self, name: str, step: int, sinks: list[str], places: list[int]) -> list[Any]:
        level = self.fields[name].levels[places[0]]
        return [each.at(level) for each in self.plan.requests(name, step) if each.sink.name in sinks]

    def _do_end(self, share: int, step: int) -> None:
        self.writer.end_step(step, share)

    def _do_drop(self, share: int, step: int, path: str) -> None:
        self.writer.drop(step, path, share)

    def _do_mark_incomplete(self, share: int, step: int) -> None:
        self.writer.mark_incomplete(step, share)

    def _do_flush_now(self) -> None:
        self.writer.flush_now()
