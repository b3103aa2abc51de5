"""Cases of dwarfs: run on MPI ranks here, simulated on a machine, or published by somebody else."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tradewind.base.errors import InputError, gathered
from tradewind.base.units import seconds
from tradewind.dwarfs import from_plain
from tradewind.dwarfs.dwarf import Dwarf
from tradewind.study.cases.bases import NO_BASE, NO_BASES, Bases, Under
from tradewind.study.model.dwarf_keys import dwarf_keys
from tradewind.study.model.labels import LABELS, settings_text
from tradewind.study.model.skip import Skip
from tradewind.study.model.study import PublishedSweep, RunSweep
from tradewind.workload.options import options_of
from tradewind.workload.program import Program

PLACE_KEYS = ("routing", "model", "buffers", "packet", "placement")
"""The options of a simulated case that a sweep may vary, beside its machine, seed and settings."""


@dataclass(frozen=True)
class DwarfCase:
    """One run of a dwarf. Its time is that of one step."""

    sweep: str
    kind: str
    """run, simulate or published"""
    dwarf: Dwarf
    options: Mapping[str, Any]
    """What the kind adds, as plain values."""
    under: Under = NO_BASE

    @property
    def workload(self) -> Program:
        """What is simulated."""
        return self.dwarf.program()

    @property
    def name(self) -> str:
        """A line for a reader."""
        grid = self.labels["grid"] or ""
        parts = [self.kind, self.exchange_name, grid, f"{self.dwarf.ranks} ranks", self.dwarf.transport or ""]
        parts += [f"{key} {n}" for key in ("threads", "work") if (n := getattr(self.dwarf, key)) > 1]
        parts += [str(self.options[key]) for key in ("machine", "routing") if self.options.get(key)]
        parts.append(self.under.base or "")
        return ", ".join(filter(None, parts))

    @property
    def exchange_name(self) -> str:
        return self.dwarf.name

    @property
    def request(self) -> dict[str, Any]:
        """All inputs as plain values."""
        return {"kind": self.kind, "dwarf": self.dwarf.as_dict(), "options": dict(self.options)}

    @property
    def labels(self) -> dict[str, Any]:
        """What selections, plots and the dataset know of the case (`tradewind.study.model.labels`)."""
        known_options = options_of(type(self.dwarf))
        asked = {
            key: known_options[key].text(value) if isinstance(value, tuple | float) else value
            for key, value in self.dwarf.as_dict().items()
        }
        options = {
            **self.options,
            "settings": settings_text(self.under.settings(self.options)),
            "base": self.under.base,
        }
        known = {**asked, **options, "sweep": self.sweep, "kind": self.kind, "exchange": self.exchange_name}
        return {label: known.get(label) for label in LABELS}

    def imbalance(self) -> float:
        """Points of the largest part over the mean."""
        return self.dwarf.imbalance()


def expand_dwarfs(
    sweep: RunSweep | PublishedSweep, study_seed: int, bases: Bases = NO_BASES
) -> Iterator[DwarfCase | Skip]:
    """All cases of a sweep, and the points that cannot be."""
    if isinstance(sweep, PublishedSweep):
        yield from _published(sweep)
        return
    varied = {key: value for key in dwarf_keys(sweep.dwarf) if (value := getattr(sweep, key)) is not None}
    for ranks in sweep.ranks:
        for values in itertools.product(*varied.values()):
            inputs = {**dict(zip(varied, values, strict=True)), "ranks": ranks, "point_s": sweep.point_s}
            dwarf = _dwarf(sweep, inputs)
            if isinstance(dwarf, Skip):
                yield dwarf
            elif sweep.machine is None:
                yield DwarfCase(sweep.name, "run", dwarf, {"steps": sweep.steps, "repeat": sweep.repeat})
            else:
                yield from _simulated(sweep, dwarf, study_seed, bases)


def _dwarf(sweep: RunSweep | PublishedSweep, inputs: dict[str, Any]) -> Dwarf | Skip:
    try:
        return from_plain(sweep.dwarf, inputs)
    except InputError as error:
        said = ", ".join(str(inputs[key]) for key in ("strategy", "transport", "packing") if inputs.get(key))
        return Skip(sweep.name, f"{sweep.dwarf} {said}, {inputs['ranks']} ranks", "; ".join(error.problems))


def _options(sweep: RunSweep, study_seed: int) -> Iterator[dict[str, Any]]:
    spread = "nodes" if sweep.nodes else "ranks_per_node"
    varied: dict[str, Any] = {"machine": sweep.machine, spread: getattr(sweep, spread) or [1]}
    varied |= {key: getattr(sweep, key) or [None] for key in PLACE_KEYS}
    varied["seed"] = sweep.seed or [study_seed]
    settings = [dict(zip(sweep.set, values, strict=True)) for values in itertools.product(*sweep.set.values())]
    for values in itertools.product(*varied.values(), settings):
        yield dict(zip((*varied, "settings"), values, strict=True))


def _simulated(sweep: RunSweep, dwarf: Dwarf, study_seed: int, bases: Bases) -> Iterator[DwarfCase | Skip]:
    spread = "nodes" if sweep.nodes else "ranks_per_node"
    for options, under in bases.options(sweep, lambda filled: _options(filled, study_seed)):
        case = DwarfCase(sweep.name, "simulate", dwarf, options, under)
        other, rest = divmod(dwarf.ranks, options[spread])
        if rest:
            yield Skip(sweep.name, case.name, f"{dwarf.ranks} ranks, {spread} {options[spread]}: no equal shares")
            continue
        options["ranks_per_node" if sweep.nodes else "nodes"] = other
        refusals: list[str] = []
        with gathered(refusals):
            dwarf.program()
        yield Skip(sweep.name, case.name, "; ".join(refusals)) if refusals else case


def _published(sweep: PublishedSweep) -> Iterator[DwarfCase | Skip]:
    given = {key: value for key in dwarf_keys(sweep.dwarf) if (value := getattr(sweep, key)) is not None}
    for ranks, time in zip(sweep.ranks, sweep.time, strict=True):
        dwarf = _dwarf(sweep, {**given, "ranks": ranks})
        if isinstance(dwarf, Skip):
            yield dwarf
            continue
        options = {"step_s": seconds(time) / sweep.steps, "nodes": sweep.nodes, "source": sweep.source}
        yield DwarfCase(sweep.name, "published", dwarf, options)
