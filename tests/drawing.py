"""Which algorithms a pattern allows."""

from __future__ import annotations

from tradewind import _core

PASSING_ON = ("bruck", "two-level-k")
"""All-to-all algorithms that need groups whose ranks all have something for each other."""


def algorithm_names(pattern: _core.Pattern) -> list[str]:
    """Every algorithm of a pattern that it allows, with every radix."""
    names = []
    for entry in _core.algorithms():
        refusing = ("bruck",) if isinstance(pattern, _core.Redistribution) else PASSING_ON
        refused = pattern.name == "transpose" and entry.name in refusing and not pattern.complete
        refused |= entry.name == "cartesian" and not isinstance(pattern, _core.BrickGatherScatter)
        if entry.pattern == pattern.name and not refused:
            minimum, maximum = entry.radices(pattern)
            maximum = min(maximum, 64)
            names += (
                [entry.name[:-1] + str(k) for k in range(minimum, maximum + 1)] if entry.has_radix else [entry.name]
            )
    return names
