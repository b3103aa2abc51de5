"""Properties of patterns that plans and the simulator ask for."""

from __future__ import annotations

import numpy as np
import pytest

import tradewind as tw
from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.method.method import native_refusal

BLOCKS = tw.Blocks(tw.Grid(8, 6, 5), (3, 2))
HALO = _core.Halo(BLOCKS, 2, (True, False))
FETCH = _core.fetch_of_ids([np.arange(3), np.arange(3, 5)], [np.array([4, 3]), np.array([2])])
REDUCTION = _core.AllReduce(5, 3)


def test_collectives_of_mpi_have_names():
    across = _core.Transpose(BLOCKS, _core.Blocks(BLOCKS.grid, (3, 2), "zy"))
    for pattern, collective in ((HALO, ""), (FETCH, ""), (REDUCTION, "reduction"), (across, "all-to-all")):
        assert pattern.collective == collective
        assert (native_refusal(pattern) == "") == (collective != "")
        assert pattern.reduces == (collective == "reduction")


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
