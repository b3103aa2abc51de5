"""Tries the methods for a pattern on real MPI ranks, and chooses the fastest. Every rank chooses alike."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradewind import _core, mpi
from tradewind.base.collective import attempt, check_communicator, collective, collective_errors, on_root, proceed
from tradewind.base.errors import InputError
from tradewind.base.units import format_seconds
from tradewind.launch import worker
from tradewind.launch.measure import ExchangeArrays, check_ranks, check_results, provenance
from tradewind.launch.quiet import QuietWatch, cores_here
from tradewind.method.memories import PRIVATE, SHARED
from tradewind.method.method import PARTS, Method, default_method, methods
from tradewind.method.tuning import NOISE, keep, request_of
from tradewind.mpi.fields import host_arrays
from tradewind.mpi.host import host_of
from tradewind.mpi.levels import levels_of, with_equal_levels
from tradewind.mpi.library import MPI, Plan, _mpi
from tradewind.workload.exchange import Exchange

if TYPE_CHECKING:
    from tradewind.mpi.library import Array

Row = dict[str, Any]
Report = Callable[[Any], None]


@dataclass(frozen=True)
class Terms:
    """Terms of the trials. Raises InputError."""

    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    warmup: int = 3
    trials: int = 20
    give_up: float = 3.0

    def __post_init__(self) -> None:
        problems = []
        if self.warmup < 0 or self.trials < 1:
            problems.append(f"warmup {self.warmup}, trials {self.trials}: at least 0 and 1 are allowed")
        if not self.give_up >= 1:
            problems.append(f"give up {self.give_up}: a factor of 1 or more is allowed")
        if problems:
            raise InputError(*problems)


@collective
def tune(
    pattern: _core.Pattern,
    comm: MPI.Intracomm,
    fields: Array | Sequence[Array],
    target: Array | Sequence[Array] | None = None,
    *,
    dims: str = "zyx",
    axis: int = -1,
    operation: str = "sum",
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    warmup: int = 3,
    trials: int = 20,
    give_up: float = 3.0,
    tuning: str | Path | None = None,
) -> tuple[Method, dict[str, Any]]:
    """Try the methods for a pattern on a model's own arrays, and return the fastest. Collective.

    Arrays, `dims`, `axis`, `operation`: those of `tradewind.mpi.plan`; what arrays hold is put back at the end (their
    copies take as much memory again). The entry is about shared arrays where those of rank 0 are (see
    `tradewind.empty`). For `include` and `exclude` see `tradewind.method.method.methods`. `warmup` exchanges and
    `trials` samples of each method; one sample is the slowest rank's time. A method whose two first trials take more
    than `give_up` times the best median so far is given up. `tuning`: a file into which rank 0 puts the entry.

    Returns the choice and the table of what was tried (see the JSON output of tune). Rank 0's include, exclude and
    figures count. Raises InputError, on all ranks, where the arrays do not fit or nothing is left to try.
    """
    check_communicator(comm)
    if not isinstance(pattern, _core.Pattern):
        raise InputError(f"{pattern!r} is no pattern")
    default = default_method(pattern.name)
    proceed(comm)
    terms = on_root(comm, lambda: Terms(tuple(include), tuple(exclude), warmup, trials, give_up))

    def make(method: Method) -> Plan:
        return mpi.plan(pattern, comm, fields, target, dims=dims, axis=axis, operation=operation, **_parts(method))

    plan, refusal = attempt(comm, lambda: make(default))
    if plan is None:
        raise InputError(refusal)
    memory = SHARED if plan.in_shared_memory else PRIVATE
    del plan
    arrays, targets = host_arrays("source", fields), [] if target is None else host_arrays("target", target)
    equal = with_equal_levels(pattern, comm.Get_rank(), arrays, targets, dims, axis)
    if pattern.has_levels:  # by their levels plans find what was tuned
        pattern = pattern.for_levels(levels_of(equal.sources[0], equal.axis))
    written = targets or arrays
    with collective_errors(comm):
        copies = [array.copy() for array in written]
    proceed(comm)
    with _put_back(written, copies, zeros=pattern.reduces):
        table = try_methods(comm, pattern, make, terms)
    table |= {"request": request_of(pattern, arrays[0].dtype.str[1:], len(equal.sources), memory)} | circumstances(comm)
    on_root(comm, lambda: None if tuning is None else keep(Path(tuning), [table], table))
    return Method(**table["choice"]), table


def _parts(method: Method) -> dict[str, Any]:
    """The parts of a method that are not open, as `plan` takes them."""
    return {part: name for part, name in asdict(method).items() if name is not None}


@contextmanager
def _put_back(arrays: Sequence[Array], copies: Sequence[Array], *, zeros: bool) -> Iterator[None]:
    """Restores what arrays held. `zeros` in the meantime, for what is summed up again and again would grow."""
    try:
        for array in arrays if zeros else []:
            array[...] = 0
        yield
    finally:
        for array, copy in zip(arrays, copies, strict=True):
            array[...] = copy


def tune_exchange(comm: MPI.Intracomm, payload: dict[str, Any]) -> dict[str, Any]:
    """Tunes each schedule of an exchange as `tradewind.launch.tune` asks. Collective; the result counts on rank 0."""
    exchange = Exchange.from_plain(payload["exchange"])
    check_ranks(comm, exchange)
    terms = Terms(**payload["terms"])
    report = worker.report_progress if payload["report"] and comm.Get_rank() == 0 else None
    watch = QuietWatch(comm)
    names = dict.fromkeys(step.name for step in exchange.steps())
    tuned = [
        _tune_step(comm, exchange, name, memory, terms, report, checked=payload["check"])
        for name in names
        for memory in payload["memories"]
    ]
    quiet = {"quiet": watch.result()}
    return {"tuned": tuned, "checked": payload["check"], "ranks": exchange.ranks, **circumstances(comm), **quiet}


def _tune_step(
    comm: MPI.Intracomm,
    exchange: Exchange,
    name: str,
    memory: str,
    terms: Terms,
    report: Report | None,
    *,
    checked: bool,
) -> dict[str, Any]:
    alone = exchange.alone(name)
    data = ExchangeArrays(alone, comm.Get_rank(), memory)
    pattern, (source, target) = data.patterns[name], data.arrays[name]

    def make(method: Method) -> Plan:
        return mpi.plan(pattern, comm, source, target, **_parts(method))

    def check(plan: Plan, method: Method) -> None:
        if checked:
            check_results(comm, data, {name: plan}, str(method))

    table = try_methods(comm, pattern, make, terms, repeat=exchange.times, check=check, report=report)
    return {"step": name, "request": request_of(pattern, exchange.dtype, exchange.fields, memory), **table}


def try_methods(
    comm: MPI.Intracomm,
    pattern: _core.Pattern,
    make: Callable[[Method], Plan],
    terms: Terms,
    *,
    repeat: int = 1,
    check: Callable[[Plan, Method], None] | None = None,
    report: Report | None = None,
) -> dict[str, Any]:
    """Measures every method that `terms` allow, one plan at a time. Collective.

    `repeat`: exchanges in a row in one sample. `check` is called before a plan is measured. Returns ``choice`` (the
    minimum median), ``median_s``, ``min_s``, ``default_s`` (None where the default method was not measured), ``noisy``,
    ``results`` by ascending median and ``left_out``. Samples are the maximum over ranks, so all ranks choose alike.
    """
    found, refused = on_root(comm, lambda: methods(pattern, terms.include, terms.exclude))
    results: list[Row] = []
    left_out = [_left_out(method, reason) for method, reason in refused]
    for number, method in enumerate(found):
        if report is not None:
            report({"tried": number, "methods": len(found), "method": str(method)})
        best_s = min((row["median_s"] for row in results), default=None)
        row = _tried(comm, method, make, check, terms, repeat, best_s)
        (results if "median_s" in row else left_out).append(row)
    if not results:
        raise InputError(*dict.fromkeys(row["reason"] for row in left_out))
    return {"pattern": pattern.describe()} | _ranked(results, default_method(pattern.name)) | {"left_out": left_out}


def _tried(
    comm: MPI.Intracomm,
    method: Method,
    make: Callable[[Method], Plan],
    check: Callable[[Plan, Method], None] | None,
    terms: Terms,
    repeat: int,
    best_s: float | None,
) -> Row:
    """A row of results, or of what is left out. The plan is gone at the end: the next one needs its memory."""
    plan, refusal = attempt(comm, partial(make, method))
    if plan is None:
        return _left_out(method, refusal)
    if check is not None:
        check(plan, method)

    def samples(warmup: int, count: int) -> list[float]:
        return _mpi.measure(comm.py2f(), [(plan, repeat)], warmup, count)[0]

    limit_s = math.inf if best_s is None else terms.give_up * best_s
    first_s = samples(0, 1)[0]
    if first_s > limit_s:  # once more: something else may have run, or the first time takes longer
        first_s = min(first_s, samples(0, 1)[0])
    if best_s is not None and first_s > limit_s:
        reason = f"given up: a first trial took {format_seconds(first_s)}, {first_s / best_s:.1f} times the best so far"
        return _left_out(method, reason, first_s)
    seconds = samples(terms.warmup, terms.trials)
    return {**asdict(method), "median_s": statistics.median(seconds), "min_s": min(seconds), "samples_s": seconds}


def _left_out(method: Method, reason: str, first_s: float | None = None) -> Row:
    return {**asdict(method), "reason": reason, "first_s": first_s}


def _ranked(results: list[Row], default: Method) -> dict[str, Any]:
    results = sorted(results, key=lambda row: float(row["median_s"]))
    best = results[0]
    defaults = [row["median_s"] for row in results if asdict(default).items() <= row.items()]
    return {
        "choice": {part: best[part] for part in PARTS},
        "median_s": best["median_s"],
        "min_s": best["min_s"],
        "default_s": defaults[0] if defaults else None,
        "noisy": best["median_s"] > NOISE * best["min_s"],
        "results": [row | {"ratio": row["median_s"] / best["median_s"]} for row in results],
    }


def circumstances(comm: MPI.Intracomm) -> dict[str, Any]:
    """Return the host of the ranks, their cores and software. Collective."""
    cores = cores_here(comm)
    per_core = mpi.ranks_per_core(comm, cores)
    return {
        "site": asdict(host_of(comm)),
        "cores": cores,
        "ranks_per_core": per_core,
        "oversubscribed": per_core > 1,
        "provenance": provenance(),
    }
