"""Halos of today's grids on real MPI ranks, against the numbers of their points."""

import pytest
from slow_tests import slow

pytest.importorskip("mpi4py.MPI")

from tradewind import launch


@pytest.mark.parametrize("ranks", [2, *slow(6)])
def test_each_rank_finds_its_halo_and_fields_of_different_levels_share_messages(ranks):
    assert launch.run(ranks, "mesh_halo_cases:run", None, timeout_s=120) == []
