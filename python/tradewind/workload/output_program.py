"""The steps of a model and of those that write and read files beside it, in HIRLAM's order.

The model asks to read ahead and waits for the answer, receives the first two files, takes a step, sends its output, and
takes its other steps; then the next file, a step, output. A writer reads two files, and after that collects output,
writes it, announces that there is room, reads the next file, and sends it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tradewind import _core
from tradewind.base.file_work import FileWork
from tradewind.base.units import seconds
from tradewind.layout.names import blocks
from tradewind.method.method import default_algorithm
from tradewind.workload.output_request import COLLECTIVE, NO_OUTPUT, SERVERS, THREADS, OutputRequest
from tradewind.workload.program import ProgramWorkload
from tradewind.workload.steps import Compute, Exchanged, Group, GroupStep, WholeExchange

if TYPE_CHECKING:
    from tradewind.machine.machine import Files, Machine

MODEL, WRITERS = "model", "writers"
ALGORITHM = "burst"
"""Algorithm of fields on their way to their writers and back: all messages are posted at once, so that
they need no CPU while the model computes."""


class OutputProgram(ProgramWorkload):
    """The program of a run with output. Raises InputError."""

    def __init__(self, run: OutputRequest, slowed_s: float = 0.0) -> None:
        self.run = run
        self.slowed_s = slowed_s
        beside = run.way in (THREADS, SERVERS)
        made = _Beside(run, slowed_s) if beside else _InPlace(run)
        super().__init__(groups=made.groups(), dtype=run.dtype, name=run.name)
        self.end_of_model = f"{MODEL}: {made.end}" if beside else made.end
        """Name of the model's last step."""

    def at_rates(self, machine: Machine, ranks_per_node: int, threads: int) -> ProgramWorkload:
        """Return it with its work on files, and what threads slow down, in seconds. Raises InputError."""
        made = OutputProgram(self.run, self._slowed_s(machine.files)) if self.has_files else self
        return ProgramWorkload.at_rates(made, machine, ranks_per_node, threads)

    def _slowed_s(self, rates: Files) -> float:
        """Seconds that an interval takes longer, as threads write and read meanwhile."""
        run = self.run
        if run.way != THREADS or not run.slowdown:
            return 0.0
        busy_s = 0.0
        for fields, work in ((run.fields, run.written()), (run.input_fields, run.read())):
            busy_s += max(_dealt(run.units(fields), run.writing)) * rates.seconds(work, run.writing) if fields else 0.0
        return run.slowdown * min(busy_s, run.step_s * run.steps_between)


def _dealt(units: int, writers: int) -> list[int]:
    """Number of units of each writer."""
    each, rest = divmod(units, writers)
    return [each + (writer < rest) for writer in range(writers)]


class _Steps:
    """Parts that both kinds of programs have in common."""

    def __init__(self, run: OutputRequest, ranks: int, first_writer: int) -> None:
        self.run = run
        self.ranks = ranks
        self.first_writer = first_writer
        self.end = "end"
        self.layout = run.layout()

    def levels(self, fields: int, *, to_writers: bool) -> _core.Schedule:
        """The schedule of fields between the model and their writers."""
        run = self.run
        nx, ny, nz = run.grid
        grid = _core.Grid(nx, ny, nz * fields)
        assert run.split_of_model is not None
        model = _core.Product(blocks(grid, run.split_of_model, "xy")).placed(0, self.ranks)
        axis = "y" if run.way == COLLECTIVE else "z"
        whole = _core.Product(blocks(grid, (run.writing, 1), axis)).placed(self.first_writer, self.ranks)
        pair = (model, whole) if to_writers else (whole, model)
        return _core.make_schedule(_core.Redistribution(*pair), ALGORITHM)

    def agreement(self, ranks: int) -> _core.Schedule:
        """The schedule of ranks that wait for each other."""
        return _core.make_schedule(_core.AllReduce(ranks, 1), default_algorithm("allreduce"))

    def on_files(self, label: str, fields: int, work: FileWork, ranks: int, first: int = 0) -> Compute:
        """Work of writers on their parts of a file, on `ranks` ranks from the first writer on."""
        units = _dealt(self.run.units(fields), self.run.writing)
        points = [0] * first + units
        return Compute(label, points=[float(n) for n in points + [0] * (ranks - len(points))], files=work)

    def step(self, label: str, times: int) -> Compute:
        """Time steps of the model."""
        return Compute(label, layout=self.layout, point_s=seconds(self.run.point_time) * times)


class _InPlace(_Steps):
    """All ranks wait until files are written and read."""

    def __init__(self, run: OutputRequest) -> None:
        super().__init__(run, run.ranks, 0)

    def groups(self) -> list[Group]:
        """The one group."""
        return [Group(MODEL, self.ranks, list(self._steps()))]

    def _steps(self) -> Iterator[GroupStep]:
        run = self.run
        waiting = Exchanged("wait for all", self.agreement(self.ranks))
        writes, reads = run.way != NO_OUTPUT, run.way != NO_OUTPUT and bool(run.input_fields)
        output = Exchanged("output", self.levels(run.fields, to_writers=True), 1, run.dtype) if writes else None
        inputs = Exchanged("input", self.levels(run.input_fields, to_writers=False), 1, run.dtype) if reads else None
        for i in range(run.intervals):
            if inputs is not None:
                for n in (0, 1) if i == 0 else (i + 1,):
                    yield self.on_files(f"read {n}", run.input_fields, run.read(), self.ranks)
                    yield WholeExchange(inputs, f"input {n}")
            yield self.step(f"first step {i}", 1)
            if output is not None:
                yield WholeExchange(output, f"output {i}")
                yield self.on_files(f"write {i}", run.fields, run.written(), self.ranks)
                yield WholeExchange(waiting, f"written {i}")
            if run.steps_between > 1:
                yield self.step(f"steps {i}", run.steps_between - 1)
        yield WholeExchange(waiting, self.end)


class _Beside(_Steps):
    """Servers, or threads: ranks of the simulation that cost the model no core."""

    def __init__(self, run: OutputRequest, slowed_s: float) -> None:
        model = run.model_ranks
        super().__init__(run, model + run.writing, model)
        self.model, self.slowed_s = model, slowed_s
        both = (MODEL, WRITERS)

        def exchange(name: str, schedule: _core.Schedule, groups: tuple[str, ...] = both) -> Exchanged:
            return Exchanged(name, schedule, 1, run.dtype, groups=groups)

        out = self.levels(run.fields, to_writers=True)
        self.outputs = [exchange(f"output {slot}", out) for slot in range(min(run.queue, run.intervals))]
        notice = self._notice()
        self.rooms = [exchange(f"room {slot}", notice) for slot in range(len(self.outputs))]
        self.written = exchange("written", self.agreement(run.writing), (WRITERS,))
        self.input: Exchanged | None = None
        if run.input_fields:
            self.input = exchange("input", self.levels(run.input_fields, to_writers=False))
            self.available = exchange("available", self.agreement(self.ranks))

    def _notice(self) -> _core.Schedule:
        """The schedule of a word from writers to each rank of the model, which are dealt to them."""
        assert self.run.split_of_model is not None
        columns, rows = self.run.split_of_model
        axis, most = ("y", rows) if rows >= columns else ("x", columns)
        grid = _core.Grid(columns, rows, 1)
        writers = _core.Product(blocks(grid, (min(self.run.writing, most), 1), axis))
        model = _core.Product(blocks(grid, (columns, rows), "xy"))
        pair = writers.placed(self.first_writer, self.ranks), model.placed(0, self.ranks)
        return _core.make_schedule(_core.Redistribution(*pair), ALGORITHM)

    def groups(self) -> list[Group]:
        """The model, and its writers behind it."""
        return [
            Group(MODEL, self.model, list(self._model())),
            Group(WRITERS, self.run.writing, list(self._writers())),
        ]

    @property
    def _slots(self) -> int:
        return len(self.outputs)

    def _model(self) -> Iterator[GroupStep]:
        run = self.run
        if self.input is not None:
            yield WholeExchange(self.available, "ask to read ahead")
        for i in range(run.intervals):
            if self.input is not None:
                yield from (WholeExchange(self.input, f"input {n}") for n in ((0, 1) if i == 0 else (i + 1,)))
            yield self.step(f"first step {i}", 1)
            if i >= self._slots:
                yield self.outputs[i % self._slots].wait(f"sent {i - self._slots}")
                yield WholeExchange(self.rooms[i % self._slots], f"room {i - self._slots}")
            yield self.outputs[i % self._slots].start(f"output {i}")
            if run.steps_between > 1:
                yield self.step(f"steps {i}", run.steps_between - 1)
            if self.slowed_s:
                yield Compute(f"slower {i}", seconds=self.slowed_s)
        last = run.intervals - self._slots
        for i in range(last, run.intervals):
            label = self.end if i == run.intervals - 1 else f"sent {i}"
            yield self.outputs[i % self._slots].wait(label)

    def _writers(self) -> Iterator[GroupStep]:
        run = self.run

        def work(label: str, fields: int, done: FileWork) -> Compute:
            return self.on_files(label, fields, done, run.writing)

        if self.input is not None:
            yield WholeExchange(self.available, "available")
            yield from (work(f"read {n}", run.input_fields, run.read()) for n in (0, 1))
            yield from (WholeExchange(self.input, f"input {n}") for n in (0, 1))
        for i in range(run.intervals):
            if i >= self._slots:  # the model announces its next output as soon as there is room for it
                yield self.rooms[i % self._slots].wait(f"told {i - self._slots}")
            yield WholeExchange(self.outputs[i % self._slots], f"collect {i}")
            yield work(f"write {i}", run.fields, run.written())
            if i < run.intervals - self._slots:
                yield WholeExchange(self.written, f"written {i}")
                yield self.rooms[i % self._slots].start(f"room {i}")
            if self.input is not None and i + 2 <= run.intervals:
                yield work(f"read {i + 2}", run.input_fields, run.read())
                yield WholeExchange(self.input, f"input {i + 2}")
