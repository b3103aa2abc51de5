"""Orders that a server and a writer on a rank of the model carry out alike: on fields, steps, and files that are read.

docs/reference/field-server-protocol.md lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tradewind.base.errors import TradewindError
from tradewind.fieldserver.files.output_folder import FolderHold
from tradewind.fieldserver.plan.field import OutputField, Record
from tradewind.fieldserver.plan.geometry import Geometry
from tradewind.fieldserver.plan.plan_file import OutputPlan, Request
from tradewind.fieldserver.plan.space import check_space
from tradewind.fieldserver.server.ahead import ReadAhead
from tradewind.fieldserver.server.field_check import fitting_field
from tradewind.fieldserver.server.input_field import whole_field
from tradewind.fieldserver.server.messages import ServerStatus, encoded
from tradewind.fieldserver.server.shape import Shape
from tradewind.fieldserver.server.writer import Block, Job, Writer

if TYPE_CHECKING:
    from tradewind.fieldserver.server.handover import Array

Order = Mapping[str, Any]


class Orders:
    """Fields, writer and reader of one of the `shares` of an output, by the orders of a model."""

    def __init__(self, plan: OutputPlan, writer: Writer) -> None:
        self.plan, self.writer = plan, writer
        self.ahead = ReadAhead(writer.call, plan.table.look_ahead)
        self.fields: dict[str, OutputField] = {}
        self.geometries: dict[str, Geometry] = {}
        self.holds: list[FolderHold] = []
        """The folder, on the first server of a model in C or Fortran."""

    def carry_out(self, order: Order) -> Any:
        """Carry out an order by the method of its name; returns its reply."""
        return getattr(self, f"_do_{order['op']}")(**{key: value for key, value in order.items() if key != "op"})

    def release_folder(self) -> None:
        """Let other runs write to the folder."""
        while self.holds:
            self.holds.pop().release()

    def defined(self, field: dict[str, Any], shape: dict[str, Any], geometry_name: str, late: bool) -> bytes:
        """Take a field, and return what is wrong with it.

        `geometry_name`: what further fields may have in place of its geometry. `late`: a field has been written, so
        that no `check` comes any more.
        """

        def define() -> None:
            made, form = OutputField.from_dict(field, self.geometries), Shape(**shape)
            found = fitting_field(self.plan, made, form.points, form.levels)
            if late:
                self.plan.check_fields({**self.fields, made.name: found})
            self.fields[made.name], self.geometries[geometry_name] = found, made.geometry

        return error_of(define)

    def checked(self, steps: int | None) -> bytes:
        """Return what is wrong with all fields and the plan together, before the first is written.

        `steps`: number of those of the run, where it is known.
        """

        def check() -> None:
            self.plan.check_fields(self.fields)
            check_space(self.plan, list(self.fields.values()), steps)

        return error_of(check)

    def input_field(self, path: str, name: str, shape: Shape, meanwhile: Callable[[], None] | None = None) -> Array:
        """Return a field of a file as [level][point], when it has been read. Raises InputError."""
        field = self.fields[name]
        return whole_field(self.ahead.get(path, meanwhile), name, shape, field.geometry, field.units)

    def submit(self, slot: int, number: int, entries: list[Any], values: list[Array]) -> None:
        """Have the fields of a block written: name, step, places of the levels, sinks and share of each."""
        jobs = []
        for (name, step, places, sinks, share), whole in zip(entries, values, strict=True):
            record = Record(self.fields[name], step, tuple(places), whole)
            jobs.append(Job(record, self._requests(name, step, sinks, places), share))
        self.writer.submit(Block(jobs, slot, number))

    def new_status(self) -> ServerStatus:
        """Return what is new."""
        writer = self.writer
        released = [writer.released.popleft() for _ in range(len(writer.released))]
        errors = [writer.errors.popleft() for _ in range(len(writer.errors))]
        return ServerStatus(writer.finished_steps, released, errors)

    def _requests(self, name: str, step: int, sinks: list[str], places: list[int]) -> list[Request]:
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


def error_of(work: Callable[[], None]) -> bytes:
    """Return the error of some work as a reply; nothing after success."""
    try:
        work()
    except TradewindError as error:
        return encoded(str(error))
    return b""
