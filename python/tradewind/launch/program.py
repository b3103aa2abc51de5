"""Running a program on MPI ranks: real arrays are exchanged, checked against the expected result, and timed."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tradewind.base.errors import InputError, PlanError, VerificationError
from tradewind.base.reading import read_text
from tradewind.dwarfs.frame.step import kernel
from tradewind.launch import flops, job
from tradewind.launch.quiet import warnings_of
from tradewind.workload.program import Compute, Exchanged, Poke, ProgramWorkload, Start, Wait
from tradewind.workload.program_file import load_program
from tradewind.workload.steps import GroupStep

if TYPE_CHECKING:
    from mpi4py import MPI

    from tradewind.dwarfs.frame.step import Kernel, Operations
    from tradewind.mpi.library import Plan
    from tradewind.workload.arrays import Array

_STREAM_BYTES = 32 * 2**20
"""Size of the array that stands for a computation's memory: beyond most caches."""


def bench_program(
    path: str | Path,
    ranks: int | None = None,
    *,
    repeat: int = 20,
    warmup: int = 3,
    check: bool = True,
    watchdog_s: float = 0.0,
    timeout_s: float | None = None,
) -> dict[str, Any]:
    """Run a program file on real MPI ranks, on arrays of its sizes.

    Each exchange has a plan, with the transport and packing that the file names; its arrays hold known numbers. `check`
    compares what arrives with the expected result, bit for bit, in a pass before anything is timed. Computations take
    as long as in the file: seconds and the time of points by looking at the clock, bytes by copies of memory, flops
    by multiplications and additions. `watchdog_s`: an exchange that waits longer is an error that names it. Starts the
    ranks, or where this process is one of them, is one.

    Returns ``median_s``, ``min_s`` and ``samples_s`` (the slowest rank, all time steps), ``steps`` (median seconds of
    the slowest rank, by step), ``stages``, ``messages`` and ``bytes`` of all ranks in one pass, by exchange and in all,
    for each exchange whether its transport goes on at pokes, and ``warnings``: why the times should not be trusted.
    Raises InputError, VerificationError, PlanError.
    """
    if repeat < 1 or warmup < 0:
        raise InputError(f"repeat {repeat}, warmup {warmup}: at least 1 and 0 are allowed")
    text = read_text(Path(path))
    program = load_program(path, text, ranks)
    if program.has_files:
        raise InputError(f"{path}: encode, compress, decode, write and read are simulated, and not run")
    payload = {
        "path": str(path),
        "text": text,
        "repeat": repeat,
        "warmup": warmup,
        "check": check,
        "watchdog_s": watchdog_s,
    }
    result: dict[str, Any] = job.on_ranks(program.ranks, f"{__name__}:take_part", payload, timeout_s=timeout_s)
    return {**result, "warnings": warnings_of(result, [result["samples_s"]], "--repeat 100")}


def take_part(comm: MPI.Intracomm, payload: dict[str, Any]) -> dict[str, Any]:
    """Run the program as one of the ranks. Collective; the result counts on rank 0."""
    from tradewind.launch.measure import circumstances
    from tradewind.launch.quiet import QuietWatch

    program = load_program(payload["path"], payload["text"])
    if comm.Get_size() != program.ranks:
        raise InputError(f"{comm.Get_size()} ranks were started for a program of {program.ranks}")
    watch = QuietWatch(comm)
    running = ProgramRun(program, comm, payload["watchdog_s"])
    if payload["check"]:
        running.check()
    for _ in range(payload["warmup"]):
        running.run()
    samples, steps = [], []
    for _ in range(payload["repeat"]):
        comm.Barrier()
        begin = perf_counter()
        steps.append(running.run())
        samples.append(perf_counter() - begin)
    slowest = [max(each) for each in zip(*comm.allgather(samples), strict=True)]
    return {
        **program.as_dict(),
        "median_s": statistics.median(slowest),
        "min_s": min(slowest),
        "samples_s": slowest,
        "steps": _slowest_steps(comm, running, steps),
        **running.counts(),
        **circumstances(comm, watch, checked=payload["check"]),
    }


def _slowest_steps(comm: MPI.Intracomm, running: ProgramRun, samples: list[list[float]]) -> dict[str, float]:
    """Return, by step of each group, the median over the samples of the slowest rank's seconds."""
    medians = [statistics.median(column) for column in zip(*samples, strict=True)]
    found: dict[str, float] = {}
    names = [running.group.name, running.names]
    for group, labels, values in comm.allgather((*names, medians)):
        for label, value in zip(labels, values, strict=True):
            key = f"{group}: {label}" if len(running.program.groups) > 1 else label
            found[key] = max(found.get(key, 0.0), value)
    return found


@kernel(lambda _, compute: compute.flops, lambda _, compute: compute.bytes)
def stand_in(running: ProgramRun, points: str, compute: Compute) -> None:
    """A loop that takes as long as a computation says."""
    running.computing.run(compute)


def replay(operation: GroupStep, step: Operations, once: bool = False) -> None:
    """Carry out an operation of a program, as a strategy would. `once`: an exchange that it repeats."""
    exchange = _exchange_of(operation)
    if exchange is None and not isinstance(operation, Compute):
        step.poke()
        return
    if isinstance(operation, Start | Wait):
        (step.start if isinstance(operation, Start) else step.wait)(operation.exchange.name)
        return
    compute = operation if isinstance(operation, Compute) else getattr(operation, "compute", None)
    for _ in range(1 if once and exchange is not None else getattr(operation, "repeat", 1)):
        if exchange is None:
            step.compute(stand_in, compute)
        elif compute is None:
            step.exchange(exchange.name)
        else:
            step.start(exchange.name)
            step.compute(stand_in, compute)
            step.wait(exchange.name)


class ProgramRun:
    """A program on one rank: its plans, its arrays, and the operations of its steps, see `Operations`."""

    def __init__(self, program: ProgramWorkload, comm: MPI.Intracomm, watchdog_s: float = 0.0) -> None:
        self.program = program
        self.comm = comm
        self.rank = comm.Get_rank()
        self.group = next(group for group in program.groups if self.rank in program.members(group))
        self.computing = _Computing(program.members(self.group).index(self.rank), self.group.ranks)
        self._fields: dict[tuple[str, tuple[int, ...], str], Array] = {}
        named = [name for exchange in program.exchanges for name in (*_names(exchange.fields), *exchange.into)]
        self._numbers = {name: number for number, name in enumerate(dict.fromkeys(named))}
        self.bound: dict[str, _Bound] = {}
        for exchange in program.exchanges:
            ranks = program.ranks_of(exchange)
            takes_part = self.rank in ranks
            own = cast("MPI.Intracomm", comm.Split(0 if takes_part else 1, self.rank))
            if takes_part:
                self.bound[exchange.name] = _Bound(
                    exchange, own, ranks.index(self.rank), self._fields, self._numbers, watchdog_s
                )
        self.names = [name for name, _ in self._operations()]

    def _operations(self) -> Iterator[tuple[str, GroupStep]]:
        """Each step with its name, as simulations show it."""
        names = [step.name for step in self.program.steps()]
        before = sum(len(group.steps) for group in self.program.groups[: self.program.groups.index(self.group)])
        for i, step in enumerate(self.group.steps):
            name = names[before + i]
            yield name.removeprefix(f"{self.group.name}: ") if len(self.program.groups) > 1 else name, step

    def run(self) -> list[float]:
        """Do all steps; return the seconds of each of them on this rank, of all repetitions together."""
        seconds = [0.0] * len(self.group.steps)
        for _ in range(self.group.repeat):
            for i, step in enumerate(self.group.steps):
                begin = perf_counter()
                replay(step, self)
                seconds[i] += perf_counter() - begin
        return seconds

    def check(self) -> None:
        """Do all steps once, on known numbers. Raises VerificationError on all ranks where one differs.

        Groups whose steps are repeated another number of times meet as often as they do in the smallest part of the
        program that is repeated.
        """
        wrong = ""
        alone = len(self.program.groups) == 1
        passes = self.group.repeat // math.gcd(*(group.repeat for group in self.program.groups))
        for step in [*self.group.steps] * passes:
            exchange = _exchange_of(step)
            if exchange is not None and not isinstance(step, Wait):
                self.bound[exchange.name].refill()
            replay(step, self, once=alone)
            if exchange is not None and not isinstance(step, Start):
                wrong = wrong or self.bound[exchange.name].wrong()
        problems = [text for text in self.comm.allgather(wrong) if text]
        if problems:
            raise VerificationError(*problems)

    def exchange(self, name: str, of: Any = "", label: str = "") -> None:
        """Carry out an exchange."""
        self.bound[name].call()

    def start(self, name: str, of: Any = "", label: str = "") -> None:
        """Start an exchange."""
        self.bound[name].start()

    def wait(self, name: str, label: str = "") -> None:
        """Wait until an exchange that was started has ended."""
        self.bound[name].wait()

    def poke(self) -> None:
        """Let all exchanges that are open go on, as far as they can without waiting."""
        for bound in self.bound.values():
            bound.poke()

    def compute(self, kernel: Kernel, *arguments: Any, points: Any = "own", label: str = "") -> None:
        """Call the loop of a computation."""
        kernel.loop(self, points, *arguments)

    def counts(self) -> dict[str, Any]:
        """Return the counts of all ranks in one pass, by exchange and in all. Collective."""
        rows = []
        for exchange in self.program.exchanges:
            bound, times = self.bound.get(exchange.name), self.program.times(exchange)
            own = (0, 0, False) if bound is None else (bound.plan.messages, bound.plan.bytes_sent, bound.plan.pokes)
            sums = self.comm.allgather(own)
            rows.append(
                {
                    "name": exchange.name,
                    "algorithm": exchange.core.algorithm,
                    "transport": exchange.transport,
                    "packing": exchange.packing,
                    "times": times,
                    "stages": exchange.core.stages * times,
                    "messages": sum(each[0] for each in sums) * times,
                    "bytes": sum(each[1] for each in sums) * times,
                    "goes_on_at_pokes": any(each[2] for each in sums),
                }
            )
        return {"exchanges": rows} | {key: sum(row[key] for row in rows) for key in ("stages", "messages", "bytes")}


def _names(fields: int | Sequence[str]) -> list[str]:
    return [] if isinstance(fields, int) else list(fields)


def _exchange_of(step: GroupStep) -> Exchanged | None:
    if isinstance(step, Exchanged):
        return step
    if isinstance(step, Compute):
        return step.during if isinstance(step.during, Exchanged) else None
    return None if isinstance(step, Poke) else step.exchange


class _Bound:
    """An exchange with its arrays and its plan. An error of its plan names it."""

    def __init__(
        self,
        exchange: Exchanged,
        comm: MPI.Intracomm,
        rank: int,
        fields: dict[tuple[str, tuple[int, ...], str], Array],
        numbers: dict[str, int],
        watchdog_s: float,
    ) -> None:
        from tradewind.mpi.planning import plan
        from tradewind.workload.arrays import arrays_of

        self.exchange = exchange
        self.rank = rank
        self.pattern = exchange.core.pattern
        self.known = arrays_of(self.pattern)
        # The numbers in a field follow from its name, whichever exchange sees it.
        names = _names(exchange.fields)
        self.numbers = [numbers[name] for name in names] if names else list(range(exchange.count))
        self.sources = self._arrays(fields, False)
        self.targets = None if self.pattern.in_place else self._arrays(fields, True)
        self.plan: Plan = self._named(
            lambda: plan(
                exchange.core,
                comm,
                self.sources,
                self.targets,
                transport=exchange.transport,
                packing=exchange.packing,
                operation=exchange.operation,
                watchdog_s=watchdog_s,
            )
        )

    def _arrays(self, fields: dict[tuple[str, tuple[int, ...], str], Array], target: bool) -> list[Array]:
        """Those of a field with a name are the same for all exchanges that see it in one shape."""
        names = self.exchange.into if target else self.exchange.fields
        named = _names(names)
        arrays = []
        for number in range(self.exchange.count):
            array = self._fresh(number, target)
            if number < len(named):
                array = fields.setdefault((named[number], array.shape, self.exchange.dtype), array)
            arrays.append(array)
        return arrays

    def _fresh(self, field: int, target: bool) -> Array:
        if not target:
            return self.known.source(self.pattern, self.rank, self.numbers[field], self.exchange.dtype)
        array = self.known.target(self.pattern, self.rank, self.exchange.dtype)
        assert array is not None
        return array

    def refill(self) -> None:
        """Put known numbers where the exchange reads."""
        for arrays, target in ((self.sources, False), (self.targets or [], True)):
            for field, array in enumerate(arrays):
                array[...] = self._fresh(field, target).reshape(array.shape)

    def wrong(self) -> str:
        """Return the first difference from the expected result; "" where there is none."""
        for field, array in enumerate(self.targets or self.sources):
            wanted = self._reference(field)
            different = np.argwhere(array != wanted.reshape(array.shape))
            if len(different):
                place = tuple(int(i) for i in different[0])
                return (
                    f"rank {self.rank}, exchange {self.exchange.name!r}, field {field}: {len(different)} of "
                    f"{array.size} elements differ from the expected result, first {array[place]} at {place}"
                )
        return ""

    def _reference(self, field: int) -> Array:
        dtype, number = self.exchange.dtype, self.numbers[field]
        if self.pattern.name != "allreduce" or self.exchange.operation == "sum":
            return self.known.expected(self.pattern, self.rank, number, dtype)
        ufunc = {"min": np.minimum, "max": np.maximum, "prod": np.multiply}[self.exchange.operation]
        values = [self.known.source(self.pattern, rank, number, dtype) for rank in range(self.pattern.ranks)]
        return np.asarray(ufunc.reduce(values), dtype)

    def start(self) -> None:
        self._named(self.plan.start)

    def wait(self) -> None:
        self._named(self.plan.wait)

    def call(self) -> None:
        self._named(self.plan)

    def poke(self) -> None:
        if self.plan.in_flight:
            self._named(self.plan.poke)

    def _named(self, do: Callable[[], Any]) -> Any:
        try:
            return do()
        except PlanError as error:
            raise PlanError(f"exchange {self.exchange.name!r}: {error}") from None


class _Computing:
    """Stands for computations: takes their time and their memory traffic."""

    def __init__(self, rank: int, ranks: int) -> None:
        self.rank = rank
        self.ranks = ranks
        self._stream = np.ones(0)
        self._target = np.ones(0)
        self._small = flops.values()

    def run(self, compute: Compute) -> None:
        points = compute.points_of(self.rank)
        end = perf_counter() + compute.seconds + compute.point_s * points
        self._copy(int(compute.bytes * points))
        flops.do_flops(self._small, int(compute.flops * points))
        while perf_counter() < end:
            pass

    def _copy(self, size: int) -> None:
        """Read and write `size` bytes together."""
        if size and not self._stream.size:
            self._stream, self._target = np.ones(_STREAM_BYTES // 8), np.ones(_STREAM_BYTES // 8)
        while size > 0:
            count = min(size // 16 + 1, self._stream.size)
            self._target[:count] = self._stream[:count]
            size -= 16 * count
