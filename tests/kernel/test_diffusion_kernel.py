"""Arrays that the binding of diffusion takes, and those that it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from tradewind import _core
from tradewind.base.errors import InputError

WHOLE = (slice(0, 2), slice(2, 7), slice(2, 6))


def diffuse(field, target, region=WHOLE):
    _core.diffuse(field, target, region, 1 / 32, _core.Team())


def test_a_read_only_source_is_allowed():
    field = np.ones((2, 9, 8))
    field.flags.writeable = False
    target = np.zeros_like(field)
    diffuse(field, target)
    assert (target[WHOLE] == 1).all()
    assert target.sum() == 2 * 5 * 4


def test_arrays_that_cannot_be():
    field = np.ones((2, 9, 8))
    with pytest.raises(InputError, match="arrays of 8 x 9 x 2 and 8 x 9 x 1 points"):
        diffuse(field, field[:1].copy())
    with pytest.raises(InputError, match="overlap in memory"):
        diffuse(field, field)
    with pytest.raises(InputError, match="slices with step 1"):
        diffuse(field, field.copy(), (slice(0, 2, 2), slice(2, 5), slice(2, 5)))
    for other in (np.zeros_like(field, "f4"), np.zeros((2, 9, 16))[:, :, ::2]):  # nothing is converted or copied
        with pytest.raises(TypeError):
            diffuse(field, other)
