"""Plans on arrays of a device by NCCL, without either: a fake one over the fake driver, see device/fake_nccl.cpp.

Its messages are work of streams, carried out as late as order allows; a wrong use of it ends the process.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import fake_device
import pytest

pytest.importorskip("mpi4py.MPI")

import test_mpi_device
from test_mpi_device import MODULES, problems

from tradewind import launch

pytestmark = pytest.mark.skipif(fake_device.CXX is None, reason="no compiler for the fake driver")

BY_NCCL = {"transport": "nccl", "packing": "buffer"}
WHERE = "stage 0 of transposition from .*, burst: "
driver = test_mpi_device.driver  # the fixture


@pytest.mark.parametrize("module", MODULES)
def test_plans_by_nccl_leave_the_bits_that_they_leave_on_the_host(driver, module):
    """A few cases of each pattern, of all transports on the host, and no message staged; all of them are slow."""
    assert problems(2, driver, module, every=19, **BY_NCCL) == {}


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("module", MODULES)
def test_all_plans_by_nccl_leave_the_bits_that_they_leave_on_the_host(driver, module, ranks):
    assert problems(ranks, driver, module, **BY_NCCL) == {}


@pytest.mark.slow
def test_rccl_has_the_same_functions(monkeypatch):
    folder = str(fake_device.folder(fake_device.ROCM))
    monkeypatch.setenv("LD_LIBRARY_PATH", folder, prepend=os.pathsep)
    assert problems(2, folder, "mpi_cases", every=41, **BY_NCCL) == {}


def test_calls_wait_for_nothing_on_the_host(driver):
    """A call returns with its messages in a stream, and the caller's stream in order before and after them."""
    assert launch.run(2, "nccl_cases:order", driver, timeout_s=120) == {
        "host waits": 0,
        "to host": 0,
        "under way": True,
        "values": True,
        "sent": True,
        "start and wait": True,
        "again": True,
    }


def test_a_connection_is_one_plans_as_long_as_that_lives(driver):
    """Plans that are destroyed at any time leave it to the next one; it ends with the communicator, on all ranks."""
    assert launch.run(2, "nccl_cases:connections", driver, timeout_s=120) == {
        "first": 1,
        "after it": 0,
        "beside": 1,
        "both right": True,
        "another communicator": 1,
        "ended": 1,
    }


def test_ranks_that_cannot_be_connected_all_raise(driver):
    """Also those that wait in NCCL for the one that has failed, which send no error of their own."""
    found = launch.run(3, "nccl_cases:refused", driver, timeout_s=120)
    on_host = "transport nccl carries messages between arrays on devices, and these lie in the host's memory"
    assert found["host"] == [f"InputError: {on_host}"] * 3
    no_id = "NCCL 2.27.5: naming the ranks that connect: unhandled system error"
    assert found["no id"] == [f"PlanError: {no_id}"] + [f"PlanError: rank 0 cannot make this plan: {no_id}"] * 2
    failed = "NCCL 2.27.5 cannot connect the ranks: unhandled system error"
    of_last = [f"PlanError: rank 2 cannot make this plan: {failed}"] * 2 + [f"PlanError: {failed}"]
    assert found["fails to connect"] == found["fails once it has joined"] == of_last
    for text in found["one device"]:
        assert text.startswith("PlanError: NCCL 2.27.5 cannot connect the ranks: invalid usage: Duplicate GPU detected")
        assert text.endswith("; ranks that share a device exchange by transport shared or isend-irecv")
    assert found["aborted"] == ["3"] * 3, "also where a rank is connected when another one fails"
    assert found["then"] == ["True"] * 3


def test_a_library_that_is_missing(driver, tmp_path, monkeypatch):
    for name in fake_device.CUDA[:2]:
        (tmp_path / name).symlink_to(Path(driver) / name)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    for text in launch.run(2, "nccl_cases:unloadable", (str(tmp_path), 0), timeout_s=120):
        assert text == (
            "InputError: transport nccl needs NCCL, and none of its libraries can be loaded (libnccl.so.2, "
            "libnccl.so): the wheel nvidia-nccl-cu12 has it; LD_LIBRARY_PATH may name its folder"
        )


@pytest.mark.parametrize(
    ("version", "texts"),
    [
        (
            21304,
            (
                "PlanError: rank 1 cannot make this plan: transport nccl needs NCCL 2.14.0, not NCCL 2.13.4",
                "InputError: transport nccl needs NCCL 2.14.0, not NCCL 2.13.4",
            ),
        ),
        (
            22603,
            (
                "PlanError: the ranks make different plans: rank 0 {NCCL 2.27.5}, rank 1 {NCCL 2.26.3}; all ranks must "
                "make the same ones in the same order",
            )
            * 2,
        ),
    ],
)
def test_other_versions(driver, version, texts, tmp_path, monkeypatch):
    """In processes that have not loaded one yet, as they find it elsewhere."""
    for name in fake_device.CUDA:
        (tmp_path / name).symlink_to(Path(driver) / name)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path), prepend=os.pathsep)
    assert tuple(launch.run(2, "nccl_cases:unloadable", (str(tmp_path), version), timeout_s=120)) == texts


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ("does not call", r"NCCL 2\.27\.5: after 0\.5 s still waiting for messages with rank 1"),
        ("is gone", r"NCCL 2\.27\.5: messages: remote process exited or there was a network error"),
        ("fails", r"NCCL 2\.27\.5: beginning messages: remote process exited or there was a network error"),
    ],
)
def test_a_rank_without_the_others_raises(driver, how, text):
    first, again = launch.run(2, "nccl_cases:failing", (driver, how), timeout_s=120)
    assert re.fullmatch("rank 0, " + WHERE + text, first), first
    assert again == "a plan that has failed cannot be used again: make a new one"
