"""The cases of a study: every list of a sweep multiplies them."""

from __future__ import annotations

from collections.abc import Iterator

from tradewind.study.cases.bases import Bases, OwnMachine
from tradewind.study.cases.case import Case
from tradewind.study.cases.dwarf_cases import expand_dwarfs
from tradewind.study.cases.exchange_cases import AnySweep, expand_exchanges
from tradewind.study.cases.model_cases import expand_models
from tradewind.study.cases.output_cases import expand_output
from tradewind.study.cases.program_cases import expand_programs
from tradewind.study.cases.trace_cases import expand_traces
from tradewind.study.model.output_model import OutputSweep
from tradewind.study.model.program_model import ProgramSweep
from tradewind.study.model.skip import Skip
from tradewind.study.model.study import PublishedSweep, RunSweep, Study
from tradewind.study.model.trace_sweep import TraceSweep
from tradewind.study.model.weather_model_sweep import WeatherModelSweep


def expand(study: Study, own_machine: OwnMachine | None = None) -> tuple[list[Case], list[Skip]]:
    """Yield all cases of a study, and the skipped ones: a radix out of range, ranks that no split fits.

    `own_machine` finds a machine, on whose routing and cores values may depend. Without it cases have
    their labels, and may lack some of these values. The steps of models are not made: some that do not fit may be
    among the cases.
    """
    bases = Bases(study.base, own_machine) if own_machine is not None else Bases(study.base)
    found = [each for sweep in study.sweep for each in _expanded(sweep, study.seed, bases)]
    return [case for case in found if isinstance(case, Case)], [skip for skip in found if isinstance(skip, Skip)]


def _expanded(
    sweep: AnySweep | RunSweep | PublishedSweep | ProgramSweep | OutputSweep | WeatherModelSweep | TraceSweep,
    study_seed: int,
    bases: Bases,
) -> Iterator[Case | Skip]:
    if isinstance(sweep, RunSweep | PublishedSweep):
        return expand_dwarfs(sweep, study_seed, bases)
    if isinstance(sweep, ProgramSweep):
        return expand_programs(sweep, study_seed, bases)
    if isinstance(sweep, WeatherModelSweep):
        return expand_models(sweep, study_seed, bases)
    if isinstance(sweep, TraceSweep):
        return expand_traces(sweep, study_seed, bases)
    if isinstance(sweep, OutputSweep):
        return expand_output(sweep, study_seed, bases)
    return expand_exchanges(sweep, study_seed, bases)
