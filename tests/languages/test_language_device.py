"""Plans of C and Fortran on pointers to the memory of a device, without one: see tests/mpi/device/fake_driver.cpp."""

from __future__ import annotations

import os

import fake_device
import pytest

STAGED = "staged through pinned memory of the host (MPI does not take pointers of the device: the trial ended by signal"


@pytest.fixture(scope="module")
def where() -> dict[str, str]:
    """The environment in which programs find the driver."""
    return {"LD_LIBRARY_PATH": os.pathsep.join([str(fake_device.folder()), os.environ.get("LD_LIBRARY_PATH", "")])}


def test_c_takes_pointers_of_a_device(on_ranks, where):
    host, device, mixed = on_ranks(2, "device_c", **where).stdout.splitlines()
    assert host == "host|"
    assert device.startswith(f"device|{STAGED}")
    assert mixed == (
        "source field 1 lies in the memory of the host, source field 0 in that of CUDA 0: all fields of a plan lie "
        "in one memory"
    )


def test_fortran_takes_pointers_of_a_device(on_ranks, where):
    assert on_ranks(2, "device_fortran", **where).stdout.startswith(STAGED)
