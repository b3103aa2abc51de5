"""The functions that compute the cases of a study in earnest."""

from __future__ import annotations

from functools import partial

from tradewind.launch.benchmark import bench_methods
from tradewind.launch.dwarf import run
from tradewind.launch.samples import combined
from tradewind.simulation import forecast, model_version, simulate
from tradewind.study.plan.planned import Executors
from tradewind.verification import verify


def default_executors() -> Executors:
    """Verification and simulation in this program, measurement on MPI ranks that it starts."""
    return Executors(
        verify=verify,
        bench=bench_methods,
        combine=combined,
        simulate=partial(simulate, warn=False),
        run=run,
        forecast=forecast,
        model_version=model_version,
    )
