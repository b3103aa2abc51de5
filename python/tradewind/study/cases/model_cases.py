"""Cases of whole models: the time step of a model file, simulated on a machine."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tradewind.base.errors import InputError
from tradewind.model import AnyModel, load_model
from tradewind.simulation.checks import threads_per_rank_on
from tradewind.study.cases.bases import NO_BASES, Bases
from tradewind.study.cases.case import Case
from tradewind.study.cases.machine_options import machine_options
from tradewind.study.cases.model_request import ModelRequest
from tradewind.study.model.skip import Skip
from tradewind.study.model.study import Study
from tradewind.study.model.weather_model_sweep import WeatherModelSweep


def expand_models(sweep: WeatherModelSweep, study_seed: int, bases: Bases = NO_BASES) -> Iterator[Case | Skip]:
    """Yield all cases of a sweep, and the skipped ones: a step that does not fit the ranks.

    Steps are not made, which may take minutes: the plan of a study skips cases whose step cannot be made.
    """

    def options_of(filled: WeatherModelSweep) -> Iterator[dict[str, Any]]:
        return machine_options(filled, filled.machine, study_seed)

    for model, ranks in itertools.product(_models(sweep), sweep.ranks):
        try:
            if unused := [kind for kind in sweep.algorithms if kind not in model.kinds(ranks)]:
                yield Skip(sweep.name, model.name, f"algorithms.{unused[0]}: the model has no exchange of this kind")
                continue
            requests = [
                ModelRequest(model, ranks, split, sweep.causes) for split in sweep.splits(ranks) or [model.split(ranks)]
            ]
            for request in requests:
                model.check(ranks, request.split)
        except InputError as error:
            problems = "; ".join(model.without_folders(problem) for problem in error.problems)
            yield Skip(sweep.name, f"{model.name}, {ranks} ranks", problems)
            continue
        asked: Sequence[int | None] = sweep.threads or [None]
        varied = itertools.product(requests, asked, bases.options(sweep, options_of))
        for request, named, (options, under) in varied:
            threads = _threads(bases, options) if named is None else named
            yield Case(sweep.name, "simulate", replace(request, threads_per_rank=threads), options, under)


def _threads(bases: Bases, options: Mapping[str, Any]) -> int | None:
    """Return the threads per rank of a case that names none; None where they do not count."""
    machine, each = bases.own_machine(options["machine"], options["settings"]), options["ranks_per_node"]
    is_known = machine is not None and machine.has_core_rates and not isinstance(each, str)
    return threads_per_rank_on(machine, each, None) if is_known and machine is not None else None


def model_texts(study: Study) -> dict[str, str]:
    """Return the texts of all model files that a study needs, by their names."""
    names = [name for sweep in study.sweep if isinstance(sweep, WeatherModelSweep) for name in sweep.weather_model]
    texts: dict[str, str] = {}
    for name in names:
        texts |= load_model(name).texts
    return texts


def _models(sweep: WeatherModelSweep) -> Iterator[AnyModel]:
    for name in sweep.weather_model:
        model = load_model(name)
        for values in itertools.product(*sweep.numbers.values()):
            numbers = dict(zip(sweep.numbers, values, strict=True))
            yield model.with_changes(numbers, sweep.algorithms)
