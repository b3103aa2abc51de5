"""Gather-scatters by every algorithm: verified for any ids, and their damage seen."""

import itertools

import numpy as np
import pytest
from drawing import TRANSPORTS, algorithm_names, gather_scatters
from hypothesis import given, settings
from hypothesis import strategies as st

import tradewind as tw
from tradewind import _core
from tradewind.base.errors import VerificationError


@settings(max_examples=60, deadline=None)
@given(gather_scatters(), st.data())
def test_any_gather_scatter_is_right_with_every_posting_order(pattern, data):
    schedule = _core.make_schedule(pattern, data.draw(st.sampled_from(algorithm_names(pattern))))
    for transport in TRANSPORTS:
        _core.verify(schedule, transport)


FAULTS = ["drop", "drop-send", "drop-receive", "double", "misplace", "count", "tag", "parity"]


def reductions(pattern, *, wanted):
    return [name for name in algorithm_names(pattern) if name.startswith("allreduce-") == wanted]


@settings(max_examples=80, deadline=None)
@given(gather_scatters(), st.sampled_from(FAULTS), st.data())
def test_no_damage_to_a_gather_scatter_goes_unseen(pattern, fault, data):
    """A message of a reduction may hold nothing but neutral values, and is not missed: see the test below."""
    names = reductions(pattern, wanted=False)
    _damage_is_seen(_core.make_schedule(pattern, data.draw(st.sampled_from(names))), fault, data)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 7), st.integers(1, 5), st.sampled_from(FAULTS), st.data())
def test_no_damage_to_its_reductions_goes_unseen(ranks, length, fault, data):
    """All ranks have all ids."""
    pattern = _core.gather_scatter_of_ids([np.arange(1, length + 1)] * ranks, "add")
    names = reductions(pattern, wanted=True)
    _damage_is_seen(_core.make_schedule(pattern, data.draw(st.sampled_from(names))), fault, data)


def _damage_is_seen(schedule, fault, data):
    places = [
        (rank, stage, j)
        for stage in range(schedule.stages)
        for rank in range(schedule.ranks)
        for j in range(max(26, 2 * schedule.ranks))
        if _sends(schedule, rank, stage, j)
    ]
    if not places:
        return
    broken = _core.damaged(schedule, fault, *data.draw(st.sampled_from(places)))
    with pytest.raises(VerificationError):
        _core.verify(broken, "isend-irecv")


def _sends(schedule, rank, stage, j):
    try:
        _core.damaged(schedule, "drop", rank, stage, j)
    except ValueError:
        return False
    return True


def test_pairwise_sends_what_two_ranks_share_once():
    rng = np.random.default_rng(3)
    ids = [rng.integers(0, 40, 25) for _ in range(5)]
    schedule = tw.GatherScatter(ids).schedule("pairwise")
    for rank, own in enumerate(ids):
        common = {peer: len(set(own[own > 0]) & set(other)) for peer, other in enumerate(ids) if peer != rank}
        sent = {message.peer: message.count for message in schedule.core.sends(rank, 0)}
        assert sent == {peer: count for peer, count in common.items() if count}


def test_a_brick_and_its_lists_send_the_same():
    brick = tw.BrickGatherScatter((2, 1, 2), 3, (3, 2, 2), "x")
    by_form, by_lists = (_core.make_schedule(p, "pairwise") for p in (brick, brick.listed()))
    matrices = [_core.communication_matrix(schedule, 12, 0, 1).tolist() for schedule in (by_form, by_lists)]
    assert matrices[0] == matrices[1]


def test_cartesian_sends_whole_planes():
    """(e (nx1 - 1) + 1)^2 points to each neighbour along each direction."""
    schedule = tw.BrickGatherScatter((2, 3, 4), 5, (3, 3, 3)).schedule("cartesian")
    middle = 13
    planes = [(13, 17), (9, 17), (9, 13)]
    for axis, (a, b) in enumerate(planes):
        messages = schedule.core.sends(middle, axis)
        assert [(m.peer, m.count) for m in messages] == [(13 + 3**axis, a * b), (13 - 3**axis, a * b)]


@pytest.mark.parametrize("family", ["two-level", "leaders"])
def test_nodes_of_a_brick_are_worked_out_once_for_ranks_in_any_order(family):
    """Stage by stage, ranks of all nodes by turns, as the simulator asks; a third of 900 nodes, three ranks each."""
    size = 40
    schedule = tw.BrickGatherScatter((1, 1, 2), 3, (40, 30, 30)).schedule(f"{family}-{size}").core
    asked = [rank for member in (0, 7, 39) for rank in range(member, 36_000, 3 * size)]
    for stage, rank in itertools.product(range(3), asked):
        schedule.sends(rank, stage)
        schedule.receives(rank, stage)
    assert schedule.nodes_worked_out == len({rank // size for rank in asked})


@pytest.mark.parametrize("name", ["two-level-6", "leaders-6", "two-level-5"])
@pytest.mark.parametrize("periodic", ["", "xz"])
def test_bundles_of_nodes_hold_each_cell_once(name, periodic):
    """Between two nodes the points, each once, that ranks of the one have and ranks of the other have, too."""
    brick = tw.BrickGatherScatter((1, 2, 1), 3, (4, 3, 3), periodic)
    size = int(name.split("-")[-1])
    schedule = brick.schedule(name).core
    found = {}
    for rank in range(36):
        for message in schedule.sends(rank, 1):
            if message.count:
                assert (rank // size, message.peer // size) not in found
                found[rank // size, message.peer // size] = message.count
    ids = [set(brick.ids(rank).tolist()) for rank in range(36)]
    right = {}
    for one, other in itertools.permutations(range(-(-36 // size)), 2):
        members = range(other * size, min(36, (other + 1) * size))
        counts = [
            len(set().union(*(ids[rank] & ids[peer] for peer in members)))
            for rank in range(one * size, min(36, (one + 1) * size))
        ]
        if sum(counts):
            right[one, other] = sum(counts)
    assert found == right
