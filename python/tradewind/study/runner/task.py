"""One case as a worker meets it: all that it needs, and what comes back. Both cross between processes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace

from tradewind.base.errors import TradewindError
from tradewind.machine import MachineFile, load_machine
from tradewind.method.method import Method
from tradewind.simulation import Progress
from tradewind.study.cases.environment import Environment
from tradewind.study.plan.planned import Planned, Result, simulation_options

LARGE_S = 2.0
"""A simulation that takes longer on one core may get more: all cores of its Dask worker, or see `core_allocation`."""


@dataclass(frozen=True)
class Task:
    """A case, which function computes it, and with how many threads."""

    planned: Planned
    executor: Callable[..., Result]
    threads: int = 1
    machine: MachineFile | None = None
    """The machine that is simulated, as it is written here: a worker may lie on another computer."""

    @property
    def key(self) -> str:
        """Key of the stored result."""
        return self.planned.key

    @property
    def memory_bytes(self) -> float:
        """Bytes that the case needs in addition to its worker, if known."""
        return float(self.planned.forecast["memory_bytes"]) if self.planned.forecast else 0.0

    @property
    def is_published(self) -> bool:
        """Whether the result was known before; it was computed nowhere here."""
        return self.planned.case.kind == "published"

    def with_threads(self, threads: int) -> Task:
        """Return the same task on `threads` threads."""
        return replace(self, threads=threads)


@dataclass(frozen=True)
class CaseResult:
    """Outcome of a case: a result or an error. Errors cross between processes as text."""

    result: Result | None
    error: str | None
    wall_s: float
    environment: dict[str, str | int | None] | None = None
    """Environment in which it was computed; None: this one."""


def make_task(planned: Planned, executor: Callable[..., Result]) -> Task:
    """The task of a case. Raises InputError where its machine file is no longer what it was."""
    if planned.machine is None:
        return Task(planned, executor)
    return Task(planned, executor, machine=load_machine(planned.machine, planned.case.options["settings"]))


def run_task(task: Task, watch: Callable[[Progress], None] | None = None) -> CaseResult:
    """Computes a case; never raises what the case itself raises."""
    start = time.perf_counter()
    try:
        result, error = _execute(task, watch), None
    except TradewindError as problem:
        result, error = None, str(problem)
    except Exception as problem:
        result, error = None, f"{type(problem).__name__}: {problem}"
    nowhere = dict.fromkeys(field.name for field in fields(Environment)) if task.is_published else None
    return CaseResult(result, error, time.perf_counter() - start, nowhere)


def _execute(task: Task, watch: Callable[[Progress], None] | None) -> Result:
    case, options = task.planned.case, task.planned.case.options
    if case.kind == "published":
        return {"time_s": options["step_s"]}
    if case.kind == "run":
        return task.executor(case.workload, options["steps"], repeat=options["repeat"])
    if case.kind == "verify":
        return task.executor(case.workload, transport=options["transport"])
    if case.kind == "simulate":
        chosen = {key: value for key, value in simulation_options(case).items() if key != "settings"}
        return case.workload.simulated(task.executor, task.machine, threads=task.threads, progress=watch, **chosen)
    return result_of(task, task.executor(case.workload, [method_of(task)], **samples_of(task)))


def method_of(task: Task) -> Method:
    """Return the method of a measured case."""
    case = task.planned.case
    if case.native:
        return Method(case.native)
    return Method(case.workload.as_dict()["algorithm"], case.options["transport"], case.options["packing"])


def samples_of(task: Task) -> dict[str, int]:
    """Return the number of samples and rounds of a measured case."""
    return {key: task.planned.case.options[key] for key in ("repeat", "rounds") if key in task.planned.case.options}


def result_of(task: Task, result: Result) -> Result:
    """Return the row of this case from a result of several methods. Raises TradewindError without one."""
    method = {part: name for part, name in asdict(method_of(task)).items() if name is not None}
    rows = [row for row in result["results"] if method.items() <= row.items()]
    if not rows:
        reasons = [str(item["reason"]) for item in result["skipped"] if method.items() <= item.items()]
        raise TradewindError(f"nothing was measured: {'; '.join(reasons)}")
    return {**result, "results": rows, "skipped": []}
