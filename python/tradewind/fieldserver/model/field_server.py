"""The field server as a model meets it: fields written, read and looked ahead for without stopping the time loop."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tradewind import _core
from tradewind.base.collective import check_communicator, collective, on_root, proceed, require_mpi, send_error
from tradewind.base.errors import InputError, PlanError, quoted
from tradewind.base.extents import whole_number
from tradewind.base.reading import path_of
from tradewind.fieldserver.model.defined_fields import DefinedFields
from tradewind.fieldserver.model.defining import agreed_field, described_field
from tradewind.fieldserver.model.ending import before_the_end, forget
from tradewind.fieldserver.model.input_side import InputSide
from tradewind.fieldserver.model.model_side import ModelSide, Sent
from tradewind.fieldserver.model.opening import check_servers, open_shares
from tradewind.fieldserver.model.run_figures import run_figures
from tradewind.fieldserver.plan.geometry import Geometry
from tradewind.fieldserver.plan.plan_file import MAX_STEP, OutputPlan, load_plan
from tradewind.fieldserver.plan.space import check_space
from tradewind.fieldserver.server.events import Event, Events
from tradewind.fieldserver.server.handover import check_method
from tradewind.fieldserver.server.time_line import gather, of_writers
from tradewind.mpi.library import MPI

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tradewind.fieldserver.server.handover import Array
    from tradewind.fieldserver.server.step_files import WriterFigures
    from tradewind.trace.model import TimeLine


MAX_FILES = 1_000_000
"""Files that are named in one call."""


class FieldServer:
    """Output and input of a model. Made by all ranks of `comm` together.

    `plan`: a plan file, or what `load_plan` made of one. `servers`: so many of the last ranks are servers; 0: ranks of
    the model write before `write` and `end_step` return; ``"threads"``: threads of theirs write. `method`: algorithm,
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
            steps = _whole("steps", steps)
        self.plan = plan if isinstance(plan, OutputPlan) else load_plan(plan)
        proceed(comm)
        self._everyone = comm
        opened = open_shares(self.plan, comm, servers, method)
        self.comm = opened.comm
        self.servers = 0 if isinstance(servers, str) else servers
        self.blocked_s = 0.0
        self.events: Events[Event] = Events()
        """The first calls of this rank, and when: for a time line."""
        self.figures: dict[str, Any] = {}
        """Figures of the whole run, on the first rank, after `close`."""
        self._made = perf_counter()
        self._loop: tuple[float, float] | None = None
        """When the time loop began, and what was waited before: where the first step ends, in which plans are made."""
        self._steps = steps
        self._closed = self._checked = False
        self._server, self._channels = opened.server, opened.channels
        self._sides = None
        if opened.comm is not None:
            self._fields = DefinedFields(self.plan, opened.comm)
            side = ModelSide(self.plan, opened, self._fields)
            self._at_exit = weakref.finalize(self, _end_without_close, side)
            self._at_exit.atexit = False
            before_the_end(self._at_exit)
            self._sides = side, InputSide(side, self.plan.table.look_ahead, method)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        elif self._sides is not None and not self._closed:
            self._closed = True
            self._forget_end()
            for each in self._sides[0].leave(error):
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
        side, _ = self._of_model()
        with side.agreement.collective_errors():
            described = described_field(
                self.plan, name, where, geometry, levels, dtype, axis, attributes, side.comm.Get_rank()
            )
            self._fields.check_new(name)
            found = agreed_field(self.plan, side.agreement, side.comm, described)
            if self._checked:  # the others of the first write were compared with the plan without it
                on_root(side.comm, lambda: self.plan.check_fields({**self._fields, name: found}))
            self._fields.add(found)

    def wants(self, name: str, step: int) -> bool:
        """Whether the plan has a field written at a step."""
        return bool(self.plan.requests(name, _whole("step", step)))

    def write(self, name: str, values: Array, step: int, *, level: int | None = None) -> None:
        """Write a field of a step, of which this rank has a part; the array is the model's again at once.

        `level`: the place of one level among those of the field. What the plan does not want is left out without a
        word. Raises InputError for an unknown field, another shape, a step that has ended, and a second writing.
        """
        with self._blocking("write", name, step) as (side, _):
            step, level = _whole("step", step), None if level is None else _whole("level", level)
            what = self._fields.writable(name, step)
            places = self._fields.claim_places(what, values, step, level)
            if not self._checked:
                self._check_once()
            side.write(what, step, places, values)

    def start(self, name: str, values: Array, step: int, *, level: int | None = None) -> Started:
        """Begin to write as `write` does, without a copy: the array must stay as it is until `wait` returns.

        The method `wait` of what this returns waits until it is the model's again. Raises InputError as `write` does,
        and for an array that does not lie in one piece.
        """
        with self._blocking("start", name, step) as (side, _):
            step, level = _whole("step", step), None if level is None else _whole("level", level)
            what = self._fields.writable(name, step)
            if isinstance(values, np.ndarray) and not values.flags.c_contiguous:
                raise InputError(f"field {name}: an array in one piece (C order) is allowed, or write, which copies it")
            places = self._fields.claim_places(what, values, step, level)
            if not self._checked:
                self._check_once()
            return Started(self, ("wait", name, step), side.start(what, step, places, values))

    def end_step(self, step: int) -> None:
        """Nothing more comes of a step. Raises WriteError where a server could not write an earlier one."""
        with self._blocking("end step", step) as (side, _):
            step = _whole("step", step)
            self._fields.end_step(step)
            if wanted := any(self.plan.requests(name, step) for name in self._fields):
                side.end_step(step)
                if self.plan.table.synchronous:
                    side.finish()
        if self._loop is None:
            self._loop = perf_counter(), self.blocked_s
        if wanted:
            side.raise_errors()

    def prefetch(self, paths: Sequence[str | Path]) -> None:
        """Name the next input files in their order: `look_ahead` of the plan are read before the model asks for them.

        Returns when each server has confirmed that it is available; it reads then. Raises InputError.
        """
        with self._blocking("prefetch") as (_, source):
            one = isinstance(paths, str | bytes | Path) or getattr(paths, "shape", None) == ()
            listed = [] if one or not isinstance(paths, Iterable) else list(islice(paths, MAX_FILES + 1))
            if not 0 < len(listed) <= MAX_FILES:
                raise InputError(f"prefetch {quoted(paths)}: a list of names of files is allowed, up to {MAX_FILES}")
            source.prefetch([str(path_of("prefetch", path)) for path in listed])

    def read(self, name: str, values: Array, path: str | Path) -> None:
        """Fill this rank's part of a field from a file that `prefetch` named. Files before it are not wanted any more.

        Waits where the file is late. Raises InputError for a file that was not named or is no input file, for a field
        that it does not have or of which levels were never written, and for another size or grid than that of `define`.
        """
        with self._blocking("read", name, "of", path) as (_, source):
            what, path = self._fields.defined(name), str(path_of("path", path))
            source.check_named(path)
            self._fields.check_array(what, values)
            np.copyto(values, source.read(what, path).reshape(values.shape), casting="same_kind")

    def finish(self) -> None:
        """Wait until all steps that have ended are in the manifest. Raises WriteError where one cannot be."""
        with self._blocking("finish") as (side, _):
            side.finish()
        side.raise_errors()

    def close(self) -> None:
        """Finish: all steps that have ended are in the manifest when this returns. On a server: serve until then."""
        if self._closed:
            return
        self._closed = True
        if self._server is not None:
            self._server.serve()
            return
        assert self._sides is not None
        side, _ = self._sides
        if not self._forget_end():
            raise PlanError("the field server has ended with the program, or with MPI: close it before")
        begin = perf_counter()
        with self._timed("close"):
            answers = side.end()
            if answers is not None:
                loop, before = self._loop or (self._made, 0.0)
                waits = (begin - loop, self.blocked_s - before, self.blocked_s, perf_counter() - begin)
                self.figures = run_figures(side, answers, self.servers, perf_counter() - self._made, waits)
        side.agreement.raise_broken()
        side.raise_errors()
        side.detach_lost()

    def send_error(self, problem: str) -> None:
        """Send the other ranks why this one cannot call `time_line`; they raise PlanError."""
        require_mpi()
        send_error(self._everyone, problem)

    @collective
    def time_line(self, title: str, steps: Sequence[tuple[str, float, float]] = ()) -> TimeLine | None:
        """Return what all ranks and servers did when, on rank 0; None on the others. All ranks call it, after `close`.

        `steps`: what this rank of the model did beside, as (name, begin, end) of `time.perf_counter`. Save it with
        `tradewind.trace.save`. Raises PlanError before `close`.
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
        assert self._sides is not None
        side, source = self._sides
        return [writer.figures for _, writer in side.writers], source.reads

    def _model(self) -> MPI.Intracomm:
        if self.comm is None:
            raise PlanError("this rank is a server: it calls close, and serves there until the model does")
        return self.comm

    def _of_model(self) -> tuple[ModelSide, InputSide]:
        self._model()
        if self._closed:
            raise PlanError("the field server is closed")
        assert self._sides is not None
        return self._sides

    @contextmanager
    def _blocking(self, *what: object) -> Iterator[tuple[ModelSide, InputSide]]:
        """A call that takes time of the model, and whose error is raised on all ranks."""
        sides = self._of_model()
        text = " ".join(str(part) if isinstance(part, str | Path) else quoted(part) for part in what)
        with self._timed(text), sides[0].agreement.collective_errors():
            yield sides

    @contextmanager
    def _timed(self, what: str) -> Iterator[None]:
        begin = perf_counter()
        try:
            yield
        finally:
            end = perf_counter()
            self.blocked_s += end - begin
            self.events.append((what, begin, end))

    def _check_once(self) -> None:
        """Compare fields and plan, and the disk with what the run will need, before the first is written."""
        comm = self._model()
        side, _ = self._of_model()
        side.agreement.note("first write")
        side.agreement.check()

        def check() -> None:
            self.plan.check_fields(self._fields)
            check_space(self.plan, [what.field for what in self._fields.values()], self._steps)

        on_root(comm, check)
        self._checked = True


class Started:
    """A field on its way from the model's own array."""

    def __init__(self, server: FieldServer, what: tuple[object, ...], sent: Sequence[Sent]) -> None:
        self._server, self._what, self._sent = server, what, sent

    def wait(self) -> None:
        """Return when the array is the model's own again. All ranks call it; a second time it does nothing."""
        if self._sent:
            with self._server._blocking(*self._what) as (side, _):
                sent, self._sent = self._sent, []
                side.wait(sent)


def _end_without_close(side: ModelSide) -> None:
    """End a field server whose model ends without `close`, as by an error that nobody has caught."""
    for each in side.leave(PlanError("it has ended without close of its field server")):
        print(f"tradewind: {each}", file=sys.stderr)


def _whole(what: str, number: Any) -> int:
    """Return a number that is no larger than that of a step may be. Raises InputError."""
    found = whole_number(what, number)
    if found > MAX_STEP:
        raise InputError(f"{what} {number}: up to {MAX_STEP} are allowed")
    return found
