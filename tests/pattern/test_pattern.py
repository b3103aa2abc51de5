"""Properties of patterns for algorithms, plans and the simulator, against their schedules and arrays."""

from __future__ import annotations

import numpy as np
import pytest
from drawing import slab_transposes, transposes
from hypothesis import given

import tradewind as tw
from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.method.method import Method, native_refusal, refusal

BLOCKS = tw.Blocks(tw.Grid(8, 6, 5), (3, 2))
HALO = _core.Halo(BLOCKS, 2, (True, False))
FETCH = _core.fetch_of_ids([np.arange(3), np.arange(3, 5)], [np.array([4, 3]), np.array([2])])
REDUCTION = _core.AllReduce(5, 3)


def partners(schedule):
    """The pairs of ranks between which a message goes."""
    return {
        (rank, message.peer)
        for rank in range(schedule.ranks)
        for stage in range(schedule.stages)
        for message in schedule.sends(rank, stage)
    }


@given(transposes())
def test_messages_stay_within_a_group(transpose):
    assert all(transpose.group(s) == transpose.group(r) for s, r in partners(_core.make_schedule(transpose, "burst")))


@given(slab_transposes())
def test_a_group_of_mpis_all_to_all_is_all_that_a_rank_exchanges_with(transpose):
    ranks = range(transpose.ranks)
    assert transpose.collective == "all-to-all"
    for rank in ranks:
        members = [other for other in ranks if transpose.group(other) == transpose.group(rank)]
        assert members == sorted(transpose.receivers(rank))
        assert len(members) <= transpose.largest_group


@given(transposes())
def test_mpi_has_an_all_to_all_where_every_group_is_complete(transpose):
    assert transpose.collective == ("all-to-all" if transpose.complete else "")
    assert (native_refusal(transpose) == "") == transpose.complete
    assert refusal(transpose, Method("native")) == native_refusal(transpose)


@pytest.mark.parametrize(
    ("pattern", "collective"), [(HALO, ""), (FETCH, ""), (_core.FetchAdjoint(FETCH), ""), (REDUCTION, "reduction")]
)
def test_other_patterns_are_one_group_of_all_ranks(pattern, collective):
    assert [pattern.group(rank) for rank in range(pattern.ranks)] == [0] * pattern.ranks
    assert pattern.largest_group == pattern.ranks
    assert pattern.collective == collective
    assert pattern.ends_alike
    assert (native_refusal(pattern) == "") == (collective != "")
    assert pattern.reduces == (collective == "reduction")


def test_points_change_their_order_in_a_transposition_alone():
    assert not _core.Transpose(BLOCKS, _core.Blocks(BLOCKS.grid, (3, 2), "zy")).ends_alike


def test_fetches_have_levels_and_other_patterns_none():
    for pattern in (FETCH, _core.FetchAdjoint(FETCH)):
        assert pattern.has_levels
        assert not pattern.one_array
        deeper = pattern.for_levels((4, 3))
        assert type(deeper) is type(pattern)
        assert deeper.source_shape(0) == (3, 4, pattern.source_shape(0)[2])
    for pattern in (HALO, REDUCTION):
        assert not pattern.has_levels
        with pytest.raises(InputError, match=f"levels of a {pattern.name}: a fetch and its adjoint have them"):
            pattern.for_levels((4, 3))


def test_a_fetch_within_one_array_says_so_and_so_does_its_adjoint():
    halo = tw.Fetch.of_owners([2, 2], [([1], [0]), ([0], [1])], one_array=True)
    assert halo.one_array
    assert _core.FetchAdjoint(halo).one_array
