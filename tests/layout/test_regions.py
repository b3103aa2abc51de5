"""Regions of equal area on reduced grids: each point has one owner, which each rank finds by itself."""

from __future__ import annotations

import numpy as np
import pytest

from tradewind.layout.closed import ReducedGrid
from tradewind.layout.regions import Regions


@pytest.mark.parametrize(("half", "ranks"), [(1, 40), (6, 1), (8, 2), (20, 37)])
def test_each_point_has_one_owner(half, ranks):
    rows = ReducedGrid.octahedral(half).rows
    regions = Regions(rows, ranks)
    own = [regions.own(rank) for rank in range(ranks)]
    assert np.array_equal(np.sort(np.concatenate(own)), np.arange(rows.sum()))
    assert np.array_equal([len(each) for each in own], regions.counts())
    for rank, each in enumerate(own):
        assert (np.diff(each) > 0).all()
        begin, count = regions.pieces(rank)[1:]
        assert count.sum() == len(each)
        assert (begin >= 0).all()
    owner, index = Regions(rows, ranks).owners(np.concatenate(own))
    assert np.array_equal(owner, np.repeat(np.arange(ranks), regions.counts()))
    assert np.array_equal(index, np.concatenate([np.arange(len(each)) for each in own]))
