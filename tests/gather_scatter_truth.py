"""The gather-scatter in NumPy, over the ids of all ranks at once."""

from __future__ import annotations

import numpy as np

COMBINE = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}


def gathered_scattered(ids, values, operation):
    """By rank: values [..., point] after the gather-scatter of ids [point]. Exact for small whole numbers."""
    every = np.concatenate(ids)
    before = np.concatenate(values, axis=-1)
    known, place = np.unique(every, return_inverse=True)
    place = place.reshape(-1)
    after = before.copy()
    for row_before, row_after in zip(before.reshape(-1, every.size), after.reshape(-1, every.size), strict=True):
        first = np.full(known.size, -1)
        first[place[::-1]] = np.arange(every.size)[::-1]
        sums = row_before[first]
        others = np.ones(every.size, dtype=bool)
        others[first] = False
        COMBINE[operation].at(sums, place[others], row_before[others])
        row_after[every > 0] = sums[place][every > 0]
    return np.split(after, np.cumsum([len(each) for each in ids])[:-1], axis=-1)


def numberings(rng, ranks, *, highest=2**63 - 1):
    """Ids of each rank from few numbers far apart: some of one rank, some of all, some that take no part."""
    pool = np.unique(np.concatenate([rng.integers(1, highest, 12, dtype=np.int64), [highest, 1]]))
    lists = []
    for rank in range(ranks):
        ids = rng.choice(pool, rng.integers(0, 30))
        ids[rng.random(ids.size) < 0.15] = rng.integers(-3, 1)
        lists.append(np.concatenate([ids, [highest, highest - 1 - rank]]).astype(np.int64))
    return lists
