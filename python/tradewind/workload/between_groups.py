"""A field on its way from the ranks of one group to those of another, like from a model to servers."""

from __future__ import annotations

from tradewind import _core


def redistribution(before: _core.Blocks, after: _core.Blocks, *, source_first: bool = True) -> _core.Redistribution:
    """Return the redistribution from a layout of one group to a layout of another, over the ranks of both.

    The ranks of the one group own their parts of the grid before, and nothing after; those of the other the other way
    round. `source_first`: the group that sends has the lower ranks. Raises InputError for layouts of different grids.
    """
    ranks = before.ranks + after.ranks
    first = (0, before.ranks) if source_first else (after.ranks, 0)
    layouts = (_core.Product(layout).placed(place, ranks) for layout, place in zip((before, after), first, strict=True))
    return _core.Redistribution(*layouts)
