"""Cases of output: a model that writes and reads files, simulated on a machine with those who write."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from tradewind.study.cases.bases import NO_BASES, Bases
from tradewind.study.cases.case import Case
from tradewind.study.cases.machine_options import machine_options
from tradewind.study.model.output_model import OutputSweep
from tradewind.study.model.skip import Skip
from tradewind.workload.output_request import COLLECTIVE, IN_PLACE, NO_OUTPUT, SERVERS, THREADS
from tradewind.workload.output_run import OutputRun

_COMMON = ("grid", "ranks", "point_time", "steps", "intervals")
_WRITTEN = ("fields", "input_fields", "bits", "compress")
KEYS = {
    NO_OUTPUT: _COMMON,
    IN_PLACE: (*_COMMON, *_WRITTEN, "writers"),
    COLLECTIVE: (*_COMMON, *_WRITTEN, "writers"),
    THREADS: (*_COMMON, *_WRITTEN, "writers", "queue", "slowdown"),
    SERVERS: (*_COMMON, *_WRITTEN, "servers", "threads", "queue"),
}
"""The keys of a sweep that multiply the cases of each way; others do not apply to it."""
_UNUSED: dict[str, Any] = {"fields": 1, "bits": 64, "compress": 1.0}
"""Values of a run without output."""


def expand_output(sweep: OutputSweep, study_seed: int, bases: Bases = NO_BASES) -> Iterator[Case | Skip]:
    """Yield all cases of a sweep, and the skipped ones: ranks that do not divide the grid, more writers than levels."""

    def options_of(filled: OutputSweep) -> Iterator[dict[str, Any]]:
        return machine_options(filled, filled.machine, study_seed)

    for way in sweep.way:
        keys = KEYS[way]
        for values in itertools.product(*(getattr(sweep, key) for key in keys)):
            asked = {**_UNUSED, **dict(zip(keys, values, strict=True))}
            asked["steps_between"] = asked.pop("steps")
            run = OutputRun(**asked, way=way, dtype=sweep.dtype, encode=sweep.encode)
            refusals = run.problems()
            for options, under in bases.options(sweep, options_of):
                case = Case(sweep.name, "simulate", run, options, under)
                yield Skip(sweep.name, case.name, "; ".join(refusals)) if refusals else case
