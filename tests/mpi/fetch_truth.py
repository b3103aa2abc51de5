"""Fetches and their adjoints on MPI ranks, each compared with NumPy's indexing of the whole field."""

from __future__ import annotations

from typing import Any

import numpy as np

from tradewind import _core

TOTAL = 60
METHODS = [(entry.name, packing) for entry in _core.transports() for packing in entry.packings if not entry.on_devices]
SHAPES: dict[str, tuple[tuple[int, ...], int]] = {
    "points": ((0,), 0),
    "levels outside": ((5, 0), -1),
    "levels inside": ((0, 4), 0),
    "levels around": ((3, 0, 2), 1),
}
"""Shapes of fields, 0 for the points, and the axis over these."""
DTYPES = ["f8", "i4", "c16", "f4", "i8", "c8"]


def divided(ranks: int, seed: int) -> list[np.ndarray]:
    """The points of a mesh, dealt out at random; with gaps between their ids."""
    random = np.random.default_rng(seed)
    ids = random.permutation(TOTAL * 3)[:TOTAL]
    cuts = np.sort(random.integers(0, TOTAL + 1, ranks - 1))
    return np.split(ids, cuts)


def wishes(owned: list[np.ndarray], seed: int) -> list[np.ndarray]:
    """Points that each rank wants: some of its own, some twice, some in a row; one rank may want nothing."""
    random = np.random.default_rng([seed, 1])
    every = np.concatenate(owned)
    found = [random.choice(every, random.integers(0, 40)) for _ in owned]
    return [np.concatenate([wanted, owned[seed % len(owned)][:9]]) for wanted in found]


def field_of(points: np.ndarray, shape: tuple[int, ...], axis: int, dtype: str, number: int) -> np.ndarray:
    """The values of points: small whole numbers, different for each point and level."""
    sizes = tuple(n or len(points) for n in shape)
    where = [1] * len(sizes)
    where[axis] = len(points)
    levels = np.arange(np.prod([n for n in shape if n], dtype=int)).reshape([n or 1 for n in shape])
    values = np.broadcast_to(points.reshape(where) * 100 + levels + number, sizes)
    return values.astype(dtype)


def both_ways(
    comm: Any,
    fetch: Any,
    owned: list[np.ndarray],
    wanted: list[np.ndarray],
    shape: str = "points",
    dtype: str = "f8",
    *,
    fields: int = 1,
    **options: Any,
) -> str:
    """Fetches, then adds back, twice each."""
    rank = comm.Get_rank()
    extents, axis = SHAPES[shape]
    source = [field_of(owned[rank], extents, axis, dtype, f) for f in range(fields)]
    target = [np.full_like(field_of(wanted[rank], extents, axis, dtype, 0), -7) for _ in range(fields)]
    swap = fetch.plan(comm, source, target, axis=axis, **options)
    for repeat in range(2):
        for f in range(fields):
            source[f][...] = field_of(owned[rank], extents, axis, dtype, f + repeat)
        swap()
        for f in range(fields):
            if not np.array_equal(target[f], field_of(wanted[rank], extents, axis, dtype, f + repeat)):
                return f"fetched {target[f]!r} for the points {wanted[rank]}"
    return _back(comm, fetch, owned, wanted, (extents, axis, dtype), options)


def _back(
    comm: Any,
    fetch: Any,
    owned: list[np.ndarray],
    wanted: list[np.ndarray],
    like: tuple[tuple[int, ...], int, str],
    options: dict[str, Any],
) -> str:
    """The adjoint, against `numpy.add.at` on the points of all ranks, and <F x, y> = <x, F' y>."""
    rank = comm.Get_rank()
    extents, axis, dtype = like
    x = [field_of(own, extents, axis, dtype, 0) for own in owned]
    y = [field_of(want, extents, axis, dtype, r) for r, want in enumerate(wanted)]
    added = _added(owned, wanted, x[rank], y, rank, axis)
    begin = np.full_like(x[rank], 3)
    got = begin.copy()
    back = fetch.adjoint().plan(comm, y[rank], got, axis=axis, **options)
    back()
    if not np.array_equal(got, begin + added):
        return f"added back {got!r} for {begin + added!r}"
    got[...] = 0
    back()
    fx = [field_of(want, extents, axis, dtype, 0) for want in wanted]
    left = comm.allreduce(complex(np.vdot(fx[rank].astype("c16"), y[rank].astype("c16"))))
    right = comm.allreduce(complex(np.vdot(x[rank].astype("c16"), got.astype("c16"))))
    if abs(left - right) > 1e-6 * abs(left):
        return f"<F x, y> = {left}, <x, F' y> = {right}"
    return ""


def _added(
    owned: list[np.ndarray], wanted: list[np.ndarray], like: np.ndarray, given: list[np.ndarray], rank: int, axis: int
) -> np.ndarray:
    """By `numpy.add.at`: what is added to a rank's own points where each rank gives so much for those that it wants."""
    sums = np.zeros_like(np.moveaxis(like, axis, 0))
    place = {int(point): i for i, point in enumerate(owned[rank])}
    for want, values in zip(wanted, given, strict=True):
        mine = [(k, place[int(point)]) for k, point in enumerate(want) if int(point) in place]
        entries, places = np.array(mine, dtype=int).reshape(-1, 2).T
        np.add.at(sums, places, np.moveaxis(values, axis, 0)[entries])
    return np.moveaxis(sums, 0, axis)


def in_one_array(
    comm: Any,
    halo: Any,
    owned: list[np.ndarray],
    wanted: list[np.ndarray],
    shape: str = "points",
    dtype: str = "f8",
    *,
    fields: int = 1,
    **options: Any,
) -> str:
    """Behind the own points of one array fetches, then adds back, twice each: the rest of it stays as it is."""
    rank = comm.Get_rank()
    extents, axis = SHAPES[shape]
    own = len(owned[rank])
    both = np.concatenate([owned[rank], wanted[rank]])
    arrays = [field_of(both, extents, axis, dtype, 0) for _ in range(fields)]
    swap = halo.plan(comm, arrays, axis=axis, **options)
    for repeat in range(2):
        for f, array in enumerate(arrays):
            array[...] = field_of(both, extents, axis, dtype, f + repeat)
            np.moveaxis(array, axis, 0)[own:] = -7
        swap()
        for f, array in enumerate(arrays):
            if not np.array_equal(array, field_of(both, extents, axis, dtype, f + repeat)):
                return f"in one array fetched {array!r} for the points {both}"
    back = halo.adjoint().plan(comm, arrays, axis=axis, **options)
    for repeat in range(2):
        right = []
        for f, array in enumerate(arrays):
            given = [field_of(want, extents, axis, dtype, r + f + repeat) for r, want in enumerate(wanted)]
            by_point = np.moveaxis(array, axis, 0)
            by_point[:own] = 3
            by_point[own:] = np.moveaxis(given[rank], axis, 0)
            right.append(array.copy())
            of_own = np.moveaxis(right[f], axis, 0)[:own]
            of_own += np.moveaxis(_added(owned, wanted, np.moveaxis(of_own, 0, axis), given, rank, axis), axis, 0)
        back()
        for array, result in zip(arrays, right, strict=True):
            if not np.array_equal(array, result):
                return f"in one array added back {array!r} for {result!r}"
    return ""
