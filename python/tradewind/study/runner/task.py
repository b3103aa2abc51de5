"""One case as a worker meets it: all that it needs to answer, and what comes back. Both cross between processes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace

from tradewind.base.errors import TradewindError
from tradewind.machine import MachineFile, load_machine
from tradewind.method.method import NATIVE, Choice
from tradewind.simulation import Progress
from tradewind.study.cases.case import Case
from tradewind.study.cases.dwarf_case import DwarfCase
from tradewind.study.cases.environment import Environment
from tradewind.study.cases.program_case import ProgramCase
from tradewind.study.plan.planned import Planned, Result, simulation_options

LARGE_S = 2.0
"""A simulation that takes longer on one core may get more: all cores of its Dask worker, or see `core_allocation`."""


@dataclass(frozen=True)
class Task:
    """A case, who answers it, and with how many threads."""

    planned: Planned
    executor: Callable[..., Result]
    threads: int = 1
    machine: MachineFile | None = None
    """The machine that is simulated, as it is written here: a worker may lie on another computer."""

    @property
    def key(self) -> str:
        return self.planned.key

    @property
    def memory_bytes(self) -> float:
        """Bytes that the case needs in addition to its worker, if known."""
        return float(self.planned.forecast["memory_bytes"]) if self.planned.forecast else 0.0

    @property
    def is_published(self) -> bool:
        """Whether the answer was known before; it was computed nowhere here."""
        return self.planned.case.kind == "published"

    def with_threads(self, threads: int) -> Task:
        return replace(self, threads=threads)


@dataclass(frozen=True)
class Answer:
    """Outcome of a case: a result or an error. Errors cross between processes as text."""

    result: Result | None
    error: str | None
    wall_s: float
    environment: dict[str, str | int | None] | None = None
    """Where it was computed; None: here."""


def make_task(planned: Planned, executor: Callable[..., Result]) -> Task:
    """The task of a case. Raises InputError where its machine file is no longer what it was."""
    if planned.machine is None:
        return Task(planned, executor)
    return Task(planned, executor, machine=load_machine(planned.machine, planned.case.options["settings"]))


def answer(task: Task, watch: Callable[[Progress], None] | None = None) -> Answer:
    """Computes a case; never raises what the case itself raises."""
    start = time.perf_counter()
    try:
        result, error = _execute(task, watch), None
    except TradewindError as problem:
        result, error = None, str(problem)
    except Exception as problem:
        result, error = None, f"{type(problem).__name__}: {problem}"
    nowhere = dict.fromkeys(field.name for field in fields(Environment)) if task.is_published else None
    return Answer(result, error, time.perf_counter() - start, nowhere)


def _execute(task: Task, watch: Callable[[Progress], None] | None) -> Result:
    case, options = task.planned.case, task.planned.case.options
    if isinstance(case, DwarfCase):
        return _execute_dwarf(task, case, watch)
    if isinstance(case, ProgramCase):
        return _execute_program(task, case, watch)
    if case.kind == "verify":
        return task.executor(case.exchange, transport=options["transport"])
    if case.kind == "simulate":
        chosen = {key: value for key, value in simulation_options(case).items() if key != "settings"}
        return task.executor(case.exchange, task.machine, threads=task.threads, progress=watch, **chosen)
    return result_of(task, task.executor(case.exchange, [way_of(task)], **samples_of(task)))


def way_of(task: Task) -> Choice:
    """How a measured case is carried out."""
    case = task.planned.case
    assert isinstance(case, Case)
    if case.algorithm == NATIVE:
        return Choice(NATIVE)
    return Choice(case.algorithm, case.options["transport"], case.options["packing"])


def samples_of(task: Task) -> dict[str, int]:
    """Return the number of samples and rounds of a measured case."""
    return {key: task.planned.case.options[key] for key in ("repeat", "rounds") if key in task.planned.case.options}


def result_of(task: Task, result: Result) -> Result:
    """Return the row of this case from a result of several methods. Raises TradewindError without one."""
    way = {part: name for part, name in asdict(way_of(task)).items() if name is not None}
    rows = [row for row in result["results"] if way.items() <= row.items()]
    if not rows:
        reasons = [str(item["reason"]) for item in result["skipped"] if way.items() <= item.items()]
        raise TradewindError(f"nothing was measured: {'; '.join(reasons)}")
    return {**result, "results": rows, "skipped": []}


def _execute_dwarf(task: Task, case: DwarfCase, watch: Callable[[Progress], None] | None) -> Result:
    """Return the result of a run; of a simulation also its steps, and its time outside the exchange."""
    options = case.options
    if case.kind == "published":
        return {"time_s": options["step_s"]}
    if case.kind == "run":
        return task.executor(case.dwarf, options["steps"], repeat=options["repeat"])
    steps = case.dwarf.steps_a_round
    result = _execute_program(task, case, watch)
    compute_s = result["compute_s"]
    return {**result, "steps": steps, "compute_s": None if compute_s is None else compute_s / steps}


def _execute_program(task: Task, case: DwarfCase | ProgramCase, watch: Callable[[Progress], None] | None) -> Result:
    """The simulation of a program, what of its time is not exchange, and of a model's step what one rank computes."""
    program = case.workload
    chosen = {key: value for key, value in simulation_options(case).items() if key != "settings"}
    result = task.executor(program, task.machine, threads=task.threads, progress=watch, **chosen)
    # Where exchange and computation overlap, nobody can say what of the time is which.
    compute = [result["step_time_s"][name] for name in program.only_computing]
    apart = len(compute) == program.computations
    alone = {"alone_s": case.alone_s} if isinstance(case, ProgramCase) else {}
    return {**result, "compute_s": sum(compute) if apart else None, **alone}
