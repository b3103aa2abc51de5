"""Who owns an id: against a dictionary, through the lists of fetches that are made of ids."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tradewind as tw
from tradewind.base.errors import InputError

SPREADS = {
    "without a gap": lambda draw, n: 7 + np.arange(n),
    "a few gaps": lambda draw, n: draw.permutation(n + 3)[:n],
    "evenly": lambda draw, n: draw.choice(40 * n, n, replace=False),
    "on either side of where few are": lambda draw, n: draw.choice([63, 64, 65]) * np.arange(n),
    "far apart": lambda draw, n: np.unique(draw.integers(0, 2**62, n)),
    "clusters": lambda draw, n: np.unique(np.concatenate([draw.integers(c, c + n, n) for c in (0, 10**6, 2**61)])),
    "all but one": lambda draw, n: np.append(np.arange(n - 1), 2**62),
    "both ends": lambda draw, n: np.append(np.arange(n - 1), 2**63 - 1),
    "all of some words of bits": lambda draw, n: 7 + np.arange(-(-n // 64) * 64),
    "one": lambda draw, n: np.array([2**62]),
}


@pytest.mark.parametrize("spread", SPREADS)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 300))
def test_owners_are_those_of_a_dictionary(spread, seed, n):
    draw = np.random.default_rng(seed)
    ids = draw.permutation(SPREADS[spread](draw, n))
    owned = np.split(ids, np.sort(draw.integers(0, ids.size + 1, 2)))
    place = {int(point): (rank, i) for rank, own in enumerate(owned) for i, point in enumerate(own)}
    wanted = [draw.choice(ids, draw.integers(0, 2 * n)) for _ in owned]
    fetch = tw.Fetch(owned=owned, wanted=wanted)
    for rank, want in enumerate(wanted):
        owner, index, at, _ = fetch.list_of(rank)
        got = dict(zip(at.tolist(), zip(owner.tolist(), index.tolist(), strict=True), strict=True))
        assert got == {k: place[int(point)] for k, point in enumerate(want)}


@pytest.mark.parametrize("spread", SPREADS)
def test_what_nobody_owns_is_not_found(spread):
    draw = np.random.default_rng(3)
    ids = SPREADS[spread](draw, 50)
    near = np.concatenate([ids - 1, ids + 1, [0, 2**62 + 1]])  # the highest one and 1 are a negative number
    for absent in set(near.tolist()) - set(ids.tolist()):
        with pytest.raises(InputError, match=f"point {absent} "):
            tw.Fetch(owned=[ids], wanted=[[absent]])
