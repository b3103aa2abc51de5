"""Plans on arrays of a device, without one: a fake driver behind the code that a GPU would run.

Its memory ends the process of a host that touches it, and what is put into a stream is carried out as late as order
allows: see device/fake_driver.cpp. Every case of the host's plans is carried out on both, and must leave the same bits.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import fake_device
import pytest

pytest.importorskip("mpi4py.MPI")

from tradewind import launch

pytestmark = pytest.mark.skipif(fake_device.CXX is None, reason="no compiler for the fake driver")

MODULES = ("mpi_cases", "fetch_cases", "gather_scatter_cases")


@pytest.fixture(scope="module")
def driver() -> Iterator[str]:
    """The folder of the driver, in which the trial's child process finds it, too."""
    folder = str(fake_device.folder())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LD_LIBRARY_PATH", folder, prepend=os.pathsep)
        yield folder


@pytest.fixture
def aware(driver: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The same with an MPI library that takes pointers of the device."""
    library = fake_device.aware_mpi()
    if library is None:
        pytest.skip("no compiler for programs with MPI")
    monkeypatch.setenv("LD_PRELOAD", str(library))
    return driver


def problems(
    ranks: int, driver: str, module: str, every: int = 1, *, mpi_takes: bool = False, **own: str
) -> dict[str, str]:
    payload = {"driver": driver, "module": module, "every": every, "mpi_takes": mpi_takes, "own": own}
    outcomes = launch.run(ranks, "device_cases:run", payload, timeout_s=280)
    assert outcomes
    return {name: problem for name, problem in outcomes.items() if problem}


@pytest.mark.parametrize("module", MODULES)
def test_plans_leave_on_a_device_the_bits_that_they_leave_on_the_host(driver, module):
    """A few cases of each pattern, and no message staged in silence; all of them are slow."""
    assert problems(2, driver, module, every=23) == {}


@pytest.mark.slow
def test_rocm_has_the_same_functions_by_other_names(monkeypatch):
    folder = str(fake_device.folder(fake_device.ROCM))
    monkeypatch.setenv("LD_LIBRARY_PATH", folder, prepend=os.pathsep)
    assert problems(2, folder, "mpi_cases", every=37) == {}


FIND_POINTERS = """
import ctypes
import fake_device
from mpi4py import MPI
from tradewind import _mpi

driver = fake_device.Driver(fake_device.os.environ["LD_LIBRARY_PATH"].split(":")[0])
driver.call("cuMemAlloc_v2", ctypes.byref(memory := ctypes.c_void_p()), ctypes.c_size_t(64))
host = ctypes.create_string_buffer(64)
print(_mpi.device_of(memory.value), _mpi.device_of(ctypes.addressof(host)))
"""


@pytest.mark.slow
@pytest.mark.parametrize("release", ["5", "6"])
def test_pointers_of_a_device_are_found_by_rocm_of_any_release(release, monkeypatch):
    """Types of memory have other numbers in ROCm 5."""
    monkeypatch.setenv("LD_LIBRARY_PATH", str(fake_device.folder(fake_device.ROCM)), prepend=os.pathsep)
    monkeypatch.setenv("TRADEWIND_FAKE_ROCM", release)
    command = [sys.executable, "-c", FIND_POINTERS]
    found = subprocess.run(command, cwd=fake_device.HERE, capture_output=True, text=True, check=True)
    assert found.stdout == "('rocm', 0) None\n"


def test_mpi_that_takes_pointers_of_the_device_is_given_them(aware):
    assert problems(2, aware, "mpi_cases", every=17, mpi_takes=True) == {}


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("module", MODULES)
def test_all_plans_leave_on_a_device_the_bits_that_they_leave_on_the_host(driver, module, ranks):
    assert problems(ranks, driver, module) == {}


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES)
def test_all_plans_give_mpi_pointers_where_it_takes_them(aware, module):
    assert problems(2, aware, module, mpi_takes=True) == {}


def test_calls_order_themselves_with_the_work_of_the_caller(driver):
    """Work in the caller's stream is neither awaited nor overtaken; other streams do not matter."""
    seen = launch.run(2, "device_order:run", driver, timeout_s=120)
    assert seen == {
        "pending before": True,
        "pending after": True,
        "halo": True,
        "start and wait": True,
        "another stream": True,
        "pushes": ["all at once, in turn", "one after another, in turn"],
    }


@pytest.mark.slow
def test_output_and_input_of_a_device(driver, tmp_path):
    pytest.importorskip("eccodes")
    payload = {"driver": driver, "folder": str(tmp_path)}
    seen = launch.run(1, "device_output:run", payload, timeout_s=120)
    assert seen == {"written 0": True, "written 1": True, "read": True}


def test_dwarfs_on_a_device_exchange_there(driver):
    """Their plans take the fields as they lie, and the loops' order with the exchanges is that of the stream."""
    outcomes = launch.run(2, "device_dwarfs:run", driver, timeout_s=240)
    assert len(outcomes) == 5
    for name, same, staging in outcomes:
        assert same, name
        assert all(staging), name
    assert outcomes[3][2][0].startswith("within the node pushes")


def test_what_a_plan_on_a_device_does_not_take(driver):
    assert launch.run(1, "device_order:refused", driver, timeout_s=120) == {
        "host and device": "source field 1 lies in the memory of the host, source field 0 in that of CUDA 0: all "
        "fields of a plan lie in one memory",
        "two streams": "source field 1 names the stream 2, another field 1: name one, as `stream`",
        "no stream": "stream 'fast': its number is allowed, or a stream of CuPy, PyTorch or Numba, or another with "
        "__cuda_stream__",
        "read-only": "source field 0 is read-only, but the plan writes into it",
        "stream of the host": "the stream of a plan on arrays in the host's memory: those of a device have one",
        "variable": "TRADEWIND_DEVICE_MPI=fast: direct and staged are allowed",
    }


def test_the_host_may_not_touch_memory_of_the_device(driver):
    """So no plan does, or the tests above would end."""
    code = "from device_order import touch; import sys; touch(sys.argv[1])"
    done = subprocess.run([sys.executable, "-c", code, driver], capture_output=True, timeout=60, check=False)
    assert done.returncode < 0
