"""The registry as Python has it."""

import pytest

from tradewind import _core
from tradewind.base.errors import InputError

ROW = _core.Transpose(*(_core.Blocks(_core.Grid(16, 16, 16), (8, 1), axes) for axes in ("xy", "zy")))


def test_an_entry_has_all_that_pages_and_commands_say_of_it():
    ring, burst = _core.algorithms()[:2]
    assert (ring.pattern, ring.name, ring.has_radix, ring.is_default) == ("transpose", "ring-k", True, True)
    assert ring.radices(ROW) == [1, 7]
    assert (burst.name, burst.has_radix, burst.is_default) == ("burst", False, False)
    assert (burst.description, "doi:" in burst.source) == ("everything at once, in 1 stage", True)


def test_messages_have_peers_counts_tags_and_parities():
    schedule = _core.make_schedule(ROW, "ring-7")
    assert (schedule.algorithm, schedule.ranks, schedule.stages) == ("ring-7", 8, 1)
    sent, received = schedule.sends(3, 0), schedule.receives(4, 0)
    assert [message.peer for message in sent] == [4, 5, 6, 7, 0, 1, 2]
    assert (sent[0].count, sent[0].tag, sent[0].parity) == (2 * 16 * 2, received[0].tag, received[0].parity)
    with pytest.raises(IndexError, match=r"stage 1: 0\.\.0 are allowed"):
        schedule.sends(3, 1)


def test_a_name_that_cannot_be_is_refused():
    with pytest.raises(InputError, match=r"ring-9: radix 9 is out of range, 1\.\.7 are allowed"):
        _core.make_schedule(ROW, "ring-9")
