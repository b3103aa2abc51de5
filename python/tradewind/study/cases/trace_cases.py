"""Cases of recorded programs: traces, replayed on a machine."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tradewind.study.cases.bases import NO_BASES, Bases
from tradewind.study.cases.case import Case
from tradewind.study.cases.machine_options import machine_options
from tradewind.study.cases.trace_request import TraceRequest
from tradewind.study.model.study import Study
from tradewind.study.model.trace_sweep import TraceSweep


def expand_traces(sweep: TraceSweep, study_seed: int, bases: Bases = NO_BASES) -> Iterator[Case]:
    """Yield all cases of a sweep."""

    def options_of(filled: TraceSweep) -> Iterator[dict[str, Any]]:
        return machine_options(filled, filled.machine, study_seed)

    for path, computing, allreduce in itertools.product(sweep.trace, sweep.computing, sweep.allreduce):
        request = TraceRequest(Path(path), computing, allreduce)
        for options, under in bases.options(sweep, options_of):
            yield Case(sweep.name, "simulate", request, options, under)


def trace_files(study: Study) -> list[Path]:
    """Return the traces that a study needs."""
    names = [name for sweep in study.sweep if isinstance(sweep, TraceSweep) for name in sweep.trace]
    return [Path(name) for name in dict.fromkeys(names)]
