"""The registry: what a name may be, and what is said of one that may not."""

import re

import pytest

from tradewind import _core
from tradewind.base.errors import InputError

GRID = _core.Grid(16, 16, 16)
TRANSPOSE = _core.Transpose(_core.Blocks(GRID, (8, 1), "xy"), _core.Blocks(GRID, (8, 1), "zy"))
HALO = _core.Halo(_core.Blocks(GRID, (4, 2)), 1, (False, False))
REDUCE = _core.AllReduce(8, 3)


def test_every_pattern_has_one_default_and_every_entry_its_source():
    for pattern in ("transpose", "halo", "fetch", "allreduce"):
        entries = [entry for entry in _core.algorithms() if entry.pattern == pattern]
        assert sum(entry.is_default for entry in entries) == 1
        assert len({entry.name for entry in entries}) == len(entries)
    for entry in _core.algorithms():
        assert entry.has_radix == entry.name.endswith("-k")
        assert re.search(r"\b(19|20)\d\d\b", entry.source)
        assert "stage" in entry.description


@pytest.mark.parametrize(
    ("pattern", "name"),
    [(TRANSPOSE, "ring-1"), (TRANSPOSE, "ring-7"), (TRANSPOSE, "burst"), (HALO, "direct"), (REDUCE, "ring")],
)
def test_a_schedule_is_named_as_it_was_asked_for(pattern, name):
    assert _core.make_schedule(pattern, name).algorithm == name


@pytest.mark.parametrize(
    ("pattern", "name", "words"),
    [
        (TRANSPOSE, "ring-9", "ring-9: radix 9 is out of range, 1..7 are allowed for groups of 8 ranks"),
        (TRANSPOSE, "ring-0", "ring-0: radix 0 is out of range, 1..7 are allowed for groups of 8 ranks"),
        (TRANSPOSE, "ring-99999999999999999999", "is out of range, 1..7 are allowed"),
        (REDUCE, "recursive-1", "radix 1 is out of range, 2..8 are allowed for 8 ranks"),
        (REDUCE, "recursive-9", "radix 9 is out of range, 2..8 are allowed for 8 ranks"),
        (TRANSPOSE, "ring", "ring: the radix is missing, write ring-1 (1..7 are allowed for groups of 8 ranks)"),
        (REDUCE, "recursive-k", "the radix is missing, write recursive-2"),
        (TRANSPOSE, "burst-3", "burst-3: burst takes no radix"),
        (REDUCE, "ring-3", "ring-3: ring takes no radix"),
        (TRANSPOSE, "brook", "unknown transpose algorithm 'brook'; did you mean 'bruck'?"),
        (TRANSPOSE, "rings-4", "did you mean 'ring-k'?"),
        (HALO, "swepe", "did you mean 'sweep'? (known: sweep, direct, two-level-k, leaders-k)"),
        (HALO, "zzzzzz", "unknown halo algorithm 'zzzzzz' (known: sweep, direct, two-level-k, leaders-k)"),
        (HALO, "two-level-9", "two-level-9: radix 9 is out of range, 1..8 are allowed for 8 ranks"),
        (HALO, "leaders", "leaders: the radix is missing, write leaders-1 (1..8 are allowed for 8 ranks)"),
        (TRANSPOSE, "leaders-2", "leaders-2 is an algorithm of halo, not of transpose"),
        (
            HALO,
            "bruck",
            "bruck is an algorithm of transpose, not of halo (which has sweep, direct, two-level-k, leaders-k)",
        ),
    ],
)
def test_a_name_that_cannot_be_is_refused_with_what_can(pattern, name, words):
    with pytest.raises(InputError, match=re.escape(words)):
        _core.make_schedule(pattern, name)


def test_one_rank_allows_any_radix_and_has_nothing_to_do():
    schedule = _core.make_schedule(_core.AllReduce(1, 3), "recursive-32")
    assert schedule.stages == 0
