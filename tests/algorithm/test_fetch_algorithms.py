"""Fetches and their adjoints by every algorithm: verified for any lists, and their damage seen."""

import pytest
from drawing import TRANSPORTS, algorithm_names, fetches
from hypothesis import given, settings
from hypothesis import strategies as st

from tradewind import _core
from tradewind.base.errors import VerificationError
from tradewind.workload.exchange import Exchange


@settings(max_examples=80, deadline=None)
@given(fetches(), st.data())
def test_any_fetch_is_right_with_every_posting_order(fetch, data):
    schedule = _core.make_schedule(fetch, data.draw(st.sampled_from(algorithm_names(fetch))))
    for transport in TRANSPORTS:
        _core.verify(schedule, transport)


@settings(max_examples=80, deadline=None)
@given(
    fetches(),
    st.sampled_from(["drop", "drop-send", "drop-receive", "double", "misplace", "count", "tag", "parity"]),
    st.data(),
)
def test_no_damage_to_a_fetch_goes_unseen(fetch, fault, data):
    schedule = _core.make_schedule(fetch, data.draw(st.sampled_from(algorithm_names(fetch))))
    places = [
        (rank, stage, j)
        for stage in range(schedule.stages)
        for rank in range(schedule.ranks)
        for j in range(2 * schedule.ranks)
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


@pytest.mark.parametrize("periodic", ["", "x", "xy"])
@pytest.mark.parametrize("width", [1, 3, 9])
@pytest.mark.parametrize("split", [(1, 1), (4, 3), (1, 7)])
def test_the_columns_of_blocks_as_a_mesh_send_what_their_halo_does(periodic, width, split):
    """The structured halo, which its own tests hold against the grid, says how much goes from whom to whom."""
    matrices = []
    for pattern in ("fetch", "halo"):
        exchange = Exchange(
            pattern, split[0] * split[1], (20, 15, 2), split, algorithm="direct", width=width, periodic=periodic
        )
        schedule = exchange.steps()[0].schedule
        matrices.append(_core.communication_matrix(schedule, 1, 0, 1).tolist())
    assert matrices[0] == matrices[1]


@pytest.mark.parametrize("ranks", [2, 3, 8, 9])
def test_a_line_of_ranks_needs_no_chain_of_exchanges(ranks):
    """Neighbours come first in every list of turns, whatever the number of the rank."""
    exchange = Exchange("fetch", ranks, (4 * ranks, 3, 1), (ranks, 1), width=1)
    schedule = exchange.steps()[0].schedule
    for rank in range(ranks):
        tags = [message.tag for message in schedule.sends(rank, 0)]
        assert tags == sorted(tags)
        assert set(tags) <= {1, ranks - 1}
