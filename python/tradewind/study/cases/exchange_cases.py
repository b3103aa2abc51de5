"""Cases of exchanges: proved, measured here, or simulated on a machine."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tradewind.base.errors import InputError
from tradewind.method.method import DEFAULT_PACKING, DEFAULT_TRANSPORT, NATIVE, Method
from tradewind.study.cases.bases import NO_BASE, Bases, Under
from tradewind.study.cases.case import Case
from tradewind.study.cases.machine_options import machine_options
from tradewind.study.model.pattern_keys import pattern_keys
from tradewind.study.model.skip import Skip
from tradewind.study.model.study import MeasureSweep, SimulateSweep, Sweep, VerifySweep
from tradewind.workload.exchange import Exchange, exchange_refusal
from tradewind.workload.on_grid import common_split

AnySweep = VerifySweep | MeasureSweep | SimulateSweep


def expand_exchanges(sweep: AnySweep, study_seed: int, bases: Bases) -> Iterator[Case | Skip]:
    """Yield all cases of a sweep, and the skipped ones."""
    for inputs in _exchanges(sweep):
        algorithm = inputs["algorithm"]
        native = NATIVE if algorithm == NATIVE else ""
        try:
            exchange = Exchange(**{**inputs, "algorithm": None if native else algorithm})
        except InputError as error:
            yield Skip(sweep.name, _inputs_text(inputs), "; ".join(error.problems))
            continue
        for options, under in _options(sweep, study_seed, bases):
            method = Method(exchange.algorithm, options.get("transport"), options.get("packing"))
            if not native and (reason := exchange_refusal(exchange, method)):
                yield Skip(sweep.name, _inputs_text(inputs), reason)
                continue
            yield Case(sweep.name, sweep.kind, exchange, options, under, native)


def _exchanges(sweep: Sweep) -> Iterator[dict[str, Any]]:
    keys = list(pattern_keys(sweep.pattern))
    on_grid = "split" in keys
    first = ["grid", "algorithm"] if "grid" in keys else ["algorithm"]
    names = [*first, *(key for key in keys if key not in ("grid", "split"))]
    for values in itertools.product(*(_or_none(getattr(sweep, name)) for name in names)):
        known = {"pattern": sweep.pattern, **dict(zip(names, values, strict=True))}
        for ranks in sweep.ranks:
            for split in _or_none(sweep.split.get(ranks, sweep.split.get(0)) if on_grid else None):
                inputs = {**known, "ranks": ranks}
                yield {**inputs, "split": split or _common_split(sweep, inputs)} if on_grid else inputs


def _common_split(sweep: Sweep, inputs: Mapping[str, Any]) -> tuple[int, int] | None:
    """The default split that suits all algorithms of a sweep: only on the same one can they be compared.

    None where there is none for all of them; each then takes its own, or is skipped.
    """
    algorithms = [name for name in _or_none(sweep.algorithm) if name != NATIVE]
    if len(algorithms) < 2:
        return None
    for first in algorithms:
        try:
            exchange = Exchange(**{**inputs, "algorithm": first})
            return common_split(exchange, [name for name in algorithms if name != first])
        except InputError:
            continue
    return None


def _or_none(values: Sequence[Any] | None) -> Sequence[Any]:
    """The values of a key of a sweep; None alone where the sweep does not have the key."""
    return values or [None]


def _inputs_text(inputs: dict[str, Any]) -> str:
    split = f" as {inputs['split'][0]}x{inputs['split'][1]}" if inputs.get("split") else ""
    return f"{inputs['pattern']} {inputs['algorithm'] or ''}".strip() + f", {inputs['ranks']} ranks{split}"


def _options(sweep: AnySweep, study_seed: int, bases: Bases) -> Iterator[tuple[dict[str, Any], Under]]:
    if isinstance(sweep, VerifySweep):
        yield from (({"transport": transport}, NO_BASE) for transport in sweep.transport)
        return
    if isinstance(sweep, MeasureSweep):
        for transport, packing in itertools.product(sweep.transport, sweep.packing):
            options = {"transport": transport, "packing": packing, "repeat": sweep.repeat}
            yield (options if sweep.rounds == 1 else options | {"rounds": sweep.rounds}), NO_BASE
        return
    yield from bases.options(sweep, lambda filled: _simulated(filled, study_seed))


def _simulated(sweep: SimulateSweep, study_seed: int) -> Iterator[dict[str, Any]]:
    # Only where they are asked for, so that a case without them is the same case as ever.
    extra = {key: getattr(sweep, key) for key in ("congestion", "pairs", "steady") if getattr(sweep, key)}
    last: dict[str, Sequence[Any]] = {}
    if sweep.transport or sweep.packing:
        last = {"transport": sweep.transport or [DEFAULT_TRANSPORT], "packing": sweep.packing or [DEFAULT_PACKING]}
    for options in machine_options(sweep, sweep.machine, study_seed, last=last):
        yield options | extra
