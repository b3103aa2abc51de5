"""The field server as a model meets it: fields written, read and looked ahead for without stopping the time loop."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from tradewind import _core
from tradewind.base.collective import (
    check_communicator,
    collective,
    error_text,
    proceed,
    require_mpi,
    send_error,
)
from tradewind.base.errors import InputError, PlanError, WriteError, quoted
from tradewind.base.names import unknown
from tradewind.base.reading import path_of
from tradewind.fieldserver.model.arguments import listed_files, owner, place_of, whole
from tradewind.fieldserver.model.defining import described_field, fitting_array
from tradewind.fieldserver.model.ending import after_all_ends, before_the_end, forget
from tradewind.fieldserver.model.opening import Opened, check_servers, open_shares
from tradewind.fieldserver.model.run_figures import run_figures
from tradewind.fieldserver.plan.field import OutputField
from tradewind.fieldserver.plan.geometry import Geometry
from tradewind.fieldserver.plan.plan_file import OutputPlan, load_plan
from tradewind.fieldserver.server.events import Event, Events
from tradewind.fieldserver.server.handover import check_method
from tradewind.fieldserver.server.messages import encoded
from tradewind.fieldserver.server.time_line import gather, of_writers
from tradewind.mpi.device import from_host, room_on_host, to_host
from tradewind.mpi.library import MPI, _mpi

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tradewind.fieldserver.server.handover import Array
    from tradewind.fieldserver.server.step_files import WriterFigures
    from tradewind.timeline.model import TimeLine


class FieldServer:
    """Output and input of a model. Made by all ranks of `comm` together.

    `plan`: a plan file, or what `load_plan` made of one. `servers`: number of servers, which are the last ranks; 0:
    ranks of the model write before `write` and `end_step` return; ``"threads"``: threads of theirs write. `method`:
    transport and packing of the hand-over, as of `tradewind.mpi.plan`. `steps`: the number of steps of the run, where
    it is known: then disks that are too small are refused at the first step.

    `comm` is that of the model's ranks then, and None on servers, which serve in `close`. Raises InputError for plans
    that differ between ranks, too many servers, and a folder with a manifest where the plan refuses that.
    """

    @collective
    def __init__(
        self,
        plan: OutputPlan | Path | str,
        comm: MPI.Intracomm,
        *,
        servers: int | str = 0,
        method: Mapping[str, str | None] | None = None,
        steps: int | None = None,
    ) -> None:
        check_communicator(comm)
        if not isinstance(plan, OutputPlan | Path | str):
            raise InputError(f"plan {quoted(plan)}: a plan file, or what load_plan returns, is allowed")
        check_method(method)
        check_servers(servers, comm.Get_size())
        if steps is not None:
            steps = whole("steps", steps)
        self.plan = plan if isinstance(plan, OutputPlan) else load_plan(plan)
        proceed(comm)
        self._everyone = comm
        self._fields: dict[str, OutputField] = {}
        self._shapes: dict[str, tuple[int, ...]] = {}
        """Shape of this rank's array of each field."""
        self._opened = open_shares(self.plan, comm, servers, method, steps, self._fields)
        self.comm = self._opened.comm
        self.servers = 0 if isinstance(servers, str) else servers
        self.blocked_s = 0.0
        self.events: Events[Event] = Events()
        """The first calls of this rank, and when: for a time line."""
        self.figures: dict[str, Any] = {}
        """Figures of the whole run, on the first rank, after `close`."""
        self._made = perf_counter()
        self._loop: tuple[float, float] | None = None
        """When the time loop began, and what was waited before: where the first step ends, in which plans are made."""
        self._closed = False
        self._server = self._opened.server
        if self._opened.side is not None:
            self._at_exit = weakref.finalize(self, _end_without_close, self._opened)
            self._at_exit.atexit = False
            before_the_end(self._at_exit)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        elif self._opened.side is not None and not self._closed:
            self._closed = True
            self._forget_end()
            for each in _leave(self._opened, error):
                error.add_note(each)

    def _forget_end(self) -> bool:
        """End by a call of the model, and not with the program; returns False where that has been done."""
        forget(self._at_exit)
        return self._at_exit.detach() is not None

    # Methods of the model.

    def define(
        self,
        name: str,
        where: _core.Layout | ArrayLike,
        geometry: Geometry,
        *,
        levels: Sequence[float] | None = None,
        dtype: str = "f8",
        axis: int = -1,
        **attributes: Any,
    ) -> None:
        """Define a field before it is written. Each rank of the model does, alike.

        `where`: the layout of its levels; or the numbers of this rank's points, whose arrays are `[level][point]`, with
        `axis` 0 `[point][level]`. `levels`: their numbers, of all levels; 1, 2, ... unless given. Other keywords are
        those of `OutputField`. Raises InputError.
        """
        side, comm = self._of_model(), self._model()
        with self._own_errors(side):
            described = described_field(name, where, geometry, levels, dtype, axis, attributes, comm.Get_rank())
        with self._numbered_errors(side):
            described.define(side)
        self._fields[name] = described.field.described(self.plan.table.field.get(name))
        self._shapes[name] = described.shape(side)

    def wants(self, name: str, step: int) -> bool:
        """Whether the plan has a field written at a step."""
        return bool(self.plan.requests(name, whole("step", step)))

    def write(self, name: str, values: Array, step: int, *, level: int | None = None) -> None:
        """Write a field of a step, of which this rank has a part; the array is the model's again at once.

        `level`: the place of one level among those of the field. What the plan does not want is left out without a
        word. Raises InputError for an unknown field, another shape, a step that has ended, and a second writing.
        """
        with self._blocking("write", name, step) as side:
            with self._own_errors(side):
                values = to_host(f"field {quoted(name)}", values)
                array, step, place = self._array(name, values), whole("step", step), place_of(level)
            with self._numbered_errors(side):
                side.write(name, array, step, place)

    def start(self, name: str, values: Array, step: int, *, level: int | None = None) -> Started:
        """Begin to write as `write` does, without a copy: the array must stay as it is until `wait` returns.

        The method `wait` of what this returns waits until it is the model's again. Raises InputError as `write` does,
        and for an array that does not lie in one piece.
        """
        with self._blocking("start", name, step) as side:
            with self._own_errors(side):
                values = to_host(f"field {quoted(name)}", values)
                array, step, place = self._array(name, values), whole("step", step), place_of(level)
                if not values.flags.c_contiguous:
                    raise InputError(
                        f"field {name}: an array in one piece (C order) is allowed, or write, which copies it"
                    )
            holder = owner(values) if self._opened.in_shared_memory else None
            with self._numbered_errors(side):
                return Started(self, ("wait", name, step), side.start(name, array, holder, step, place), values)

    def end_step(self, step: int) -> None:
        """Nothing more comes of a step. Raises WriteError where a server could not write an earlier one."""
        with self._blocking("end step", step) as side:
            with self._own_errors(side):
                step = whole("step", step)
            with self._numbered_errors(side):
                side.end_step(step)
        if self._loop is None:
            self._loop = perf_counter(), self.blocked_s

    def prefetch(self, paths: Sequence[str | Path]) -> None:
        """Name the next input files in their order: `look_ahead` of the plan are read before the model asks for them.

        Returns when each server has confirmed that it is available; it reads then. Raises InputError.
        """
        with self._blocking("prefetch") as side:
            with self._own_errors(side):
                listed = [encoded(path) for path in listed_files(paths)]
            with self._numbered_errors(side):
                side.prefetch(listed)

    def read(self, name: str, values: Array, path: str | Path) -> None:
        """Fill this rank's part of a field from a file that `prefetch` named. Files before it are not wanted any more.

        Waits where the file is late. Raises InputError for a file that was not named or is no input file, for a field
        that it does not have or of which levels were never written, and for another size or grid than that of `define`.
        """
        with self._blocking("read", name, "of", path) as side:
            with self._own_errors(side):
                on_host = room_on_host(f"field {quoted(name)}", values)
                array, file = self._array(name, on_host), encoded(str(path_of("path", path)))
                if not array.flags.writeable:
                    raise InputError(f"field {name}: an array that may be written to is allowed")
            with self._numbered_errors(side):
                side.read(name, array, file)
            if on_host is not values:
                from_host(f"field {quoted(name)}", on_host, values)

    def finish(self) -> None:
        """Wait until all steps that have ended are in the manifest. Raises WriteError where one cannot be."""
        with self._blocking("finish") as side, self._numbered_errors(side):
            side.finish()

    def close(self) -> None:
        """Finish: all steps that have ended are in the manifest when this returns. On a server: serve until then."""
        if self._closed:
            return
        self._closed = True
        if self._server is not None:
            self._server.serve()
            return
        side = self._opened.side
        assert side is not None
        if not self._forget_end():
            raise PlanError("the field server has ended with the program, or with MPI: close it before")
        begin = perf_counter()
        with self._timed("close"):
            together = False
            try:
                together = side.end()
            finally:
                self._opened.release()
                if not together:
                    after_all_ends(side.part)
            if together:
                loop, before = self._loop or (self._made, 0.0)
                waits = (begin - loop, self.blocked_s - before, self.blocked_s, perf_counter() - begin)
                self.figures = run_figures(self._opened, self.servers, perf_counter() - self._made, waits)
        side.raise_end()

    def send_error(self, problem: str) -> None:
        """Send the other ranks why this one cannot call `time_line`; they raise PlanError."""
        require_mpi()
        send_error(self._everyone, problem)

    @collective
    def time_line(self, title: str, steps: Sequence[tuple[str, float, float]] = ()) -> TimeLine | None:
        """Return what all ranks and servers did when, on rank 0; None on the others. All ranks call it, after `close`.

        `steps`: what this rank of the model did beside, as (name, begin, end) of `time.perf_counter`. Save it with
        `tradewind.timeline.save`. Raises PlanError before `close`.
        """
        if not self._closed:
            raise PlanError("the time line of a field server is there when it is closed")
        rows = of_writers(*self._writers_figures())
        mine = [] if self._server is None else self._server.events
        try:
            own = [(str(name), float(begin), float(end)) for name, begin, end in steps]
        except (TypeError, ValueError):
            raise InputError(f"steps {quoted(steps)}: (name, begin, end) of each step is allowed") from None
        rows.events = {"model": [*own, *self.events], "server": mine, **rows.events}
        proceed(self._everyone)
        return gather(self._everyone, rows, title if isinstance(title, str) else quoted(title))

    # Parts of these.

    def _writers_figures(self) -> tuple[list[WriterFigures], list[tuple[str, float, float]]]:
        """Figures of the writers of this rank, and what was read ahead on it."""
        if self._server is not None:
            return [self._server.writer.figures], self._server.ahead.events
        reads = [each for writer in self._opened.writers for each in writer.ahead.events]
        return [each.writer.figures for each in self._opened.writers], reads

    def _model(self) -> MPI.Intracomm:
        if self.comm is None:
            raise PlanError("this rank is a server: it calls close, and serves there until the model does")
        return self.comm

    def _of_model(self) -> _mpi.FieldServer:
        self._model()
        if self._closed:
            raise PlanError("the field server is closed")
        assert self._opened.side is not None
        return self._opened.side

    def _array(self, name: str, values: Array) -> Array:
        """Return this rank's part of a field as the field is defined. Raises InputError."""
        field = self._fields.get(name) if isinstance(name, str) else None
        if field is None:
            raise InputError(unknown("field", name, self._fields))
        return fitting_array(name, field.dtype, self._shapes[name], values)

    @contextmanager
    def _blocking(self, *what: object) -> Iterator[_mpi.FieldServer]:
        """Time a call of the model's side."""
        side = self._of_model()
        text = " ".join(str(part) if isinstance(part, str | Path) else quoted(part) for part in what)
        with self._timed(text):
            yield side

    @contextmanager
    def _own_errors(self, side: _mpi.FieldServer) -> Iterator[None]:
        """Send an error that this rank meets alone to the other ranks, which raise it, too."""
        with self._numbered_errors(side):
            try:
                yield
            except Exception as error:
                side.send_error(error_text(error), isinstance(error, InputError))
                raise

    @contextmanager
    def _numbered_errors(self, side: _mpi.FieldServer) -> Iterator[None]:
        """Raise an error of this rank with its number."""
        try:
            yield
        except InputError as error:
            comm = self._model()
            if side.is_broken or isinstance(error, WriteError) or comm.Get_size() == 1:
                raise
            raise InputError(*(f"rank {comm.Get_rank()}: {each}" for each in error.problems)) from None

    @contextmanager
    def _timed(self, what: str) -> Iterator[None]:
        begin = perf_counter()
        try:
            yield
        finally:
            end = perf_counter()
            self.blocked_s += end - begin
            self.events.append((what, begin, end))


class Started:
    """A field on its way from the model's own array."""

    def __init__(self, server: FieldServer, what: tuple[object, ...], call: int, values: Array) -> None:
        self._server, self._what, self._call = server, what, call
        self._values: Array | None = values
        """Kept as long as it is under way."""

    def wait(self) -> None:
        """Return when the array is the model's own again. All ranks call it; a second time it does nothing."""
        if self._values is None:
            return
        with self._server._blocking(*self._what) as side, self._server._numbered_errors(side):
            side.wait_for(self._call)
        self._values = None


def _leave(opened: Opened, error: BaseException) -> list[str]:
    """End without the other ranks, to which the error is sent; waits for none of them.

    What this rank has to write of steps that have ended is written when this returns. Returns errors of the writers of
    this rank that no rank has raised.
    """
    assert opened.side is not None
    if not MPI.Is_finalized():
        after_all_ends(opened.side.part)
    try:
        return opened.side.leave(error_text(error))
    finally:
        opened.release()


def _end_without_close(opened: Opened) -> None:
    """End a field server whose model ends without `close`, as by an error that is not caught."""
    for each in _leave(opened, PlanError("it has ended without close of its field server")):
        print(f"tradewind: {each}", file=sys.stderr)
