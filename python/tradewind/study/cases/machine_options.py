"""Options of simulated cases: the combinations of a sweep's machines, routings, placements and so on."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tradewind.study.model.values import OnMachine
from tradewind.workload.packet_order import each_order

PLACE_KEYS = ("routing", "model", "buffers", "packet", "placement")
"""Options of the use of a machine that a sweep may vary, beside seed and settings."""
Varied = Mapping[str, Sequence[Any]]


def machine_options(
    sweep: OnMachine,
    machines: Sequence[str],
    study_seed: int,
    *,
    first: Varied | None = None,
    then: Varied | None = None,
    last: Varied | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield the options of the cases of a sweep, those that differ in settings alone beside each other.

    `first`, `then`, `last`: what else it varies, before the use of the machine, after it, and after the seed.
    """
    varied: dict[str, Sequence[Any]] = {"machine": machines, **(first or {})}
    varied |= {key: getattr(sweep, key) or [None] for key in PLACE_KEYS}
    if sweep.posting:  # named only where the study names it: keys of stored cases stay what they are
        varied["posting"] = sweep.posting
    if sweep.order:
        varied["order"] = [order for text in sweep.order for order in each_order(text)]
    varied |= {**(then or {}), "seed": sweep.seed or [study_seed], **(last or {})}
    settings = [dict(zip(sweep.set, values, strict=True)) for values in itertools.product(*sweep.set.values())]
    for values in itertools.product(*varied.values(), settings):
        yield dict(zip((*varied, "settings"), values, strict=True))
