"""Numerical ranks, of matrices whose ranks are known."""

from __future__ import annotations

import numpy as np
import pytest
from validation.legendre_rank import best_share, butterfly_share, even_functions, level_ranks

from tradewind.spectral import Truncation


def test_ranks_of_matrices_that_are_known() -> None:
    random = np.random.default_rng(1)
    low = random.normal(size=(300, 5)) @ random.normal(size=(5, 256))
    full = random.normal(size=(300, 256))
    for level in range(3):
        assert level_ranks(low, level, 1e-10, float(np.linalg.norm(low, 2))) == 5
    assert level_ranks(full, 0, 1e-10, float(np.linalg.norm(full, 2))) == 64
    assert best_share(low, 1e-10)[0] < 0.1
    assert best_share(full, 1e-10)[0] == pytest.approx(1)


def test_numbers_of_one_level() -> None:
    """Four blocks of 100 latitudes and 64 degrees with rank 10: 10 columns, and 10 x 54 to interpolate the others."""
    share = butterfly_share(np.empty((100, 256)), [10.0])
    assert share == pytest.approx(4 * (100 * 10 + 10 * 54) / (100 * 256))


def test_legendre_functions_have_low_ranks() -> None:
    functions = even_functions(Truncation("O320"), 0)
    assert functions.shape == (320, 160)
    share, ranks = best_share(functions, 1e-12)
    assert len(ranks) == 2
    assert 0.7 < share < 0.9
