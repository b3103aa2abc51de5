"""Fetches for nodes of many ranks: right for any lists, and each point once between two nodes."""

from collections import Counter

import numpy as np
import pytest
from drawing import TRANSPORTS
from hypothesis import given, settings
from hypothesis import strategies as st
from test_node_halos import between_nodes

import tradewind as tw
from tradewind import _core
from tradewind.base.errors import VerificationError
from tradewind.pattern import Fetch

FAMILIES = ("two-level", "leaders")


@st.composite
def lists(draw, max_ranks=14):
    """Ids that the ranks own, with gaps between them, and those that they want: some twice, some in a row."""
    ranks, seed = draw(st.integers(1, max_ranks)), draw(st.integers(0, 2**32))
    random = np.random.default_rng(seed)
    points = draw(st.integers(1, 80))
    ids = np.sort(random.permutation(3 * points)[:points]) if draw(st.booleans()) else random.permutation(points)
    owned = np.split(ids, np.sort(random.integers(0, points + 1, ranks - 1)))
    wanted = []
    for _ in range(ranks):
        begin = random.integers(0, points)
        row = ids[begin : begin + random.integers(0, 20)]
        wanted.append(np.concatenate([random.choice(ids, random.integers(0, 25)), row]))
    return owned, wanted


@settings(max_examples=150)
@given(lists(), st.data())
def test_any_fetch_and_its_adjoint_are_right_with_every_posting_order(given_lists, data):
    fetch = Fetch(*given_lists)
    family = data.draw(st.sampled_from(FAMILIES))
    size = data.draw(st.integers(1, fetch.ranks))
    for pattern in (fetch, fetch.adjoint()):
        schedule = _core.make_schedule(pattern, f"{family}-{size}")
        for transport in TRANSPORTS:
            _core.verify(schedule, transport)


@settings(max_examples=150)
@given(lists(), st.sampled_from(FAMILIES), st.data())
def test_two_nodes_exchange_one_message_with_each_point_once(given_lists, family, data):
    owned, wanted = given_lists
    size = data.draw(st.integers(min(2, len(owned)), len(owned)))
    owner = {point: rank for rank, points in enumerate(owned) for point in points.tolist()}
    pairs = {
        (owner[point] // size, rank // size, point)
        for rank, points in enumerate(wanted)
        for point in points.tolist()
        if owner[point] // size != rank // size
    }
    found = between_nodes(_core.make_schedule(Fetch(owned, wanted), f"{family}-{size}"), size)
    assert sorted(message[:3] for message in found) == sorted(
        (*pair, count) for pair, count in Counter(pair[:2] for pair in pairs).items()
    )


def mesh(width=9):
    """The halo of a mesh of 32 x 32 points over 8 x 8 ranks, periodic: what a halo of the same width wants."""
    return tw.Exchange("fetch", 64, (32, 32, 1), (8, 8), algorithm="direct", width=width, periodic="xy").steps()[0]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_halo_of_a_mesh_of_blocks_is_that_of_the_blocks(family):
    """The same messages between nodes as those of the halo algorithm, which knows boxes and no lists."""
    blocks = _core.Halo(_core.Blocks(_core.Grid(32, 32, 1), (8, 8)), 9, (True, True))
    fetch = mesh().schedule.pattern
    for size in (4, 8, 12):
        halo, listed = (_core.make_schedule(pattern, f"{family}-{size}") for pattern in (blocks, fetch))
        assert sorted(between_nodes(halo, size)) == sorted(between_nodes(listed, size))


@pytest.mark.parametrize("fault", ["drop", "double", "misplace", "count"])
@pytest.mark.parametrize("stage", [0, 1, 2])
def test_damage_is_seen(fault, stage):
    schedule = _core.make_schedule(mesh().schedule.pattern, "two-level-8")
    rank = next(r for r in range(64) if schedule.sends(r, stage))
    with pytest.raises(VerificationError):
        _core.verify(_core.damaged(schedule, fault, rank, stage, 0), "isend-irecv")
