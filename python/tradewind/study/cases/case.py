"""A case is one point of a study. Two cases with the same inputs are the same case, wherever they are written."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tradewind.base.errors import InputError
from tradewind.method.method import DEFAULT_PACKING, DEFAULT_TRANSPORT, NATIVE, Choice
from tradewind.study.cases.bases import NO_BASE, Bases, OwnRouting, Under
from tradewind.study.cases.dwarf_case import DwarfCase, expand_dwarfs
from tradewind.study.cases.environment import Environment
from tradewind.study.cases.program_case import ProgramCase, expand_programs
from tradewind.study.model.labels import LABELS, settings_text
from tradewind.study.model.pattern_keys import pattern_keys
from tradewind.study.model.program_model import ProgramSweep
from tradewind.study.model.skip import Skip
from tradewind.study.model.study import (
    MeasureSweep,
    PublishedSweep,
    RunSweep,
    SimulateSweep,
    Study,
    Sweep,
    VerifySweep,
)
from tradewind.workload.exchange import Exchange, exchange_refusal
from tradewind.workload.on_grid import common_split

AnySweep = VerifySweep | MeasureSweep | SimulateSweep


def canonical(value: Any) -> str:
    """JSON that is the same text for equal values."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(value: Any) -> str:
    return hashlib.sha256(canonical(value).encode()).hexdigest()


@dataclass(frozen=True)
class Case:
    """One point of a study."""

    sweep: str
    kind: str
    exchange: Exchange
    algorithm: str
    """The exchange's own, or "native"."""
    options: Mapping[str, Any]
    """What the kind adds, as plain values."""
    under: Under = NO_BASE

    @property
    def workload(self) -> Exchange:
        """What is simulated."""
        return self.exchange

    def imbalance(self) -> float:
        """Points of the largest part over the mean."""
        return self.exchange.imbalance()

    @property
    def name(self) -> str:
        """A line for a reader."""
        parts = [self.kind, self.exchange_name, f"{self.exchange.ranks} ranks"]
        parts += [str(self.options[key]) for key in ("machine", "routing") if self.options.get(key)]
        return ", ".join([*parts, *([self.under.base] if self.under.base else [])])

    @property
    def exchange_name(self) -> str:
        assert self.exchange.algorithm is not None
        return self.exchange.name.replace(self.exchange.algorithm, self.algorithm)

    @property
    def request(self) -> dict[str, Any]:
        """All inputs as plain values. What the answer does not depend on is not among them."""
        exchange = {**self.exchange.as_dict(), "algorithm": self.algorithm}
        return {"kind": self.kind, "exchange": exchange, "options": dict(self.options)}

    @property
    def labels(self) -> dict[str, Any]:
        """What selections, plots and the dataset know of the case (`tradewind.study.model.labels`)."""
        exchange = self.request["exchange"]
        for key in ("grid", "split"):
            if exchange.get(key) is not None:
                exchange[key] = "x".join(str(n) for n in exchange[key])
        options = {
            **self.options,
            "settings": settings_text(self.under.settings(self.options)),
            "base": self.under.base,
        }
        own = {"sweep": self.sweep, "kind": self.kind, "exchange": self.exchange_name}
        known = {**exchange, **options, **own}
        return {label: known.get(label) for label in LABELS}


AnyCase = Case | DwarfCase | ProgramCase
HERE_ONLY = ("measure", "run")
"""Kinds of cases of which the answer is about this machine: they are computed here, alone."""


def identity(
    case: AnyCase,
    environment: Environment,
    machine: str | None = None,
    model_version: object = None,
    resolved: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Everything that the answer of a case depends on. A stored answer is used again only where all of it is equal.

    `machine`: the hash of a simulated machine's values, changed settings included; `model_version`: that of the
    simulator; `resolved`: the options that the machine gives where the study names none. So the same case is the same
    whether a study names the machine's own routing or not.
    """
    known: dict[str, Any] = {"request": case.request}
    if case.kind == "simulate":
        options = {key: value for key, value in case.options.items() if key != "settings"} | (dict(resolved or {}))
        request = {**case.request, "options": options}
        return {"request": request, "machine": machine, "model_version": model_version}
    if case.kind == "published":
        return known
    if case.kind in HERE_ONLY:
        names = ("host", "cpu", "mpi", "commit", "version")
        return known | {name: getattr(environment, name) for name in names}
    return known | {"version": environment.version, "commit": environment.commit}


def expand(study: Study, own_routing: OwnRouting | None = None) -> tuple[list[AnyCase], list[Skip]]:
    """All cases of a study, and the points that cannot be: a radix out of range, ranks that no split fits.

    `own_routing` finds out a machine's own routing, which the values of a base may depend on. Without it cases have
    their labels, and may lack some of these values.
    """
    cases: list[AnyCase] = []
    skips: list[Skip] = []
    bases = Bases(study.base, own_routing) if own_routing is not None else Bases(study.base)
    for sweep in study.sweep:
        if isinstance(sweep, RunSweep | PublishedSweep | ProgramSweep):
            found = _whole_steps(sweep, study.seed, bases)
            cases += [case for case in found if not isinstance(case, Skip)]
            skips += [skip for skip in found if isinstance(skip, Skip)]
            continue
        for inputs in _exchanges(sweep):
            algorithm = inputs["algorithm"]
            try:
                exchange = Exchange(**{**inputs, "algorithm": None if algorithm == NATIVE else algorithm})
            except InputError as error:
                skips.append(Skip(sweep.name, _inputs_text(inputs), "; ".join(error.problems)))
                continue
            assert exchange.algorithm is not None
            for options, under in _options(sweep, study.seed, bases):
                way = Choice(exchange.algorithm, options.get("transport"), options.get("packing"))
                if algorithm != NATIVE and (reason := exchange_refusal(exchange, way)):
                    skips.append(Skip(sweep.name, _inputs_text(inputs), reason))
                    continue
                cases.append(Case(sweep.name, sweep.kind, exchange, algorithm or exchange.algorithm, options, under))
    return cases, skips


def _whole_steps(
    sweep: RunSweep | PublishedSweep | ProgramSweep, study_seed: int, bases: Bases
) -> list[DwarfCase | ProgramCase | Skip]:
    """The cases of a sweep that is about time steps, and not about one exchange."""
    if isinstance(sweep, ProgramSweep):
        return list(expand_programs(sweep, study_seed, bases))
    return list(expand_dwarfs(sweep, study_seed, bases))


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
    """One case with nothing said where a sweep says nothing."""
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
    varied: dict[str, Sequence[Any]] = {
        "machine": sweep.machine,
        "routing": _or_none(sweep.routing),
        "model": sweep.model,
        "buffers": sweep.buffers,
        "packet": _or_none(sweep.packet),
        "placement": sweep.placement,
        "ranks_per_node": sweep.ranks_per_node,
        "seed": sweep.seed or [study_seed],
    }
    # Only where they are asked for, so that a case without them is the same case as ever.
    extra = {key: getattr(sweep, key) for key in ("congestion", "pairs", "steady") if getattr(sweep, key)}
    if sweep.transport or sweep.packing:
        varied |= {"transport": sweep.transport or [DEFAULT_TRANSPORT], "packing": sweep.packing or [DEFAULT_PACKING]}
    settings = [dict(zip(sweep.set, values, strict=True)) for values in itertools.product(*sweep.set.values())]
    for values in itertools.product(*varied.values(), settings):
        yield dict(zip((*varied, "settings"), values, strict=True)) | extra
