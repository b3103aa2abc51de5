"""The compiled loop of diffusion, against NumPy and against itself on other regions and threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradewind import _core
from tradewind.base.errors import InputError

ALPHA = 1 / 32


def whole(field: np.ndarray) -> tuple[slice, slice, slice]:
    nz, ny, nx = field.shape
    return slice(0, nz), slice(2, ny - 2), slice(2, nx - 2)


def random(shape: tuple[int, int, int], dtype: str = "f8") -> np.ndarray:
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(dtype)


def step(field: np.ndarray) -> np.ndarray:
    """Diffuse the points that have two others on all sides."""

    def laplacian(f: np.ndarray) -> np.ndarray:
        across = f[:, 1:-1, :-2] + f[:, 1:-1, 2:]
        down = f[:, :-2, 1:-1] + f[:, 2:, 1:-1]
        return across + down - 4 * f[:, 1:-1, 1:-1]

    return field[whole(field)] - ALPHA * laplacian(laplacian(field))


def diffused(field: np.ndarray, *regions: tuple[slice, slice, slice], threads: int = 1) -> np.ndarray:
    """Infinite where nothing has been written."""
    target = np.full_like(field, np.inf)
    team = _core.Team(threads)
    for region in regions:
        _core.diffuse(field, target, region, ALPHA, team)
    return target


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", [(1, 5, 5), (3, 5, 40), (2, 31, 6), (7, 20, 133)])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_same_bits_as_numpy(dtype, shape, threads):
    field = random(shape, dtype)
    target = diffused(field, whole(field), threads=threads)
    assert target.dtype == field.dtype
    assert (target[whole(field)] == step(field)).all()
    target[whole(field)] = np.inf
    assert np.isinf(target).all(), "something was written beyond the region"


@given(data=st.data(), levels=st.integers(1, 5), ny=st.integers(1, 20), nx=st.integers(1, 40))
def test_the_same_bits_on_any_region(data, levels, ny, nx):
    field = random((levels, ny + 4, nx + 4))

    def part(points: int, shift: int) -> slice:
        begin, end = sorted((data.draw(st.integers(0, points)), data.draw(st.integers(0, points))))
        return slice(begin + shift, end + shift)

    region = part(levels, 0), part(ny, 2), part(nx, 2)
    target = diffused(field, region, threads=data.draw(st.integers(1, 3)))
    assert (target[region] == diffused(field, whole(field))[region]).all()
    target[region] = np.inf
    assert np.isinf(target).all()


def test_a_read_only_source_is_allowed():
    field = random((2, 9, 9))
    field.flags.writeable = False
    assert (diffused(field, whole(field))[whole(field)] == step(field)).all()


@pytest.mark.parametrize(
    ("region", "message"),
    [
        ((slice(0, 2), slice(1, 5), slice(2, 5)), r"region y 1:5 of an array of 8 x 9 x 2 points: 2 points around it"),
        ((slice(0, 2), slice(2, 5), slice(2, 7)), r"region x 2:7"),
        ((slice(0, 2, 2), slice(2, 5), slice(2, 5)), "slices with step 1"),
    ],
)
def test_regions_that_cannot_be(region, message):
    with pytest.raises(InputError, match=message):
        diffused(random((2, 9, 8)), region)


def test_arrays_that_cannot_be():
    team, field = _core.Team(), random((2, 9, 8))
    with pytest.raises(InputError, match="arrays of 8 x 9 x 2 and 8 x 9 x 1 points"):
        _core.diffuse(field, field[:1].copy(), whole(field), ALPHA, team)
    with pytest.raises(InputError, match="overlap in memory"):
        _core.diffuse(field, field, whole(field), ALPHA, team)
    for other in (np.zeros_like(field, "f4"), np.zeros((2, 9, 16))[:, :, ::2]):  # nothing is converted or copied
        with pytest.raises(TypeError):
            _core.diffuse(field, other, whole(field), ALPHA, team)


@pytest.mark.parametrize("threads", [0, -1, 1025])
def test_teams_that_cannot_be(threads):
    with pytest.raises(InputError, match=rf"threads {threads}: 1\.\.1024 are allowed"):
        _core.Team(threads)
