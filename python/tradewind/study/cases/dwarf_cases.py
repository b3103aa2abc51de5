"""Cases of dwarfs: run on MPI ranks here, simulated on a machine, or published by somebody else."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from tradewind.base.errors import InputError
from tradewind.base.units import seconds
from tradewind.dwarfs import from_plain
from tradewind.dwarfs.frame.dwarf import Dwarf
from tradewind.study.cases.bases import NO_BASES, Bases
from tradewind.study.cases.case import Case
from tradewind.study.cases.machine_options import machine_options
from tradewind.study.model.dwarf_keys import dwarf_keys
from tradewind.study.model.skip import Skip
from tradewind.study.model.study import PublishedSweep, RunSweep
from tradewind.workload.simulation_options import CORES


def expand_dwarfs(sweep: RunSweep | PublishedSweep, study_seed: int, bases: Bases = NO_BASES) -> Iterator[Case | Skip]:
    """Yield all cases of a sweep, and the skipped ones."""
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
                yield Case(sweep.name, "run", dwarf, {"steps": sweep.steps, "repeat": sweep.repeat})
            else:
                yield from _simulated(sweep, sweep.machine, dwarf, study_seed, bases)


def _dwarf(sweep: RunSweep | PublishedSweep, inputs: dict[str, Any]) -> Dwarf | Skip:
    try:
        return from_plain(sweep.dwarf, inputs)
    except InputError as error:
        method = ", ".join(str(inputs[key]) for key in ("strategy", "transport", "packing") if inputs.get(key))
        return Skip(sweep.name, f"{sweep.dwarf} {method}, {inputs['ranks']} ranks", "; ".join(error.problems))


def _simulated(
    sweep: RunSweep, machines: list[str], dwarf: Dwarf, study_seed: int, bases: Bases
) -> Iterator[Case | Skip]:
    spread, other = ("nodes", "ranks_per_node") if sweep.nodes else ("ranks_per_node", "nodes")

    def options_of(filled: RunSweep) -> Iterator[dict[str, Any]]:
        return machine_options(filled, filled.machine or machines, study_seed, spread=spread)

    for options, under in bases.options(sweep, options_of):
        case = Case(sweep.name, "simulate", dwarf, options, under)
        if options[spread] == CORES:
            yield Skip(sweep.name, case.name, f"ranks_per_node {CORES!r}: the machine file has no node.cores")
            continue
        shares, rest = divmod(dwarf.ranks, options[spread])
        if rest:
            yield Skip(sweep.name, case.name, f"{dwarf.ranks} ranks, {spread} {options[spread]}: no equal shares")
            continue
        options[other] = shares
        refusals = dwarf.simulation_problems()
        yield Skip(sweep.name, case.name, "; ".join(refusals)) if refusals else case


def _published(sweep: PublishedSweep) -> Iterator[Case | Skip]:
    given = {key: value for key in dwarf_keys(sweep.dwarf) if (value := getattr(sweep, key)) is not None}
    for ranks, time in zip(sweep.ranks, sweep.time, strict=True):
        dwarf = _dwarf(sweep, {**given, "ranks": ranks})
        if isinstance(dwarf, Skip):
            yield dwarf
            continue
        options = {"step_s": seconds(time) / sweep.steps, "nodes": sweep.nodes, "source": sweep.source}
        yield Case(sweep.name, "published", dwarf, options)
