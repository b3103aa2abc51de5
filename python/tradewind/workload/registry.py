"""The patterns that a user can ask for, by name. A new one is a file in `patterns/` and a row here."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from tradewind.base.errors import InputError
from tradewind.base.names import unknown


@dataclass(frozen=True)
class PatternEntry:
    """A row of the registry: "module:Class" of a pattern's requests, loaded when first asked for, and what it is."""

    home: str
    description: str


PATTERNS = {
    "transpose": PatternEntry(
        "tradewind.workload.patterns.transpose:TransposeExchange",
        "a grid is redistributed from one layout to another, or along a path of layouts",
    ),
    "halo": PatternEntry(
        "tradewind.workload.patterns.halo:HaloExchange", "each rank receives the points around its part of a grid"
    ),
    "fetch": PatternEntry(
        "tradewind.workload.patterns.fetch:FetchExchange",
        "each rank lists the points that it wants: the halo of a mesh",
    ),
    "gather-scatter": PatternEntry(
        "tradewind.workload.patterns.gather_scatter:GatherScatterExchange",
        "points that elements share become the sum of their values, on a brick of elements",
    ),
    "allreduce": PatternEntry(
        "tradewind.workload.patterns.allreduce:AllReduceExchange", "every rank gets the sum over all ranks of a vector"
    ),
    "recorded": PatternEntry(
        "tradewind.workload.patterns.recorded:RecordedExchange", "stored messages of some program; not for measurements"
    ),
}
"""Patterns in the order of reports."""


def pattern_named(name: str) -> type[Any]:
    """Return the class of a pattern's requests, which is a `tradewind.workload.exchange.Exchange`.

    Raises InputError for an unknown name.
    """
    if name not in PATTERNS:
        raise InputError(unknown("pattern", name, PATTERNS))
    module, _, kind = PATTERNS[name].home.partition(":")
    found: type[Any] = getattr(importlib.import_module(module), kind)
    return found
