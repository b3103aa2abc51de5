"""Options of simulated cases: the combinations of a sweep's machines, routings, placements and so on."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tradewind.study.model.machine_keys import OnMachine
from tradewind.workload.simulation_options import swept_options

_LAST = ("ranks_per_node", "seed")
"""Options whose values come after those of the others, and from elsewhere, too."""


def machine_options(
    sweep: OnMachine,
    machines: Sequence[str],
    study_seed: int,
    *,
    spread: str = "",
    last: Mapping[str, Sequence[Any]] | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield the options of the cases of a sweep, those that differ in settings alone beside each other.

    `spread`: the key by whose values ranks are spread over nodes, before the use of the machine; else ranks per node
    come after it. `last`: what else it varies, after the seed.
    """
    varied: dict[str, Sequence[Any]] = {"machine": machines}
    if spread:
        varied[spread] = getattr(sweep, spread)
    for name, each in swept_options().items():
        values = getattr(sweep, name)
        if name in _LAST or (each.only_named and not values):
            continue
        varied[name] = values or [None]
        if each.split is not None and values:
            varied[name] = [value for text in values for value in each.split(text)]
    if not spread:
        varied["ranks_per_node"] = sweep.ranks_per_node
    varied |= {"seed": sweep.seed or [study_seed], **(last or {})}
    settings = [dict(zip(sweep.set, values, strict=True)) for values in itertools.product(*sweep.set.values())]
    for values in itertools.product(*varied.values(), settings):
        yield dict(zip((*varied, "settings"), values, strict=True))
