"""The arrays of a plan, as one rank checks them alone: their checks, and their description for the core."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("mpi4py.MPI")

from foreign import Exported, OnDevice

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.mpi.fields import checked, checked_dims, checked_targets, described_box, host_arrays

GRID = _core.Grid(6, 5, 4)
HALO = _core.Halo(_core.Blocks(GRID, (2, 1)), 1, [True, True])
SWAP = _core.Transpose(_core.Blocks(GRID, (2, 1)), _core.Blocks(GRID, (2, 1), "zy"))
SUM = _core.AllReduce(2, 7)


def test_one_array_or_several_of_any_library_are_a_list_of_numpys():
    a, b = np.zeros(3), np.zeros(3)
    assert host_arrays("source", a)[0] is a
    assert [found is mine for found, mine in zip(host_arrays("source", (a, b)), (a, b), strict=True)] == [True, True]
    (alone,) = host_arrays("source", Exported(a))
    mixed = host_arrays("source", [Exported(a), memoryview(b)])
    for found, mine in ((alone, a), (mixed[0], a), (mixed[1], b)):
        assert isinstance(found, np.ndarray)
        assert np.shares_memory(found, mine)


def test_the_field_that_lies_on_a_device_is_named():
    with pytest.raises(InputError, match="target field 1 lies in the memory of a device, CUDA 0"):
        host_arrays("target", [np.zeros(3), OnDevice()])


@pytest.mark.parametrize(
    ("fields", "writable", "expected"),
    [
        ([], False, "no it field"),
        ([[1.0]], False, "it field 0 is a list: an array is allowed"),
        ([np.zeros(3), np.zeros(3, "f4")], False, "it field 1 has the type float32, field 0 float64"),
        (np.zeros(3, "u2"), False, "has the type uint16"),
        (np.broadcast_to(0.0, (3, 3)), True, "is read-only"),
        (np.lib.stride_tricks.as_strided(np.zeros(3), (2, 3), (0, 8)), True, "repeats elements"),
        (np.zeros(33, "i1")[1:].view("f8"), False, "is not aligned"),
    ],
)
def test_what_a_plan_cannot_take_is_refused(fields, writable, expected):
    with pytest.raises(InputError, match=expected):
        checked("it", fields, writable=writable)


def test_what_is_only_read_may_repeat_elements():
    repeated = np.broadcast_to(1.0, (3, 3))
    assert checked("it", repeated, writable=False)[0] is repeated


def test_targets_stand_apart_from_sources_and_from_each_other():
    whole = np.zeros(100)
    assert checked_targets(HALO, [whole], None)[0] is whole  # in place
    with pytest.raises(InputError, match="a halo works in place: give no target"):
        checked_targets(HALO, [whole], whole)
    with pytest.raises(InputError, match="a transpose needs target arrays"):
        checked_targets(SWAP, [whole], None)
    with pytest.raises(InputError, match="target field 0 and source field 0 overlap in memory"):
        checked_targets(SWAP, [whole[:60]], whole[40:])
    with pytest.raises(InputError, match="target field 0 and target field 1 overlap in memory"):
        checked_targets(SWAP, [np.zeros(3)], [whole[:60], whole[40:]])
    with pytest.raises(InputError, match="the source has the type float64, the target float32"):
        checked_targets(SWAP, [whole], np.zeros(3, "f4"))
    apart = checked_targets(SWAP, [whole[::2]], whole[1::2])  # in each other's gaps, and no element in both
    assert apart[0].base is whole


@pytest.mark.parametrize("dims", ["zyx", "xyz", "yxz"])
def test_the_core_is_told_points_and_strides_along_x_y_and_z(dims):
    array = np.zeros((2, 3, 4), "f4")
    _, points, strides = described_box(array, HALO, dims)
    by_name = dict(zip(dims, zip(array.shape, array.strides, strict=True), strict=True))
    assert list(zip(points, strides, strict=True)) == [by_name[axis] for axis in "xyz"]


def test_a_vector_lies_along_x_and_only_a_reduction_takes_one():
    _, points, strides = described_box(np.zeros(7)[::-1], SUM, "zyx")
    assert (tuple(points), strides[0]) == ((7, 1, 1), -8)
    with pytest.raises(InputError, match=r"a field of shape \(7,\): three dimensions, \(nz, ny, nx\), are allowed"):
        described_box(np.zeros(7), HALO, "zyx")
    with pytest.raises(InputError, match="one dimension are allowed"):
        described_box(np.zeros((2, 2)), SUM, "zyx")


@pytest.mark.parametrize("dims", ["zy", "zyy", "abc", "xyzz"])
def test_dims_are_an_order_of_three_letters(dims):
    with pytest.raises(InputError, match=f"dims '{dims}'"):
        checked_dims(dims)
    assert checked_dims("xzy") == "xzy"
