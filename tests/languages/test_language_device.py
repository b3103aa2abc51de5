"""Plans of C and Fortran on pointers to the memory of a device, without one: see tests/mpi/device/fake_driver.cpp."""

from __future__ import annotations

import os

import fake_device
import pytest

STAGED = "staged through pinned memory of the host (MPI does not take pointers of the device: the trial ended "


PLAN = """
folder = "output"
durable = false

[[sink]]
name = "history"
format = "netcdf"
path = "{step}.nc"

[[rule]]
sink = "history"
"""


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


@pytest.mark.parametrize("program", ["device_c", "device_fortran"])
def test_a_plan_by_nccl(on_ranks, where, program):
    assert "from device to device by NCCL 2.27.5" in on_ranks(2, program, "nccl", **where).stdout


@pytest.mark.slow
@pytest.mark.parametrize("program", ["device_c", "device_fortran"])
def test_field_servers_take_fields_of_a_device(beside, tmp_path, monkeypatch, where, program):
    """They are copied to the host, and what is read is copied back, in the order of the default stream."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.toml").write_text(PLAN)
    assert beside(1, program, 1, "output", environment=where).stdout.startswith("the bits of the device\n")
