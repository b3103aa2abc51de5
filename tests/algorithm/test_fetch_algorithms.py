"""Fetches of meshes: the halo of blocks as one, and ranks in a line."""

import pytest

from tradewind import _core
from tradewind.workload.exchange import Exchange


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
