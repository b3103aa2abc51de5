"""Interior, rim and widened regions of a halo, against what the pattern says that the exchange writes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tradewind as tw

GRID = (13, 9, 3)
SPLITS = [(a, b) for a in range(1, 8) for b in range(1, 5)] + [(13, 9), (13, 1), (1, 9)]
CASES = list(itertools.product(SPLITS, ("", "x", "y", "xy"), (0, 1, 2, 5)))


def masks(halo: tw.Halo, rank: int) -> tuple[np.ndarray, np.ndarray]:
    """[z][y][x] of a rank's array: what it owns, and what the exchange writes."""
    (x0, y0, z0), _ = halo.layout.box(rank)
    own, written = (np.zeros(halo.source_shape(rank), bool) for _ in range(2))
    w = halo.width
    _, ny, nx = own.shape
    own[:, w : ny - w, w : nx - w] = True
    for begin, end in halo.expected(rank):
        (a, b, c), (d, e, f) = ((x - x0 + w, y - y0 + w, z - z0) for x, y, z in (begin, end))
        written[c:f, b:e, a:d] = True
    return own, written


def grown(mask: np.ndarray, by: int) -> np.ndarray:
    """All cells with one of the mask at most `by` away along x and along y."""
    padded = np.pad(mask, ((0, 0), (by, by), (by, by)))
    _, ny, nx = mask.shape
    shifts = itertools.product(range(2 * by + 1), repeat=2)
    return np.logical_or.reduce([padded[:, j : j + ny, i : i + nx] for j, i in shifts])


def selected(shape: tuple[int, ...], *regions: tuple[slice, slice, slice]) -> np.ndarray:
    """Return the number of regions that hold each cell."""
    count = np.zeros(shape, int)
    for region in regions:
        count[region] += 1
    return count


@pytest.mark.parametrize(("split", "periodic", "width"), CASES)
def test_regions(split, periodic, width):
    halo = tw.Halo(tw.Blocks(tw.Grid(*GRID), split), width, periodic)
    for rank in range(halo.ranks):
        own, written = masks(halo, rank)
        for reach in range(width + 1):
            interior = selected(own.shape, halo.interior(rank, reach))
            rim = selected(own.shape, *halo.rim(rank, reach))
            assert (interior + rim == own).all(), "each own point is in exactly one"
            assert ((interior == 1) == (own & ~grown(written, reach))).all()
            assert all(own[box].size > 0 for box in halo.rim(rank, reach))
            assert (selected(own.shape, halo.widened(rank, reach)) == (grown(own, reach) & (own | written))).all()


def test_an_empty_interior_is_a_region_too():
    halo = tw.Halo(tw.Blocks(tw.Grid(8, 8, 2), (4, 4)), width=2, periodic="xy")
    field = np.zeros(halo.source_shape(0))
    assert field[halo.interior(0, 2)].size == 0
    assert [field[box].shape for box in halo.rim(0, 2)] == [(2, 2, 2)]


def test_where_the_grid_ends_nothing_is_waited_for():
    halo = tw.Halo(tw.Blocks(tw.Grid(12, 12, 1), (2, 1)), width=2)
    assert halo.interior(0, 2) == (slice(0, 1), slice(2, 14), slice(2, 6))
    assert halo.rim(0, 2) == [(slice(0, 1), slice(2, 14), slice(6, 8))]
    assert halo.widened(0, 1) == (slice(0, 1), slice(2, 14), slice(2, 9))
    assert halo.widened(0) == (slice(0, 1), slice(2, 14), slice(2, 8))


@pytest.mark.parametrize("region", ["interior", "rim", "widened"])
@pytest.mark.parametrize("value", [-1, 3])
def test_what_the_halo_does_not_hold(region, value):
    halo = tw.Halo(tw.Blocks(tw.Grid(12, 12, 1), (2, 1)), width=2)
    with pytest.raises(tw.InputError, match=rf"{value}: 0\.\.2 are allowed, the halo's width"):
        getattr(halo, region)(0, value)
