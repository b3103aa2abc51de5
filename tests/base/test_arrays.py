"""Arrays of other libraries: the same memory as NumPy's, or one error that says what is missing."""

from __future__ import annotations

import array
import re

import numpy as np
import pytest
from foreign import CudaInterface, Exported, OnDevice

import tradewind as tw
from tradewind.base.arrays import host_array, is_array
from tradewind.base.errors import InputError
from tradewind.layout.lists import ids


def test_an_array_of_numpy_is_taken_as_it_is():
    mine = np.zeros((3, 4))
    assert host_array("it", mine) is mine


@pytest.mark.parametrize("view", [np.s_[:], np.s_[::2, 1:], np.s_[:, ::-1]], ids=["all", "strided", "backwards"])
def test_dlpack_shows_the_same_memory(view):
    mine = np.arange(12.0).reshape(3, 4)[view]
    seen = host_array("it", Exported(mine))
    assert (seen.shape, seen.strides, seen.dtype) == (mine.shape, mine.strides, mine.dtype)
    seen[0, 0] = -5
    assert mine[0, 0] == -5


def test_what_may_not_be_written_stays_so():
    mine = np.arange(3.0)
    assert not host_array("it", Exported(mine, legacy=True)).flags.writeable  # it cannot say that it may
    mine.flags.writeable = False
    assert not host_array("it", Exported(mine)).flags.writeable


@pytest.mark.parametrize("make", [lambda: array.array("d", [1, 2, 3]), lambda: memoryview(np.array([1.0, 2.0, 3.0]))])
def test_the_buffer_protocol_shows_the_same_memory(make):
    mine = make()
    seen = host_array("it", mine)
    seen[1] = 7
    assert list(mine) == [1, 7, 3]


@pytest.mark.parametrize("value", [[1.0, 2.0], (np.zeros(2), np.zeros(2)), "text", b"text", 3.0, None])
def test_what_is_no_array_is_none(value):
    assert host_array("it", value) is None
    assert not is_array(value)


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (OnDevice(2, 1), "CUDA 1"),
        (OnDevice(10), "ROCm 0"),
        (OnDevice(13), "CUDA managed 0"),
        (OnDevice(77, 3), "DLPack device type 77 3"),
        (CudaInterface(), "CUDA"),
    ],
)
def test_a_device_is_refused_by_name_where_the_host_reads(value, named):
    assert is_array(value)
    with pytest.raises(
        InputError,
        match=re.escape(
            f"it lies in the memory of a device, {named}: arrays in the host's memory are allowed here, and in plans "
            "those of CUDA and ROCm; copy it to the host first"
        ),
    ):
        host_array("it", value)


def test_pinned_memory_is_the_hosts():
    class Pinned(Exported):
        def __dlpack_device__(self):
            return (3, 0)

    assert is_array(Pinned(np.zeros(2)))
    assert host_array("it", Pinned(np.arange(2.0)))[1] == 1


def test_what_its_library_does_not_hand_out_is_an_error_of_ours():
    with pytest.raises(InputError, match="it is a Exported that cannot be seen as a NumPy array: DLPack only"):
        host_array("it", Exported(np.arange(3, dtype=">f8")))


def test_lists_of_points_come_by_dlpack_too():
    assert ids("wanted", Exported(np.array([4, 2, 7]))).tolist() == [4, 2, 7]
    assert ids("wanted", array.array("q", [4, 2])).tolist() == [4, 2]
    fetch = tw.Fetch([Exported(np.arange(3)), np.arange(3, 5)], [Exported(np.array([4])), [0]])
    assert [rank for rank, _ in fetch.sent_by(1)] == [0]


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: ids("wanted", OnDevice()), "wanted"),
        (lambda: tw.Fetch([OnDevice(), [1]], [[1], [0]]), "rank 0"),
        (lambda: tw.Fetch([[0], [1]], [[1], CudaInterface()]), "rank 1"),
        (lambda: tw.Fetch.of_owners([1, 1], [(OnDevice(), [0]), ([0], [0])]), "owner"),
        (lambda: tw.Fetch.of_owners([1, 1], [([1], OnDevice()), ([0], [0])]), "index"),
        (lambda: tw.Fetch.of_owners([1, 1], [([1], [0]), ([0], [0])], [[0], OnDevice()]), "place"),
    ],
)
def test_lists_of_points_on_a_device_are_refused(make, what):
    with pytest.raises(InputError, match=f"{what}.* lies in the memory of a device, CUDA"):
        make()
