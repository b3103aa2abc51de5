"""The cases of plans on the host, each carried out on a fake device, too; run by test_mpi_device.py."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any
from unittest import mock

import numpy as np
from fake_device import Array, Driver
from ranks_problems import problems_of

from tradewind.base.errors import PlanError
from tradewind.mpi import planning

_plan = planning.plan
_SEEDS = 4
_PATIENCE_S = 10.0
"""How long a rank waits for another one, whose checksum may have differed in the stage before."""


class Twin:
    """A plan on arrays of the host, and the same plan on a device: both must leave the same bits."""

    def __init__(
        self,
        driver: Driver,
        mpi_takes: bool,
        own: dict[str, str],
        what: Any,
        comm: Any,
        fields: Any,
        target: Any = None,
        **options: Any,
    ) -> None:
        self.driver, self.stream, self.comm = driver, driver.stream(), comm
        self.host = _plan(what, comm, fields, target, **options)
        self.arrays = [*_listed(fields), *_listed(target)]
        self.twins = [Array(driver, array, self.stream) for array in self.arrays]
        sources, targets = self.twins[: len(_listed(fields))], self.twins[len(_listed(fields)) :]
        if options.get("algorithm") != "native":
            options |= own
        if options.get("check"):
            options["watchdog_s"] = _PATIENCE_S
        self.plan = _plan(what, comm, sources, targets or None, **options)
        self.checked = bool(options.get("check"))
        self.expected = _staging(self.plan, mpi_takes)
        assert self.plan.staging.startswith(self.expected), self.plan.staging
        assert self.plan.stream == self.stream
        assert (self.host.staging, self.host.stream) == ("", 0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.host, name)

    def __repr__(self) -> str:
        return repr(self.host)

    def __call__(self) -> None:
        self._write()
        self._together(self._call)
        self.host()
        self._compare()

    def _call(self) -> None:
        before = self.driver.count("to host")
        self.plan()
        staged = self.driver.count("to host") - before
        if self.expected == _STAGED:
            assert staged >= self.plan.bytes_sent
        elif self.expected in (_DIRECT, _NCCL) and not self.checked:
            assert staged == 0, "staged in silence"

    def _together(self, work: Callable[[], Any]) -> None:
        """Raise on all ranks what one of them meets: the others would wait for it in the plan on the host."""
        problem = ""
        try:
            work()
        except (PlanError, AssertionError) as error:
            problem = str(error)
        on_ranks = self.comm.allgather(problem)
        assert not any(on_ranks), on_ranks

    def start(self) -> None:
        self._write()
        self._together(self.plan.start)
        self.host.start()

    def poke(self) -> bool:
        self.plan.poke()
        return self.host.poke()

    def wait(self) -> None:
        self._together(self.plan.wait)
        self.host.wait()
        self._compare()

    def _write(self) -> None:
        for twin, array in zip(self.twins, self.arrays, strict=True):
            twin.write(array)

    def _compare(self) -> None:
        """Collective, so that no rank waits for one that has left the case."""
        pairs = enumerate(zip(self.twins, self.arrays, strict=True))
        wrong = [number for number, (twin, array) in pairs if twin.read().tobytes() != array.tobytes()]
        on_ranks = self.comm.allgather(wrong)
        assert not any(on_ranks), f"other bits in arrays {on_ranks} of {self.host.describe()}"


_STAGED, _DIRECT, _PUSHES = "staged through pinned memory", "direct: MPI takes", "within the node pushes"
_NCCL = "from device to device by"


def _staging(plan: Any, mpi_takes: bool) -> str:
    """How the messages of a plan on a device must go."""
    if plan.transport in (by := {"shared": _PUSHES, "nccl": _NCCL}):
        return by[plan.transport]
    windows = plan.transport.startswith(("put", "get"))
    return _DIRECT if mpi_takes and not windows and plan.packing != "datatype" else _STAGED


def _listed(fields: Any) -> list[Any]:
    return [] if fields is None else [fields] if isinstance(fields, np.ndarray) else list(fields)


def run(comm: Any, payload: dict[str, Any]) -> dict[str, str]:
    """Runs every so manieth case of a module, with plans and their twins; by name what went wrong.

    `own`: options of the twins alone, but for MPI's own collectives.
    """
    driver = Driver(payload["driver"])
    module = importlib.import_module(payload["module"])
    cases: list[tuple[str, Callable[[Any], str]]]
    if payload["module"] == "mpi_cases":
        cases = [(case.name, partial(module._run_one, case)) for case in module.cases(comm.size)]
    else:
        cases = [(name, case) for name, case in module.cases(comm.size).items() if "refus" not in name]
    chosen = [(name, partial(_seeded, driver, n, case)) for n, (name, case) in enumerate(cases)]
    twin = partial(Twin, driver, payload["mpi_takes"], payload["own"])
    with mock.patch.object(planning, "plan", twin), mock.patch("tradewind.mpi.plan", twin):
        return problems_of(comm, chosen[:: payload["every"]])


def _seeded(driver: Driver, number: int, case: Callable[[Any], str], comm: Any) -> str:
    driver.library.fake_seed((number + comm.rank) % _SEEDS)
    return case(comm)
