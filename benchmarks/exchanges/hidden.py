"""Reductions behind the operator and the preconditioner of the dwarf helmholtz: what of them is left to wait for."""

from __future__ import annotations

import statistics
from time import perf_counter
from typing import Any

import numpy as np

from tradewind import _core, mpi
from tradewind.dwarfs.helmholtz import Helmholtz
from tradewind.dwarfs.helmholtz.run import HelmholtzRun
from tradewind.mpi import MPI, Plan

METHODS = ("native", "recursive-2", "rabenseifner")
POKES = (0, 8, 50)


def hidden(comm: MPI.Intracomm, payload: dict[str, Any]) -> list[str]:
    """Lines. `payload`: grid, counts of doubles, samples. Each median is that of the slowest rank."""
    run = Helmholtz(comm.Get_size(), tuple(payload["grid"])).on(comm)
    lines = [f"{'x'.join(map(str, payload['grid']))} points, {comm.Get_size()} ranks, medians of {payload['samples']}"]
    for count in payload["counts"]:
        for algorithm in METHODS:
            array = np.zeros(count)
            plan = mpi.plan(_core.AllReduce(comm.Get_size(), count), comm, array, algorithm=algorithm)
            alone = _median(comm, [_alone(comm, plan) for _ in range(payload["samples"])])
            text = []
            for pokes in POKES:
                samples = [_behind(comm, run, plan, pokes) for _ in range(payload["samples"])]
                wait, poking, starting, computing = (
                    _median(comm, [sample[part] for sample in samples]) for part in range(4)
                )
                text.append(
                    f"{pokes} pokes: start {starting * 1e6:.1f}, pokes {poking * 1e6:.1f}, wait {wait * 1e6:.1f} us "
                    f"behind {computing * 1e3:.1f} ms; of the time alone {wait / alone:.2f} is left to wait, "
                    f"{(wait + poking + starting) / alone:.2f} in all calls"
                )
            lines.append(f"  {count} doubles, {algorithm}: alone {alone * 1e6:.1f} us; {'; '.join(text)}")
    return lines


def _median(comm: MPI.Intracomm, samples: list[float]) -> float:
    return statistics.median(max(each) for each in zip(*comm.allgather(samples), strict=True))


def _alone(comm: MPI.Intracomm, plan: Plan) -> float:
    comm.Barrier()
    begin = perf_counter()
    plan()
    return perf_counter() - begin


def _behind(comm: MPI.Intracomm, run: HelmholtzRun, plan: Plan, pokes: int) -> tuple[float, float, float, float]:
    """Seconds of this rank in the wait, in pokes, in the start, and in computing."""
    rows = [part for number in range(pokes + 1) for part in run.places((number, pokes + 1))]
    comm.Barrier()
    begin = perf_counter()
    plan.start()
    starting = perf_counter() - begin
    poking = computing = 0.0
    for number, part in enumerate(rows):
        if number:
            begin = perf_counter()
            plan.poke()
            poking += perf_counter() - begin
        begin = perf_counter()
        around = slice(part.start, part.stop + 2)
        _core.solve_columns(run.x.own[:, part], run.columns[:, part], run.vector("m").own[:, part], run.team)
        _core.helmholtz(run.x.whole[:, around], run.factors[:, part], run.vector("n").own[:, part], run.team)
        computing += perf_counter() - begin
    begin = perf_counter()
    plan.wait()
    return perf_counter() - begin, poking, starting, computing
