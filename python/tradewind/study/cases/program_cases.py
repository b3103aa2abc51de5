"""Cases of programs: a model's time step, simulated on a machine."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from tradewind.base.errors import gathered
from tradewind.study.cases.bases import NO_BASES, Bases
from tradewind.study.cases.case import Case
from tradewind.study.cases.machine_options import machine_options
from tradewind.study.cases.model_step import ModelStep
from tradewind.study.model.program_model import ProgramSweep
from tradewind.study.model.skip import Skip


def expand_programs(sweep: ProgramSweep, study_seed: int, bases: Bases = NO_BASES) -> Iterator[Case | Skip]:
    """Yield all cases of a sweep, and the skipped ones: a layout with more parts than points."""
    same: dict[str, Any] = {"grid": sweep.grid, "fields": sweep.fields, "dtype": sweep.dtype}

    def options_of(filled: ProgramSweep) -> Iterator[dict[str, Any]]:
        return machine_options(filled, filled.machine, study_seed)

    for ranks in sweep.ranks:
        for split, point_time, line_time, (options, under) in itertools.product(
            sweep.splits(ranks), sweep.point_time, sweep.line_time, bases.options(sweep, options_of)
        ):
            varied: dict[str, Any] = {"ranks": ranks, "split": split, "point_time": point_time, "line_time": line_time}
            step = ModelStep(**same, **varied, parts=tuple(sweep.step), exchanges=tuple(sweep.exchange))
            case = Case(sweep.name, "simulate", step, options, under)
            refusals: list[str] = []
            with gathered(refusals):
                step.program()
            yield Skip(sweep.name, case.name, "; ".join(refusals)) if refusals else case
