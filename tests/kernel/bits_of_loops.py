"""Prints checksums of what loops over vectors compute, which are the same for each width of a vector."""

from __future__ import annotations

import zlib

import numpy as np

from tradewind import _core
from tradewind.dwarfs.helmholtz_operator import Atmosphere, blocked, stencil
from tradewind.dwarfs.spectral_elements import Brick, basis

TEAM = _core.Team(1)


def checksum(*arrays: np.ndarray) -> int:
    found = 0
    for array in arrays:
        found = zlib.crc32(array.tobytes(), found)
    return found


def of_elements(points: int) -> int:
    """The operator of spectral elements, with its factors and without."""
    brick = Brick(points, (2, 2, 1))
    elements = brick.core_elements(basis(points), 0.1)
    u = np.random.default_rng(1).normal(size=brick.shape)
    factors = np.zeros((brick.count, 6, points**3))
    elements.factors(factors, TEAM)
    found = []
    for given in (None, factors):
        out, p, sums = np.zeros_like(u), np.ones_like(u), np.zeros(brick.count)
        operator = _core.ElementOperator(elements, 0.1, given, None, False)
        operator.apply_to_direction(np.arange(brick.count, dtype=np.int32), 0.5, u, p, out, sums, TEAM)
        found += [out, p, sums]
    return checksum(*found)


def of_mpdata(dtype: type, levels: int) -> int:
    """Divergence, limits and correction on a ring of nodes."""
    nodes = 40
    edges = np.array([(i, (i + k) % nodes) for i in range(nodes) for k in (1, 7)])
    edges.sort(axis=1)
    edges = np.asarray(sorted(map(tuple, edges.tolist())))
    own: list[list[tuple[int, int]]] = [[] for _ in range(nodes)]
    for number, (a, b) in enumerate(edges):
        own[a].append((2 * number, b))
        own[b].append((2 * number + 1, a))
    offsets = np.cumsum([0, *map(len, own)])
    faces = np.array([face for each in own for face, _ in each])
    neighbours = np.array([other for each in own for _, other in each])
    graph = _core.MeshGraph(offsets, neighbours, faces, edges, np.ones(nodes), nodes)
    drawn = np.random.default_rng(2)
    flux = (drawn.random((len(edges), levels)) - 0.5).astype(dtype)
    q = drawn.random((nodes, levels)).astype(dtype)
    everywhere, out, divergence = _core.Nodes((0, nodes)), np.zeros_like(q), np.zeros_like(q)
    _core.mpdata_divergence(graph, everywhere, flux, q, divergence, TEAM)
    _core.mpdata_corrected(graph, everywhere, flux, q, divergence, out, 0.1, True, None, TEAM)
    return checksum(divergence, out)


def of_helmholtz() -> int:
    """The operator of seven points."""
    nx, ny, nz = 27, 5, 6
    factors = blocked(stencil(Atmosphere((nx, ny, nz), 2000.0, 20000.0, 1500.0, 6.0, 1.0), ((0, 0, 0), (nx, ny, nz))))
    field = np.random.default_rng(3).normal(size=(nz, ny + 2, nx + 2))
    out = np.zeros((nz, ny, nx))
    _core.helmholtz(field, factors, out, TEAM)
    return checksum(out)


if __name__ == "__main__":
    print([of_elements(points) for points in (4, 5, 6, 8, 9, 10, 12)])
    print([of_mpdata(dtype, levels) for dtype in (np.float32, np.float64) for levels in (19, 60)], of_helmholtz())
