"""Devices by name, their arrays, and their kernels' compilers."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import fake_cupy
import numpy as np
import pytest

from tradewind.base.errors import InputError
from tradewind.device import DEVICES, gpu, open_device
from tradewind.device.device import HOST
from tradewind.device.simulated import SimulatedDevice


@pytest.mark.parametrize("name", ["host", "simulated", "cuda"])
def test_what_is_put_into_an_array_comes_back(name: str) -> None:
    with fake_cupy.fake_cupy("cuda"):
        device = open_device(name)
        array = device.full((3, 4), np.float32, 1.0)
        device.put(array, np.s_[1:3, 1:], np.arange(6.0).reshape(2, 3))
        wanted = np.ones((3, 4), np.float32)
        wanted[1:3, 1:] = np.arange(6).reshape(2, 3)
        out = np.zeros((3, 4), np.float32)
        assert device.to_host(array, out=out) is out
        assert np.array_equal(out, wanted)
        device.update(array, np.full((3, 4), 2.5))
        other = device.empty((3, 4), np.float32)
        device.copy_within(array, other)
        device.synchronize()
        assert np.array_equal(device.to_host(other), np.full((3, 4), 2.5, np.float32))
        copies = device.copies
        made = 1 if name == "simulated" else 0  # a full array is made on the device, where it can be
        if device.is_host:
            assert (copies.to_host, copies.to_device) == (0, 0)
        else:
            assert (copies.to_host, copies.to_host_bytes) == (2, 96)
            assert (copies.to_device, copies.to_device_bytes) == (2 + made, 24 + 48 + 48 * made)


def test_the_host_does_not_reach_the_memory_of_a_device_by_mistake() -> None:
    array = SimulatedDevice().full((4,), np.float64, 1.0)
    for touch in (np.asarray, list, lambda each: each + 1, np.sum):
        with pytest.raises(TypeError):
            touch(array)
    with pytest.raises(TypeError, match="bytes-like"):
        memoryview(array)


def test_memory_that_was_not_written_is_no_zero() -> None:
    assert np.isnan(HOST.to_host(SimulatedDevice().empty((3,), np.float64)._memory)).all()


def test_an_array_of_the_host_is_no_argument_of_a_kernel() -> None:
    device = SimulatedDevice()
    with pytest.raises(TypeError, match="diffuse_f8: ndarray is neither an array of the device nor a number"):
        device.run("diffuse_f8", 1, np.zeros(3))


@pytest.mark.parametrize("name", ["cuda", "rocm"])
def test_where_no_device_is_found_an_error_says_so(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(library: str) -> None:
        raise OSError(f"{library}: cannot open shared object file")

    monkeypatch.setattr(gpu.ctypes, "CDLL", missing)
    monkeypatch.setattr(gpu, "AMD_DRIVER", Path("/nowhere/kfd"))
    driver = {"cuda": "libcuda.so.1", "rocm": "/nowhere/kfd"}[name]
    text = f"device {name}: no device is found here, as its driver, {driver}, is missing; host, and simulated, are"
    with pytest.raises(InputError, match=re.escape(text)):
        open_device(name)


@pytest.mark.parametrize(
    ("module", "problem"),
    [
        (None, "CuPy cannot be imported .*; pip install 'tradewind\\[cuda\\]' installs it"),
        (fake_cupy.module(is_hip=True, devices=1), "CuPy was made for rocm; with it rocm is allowed"),
        (fake_cupy.module(is_hip=False, devices=0), "no device is found here$"),
        (fake_cupy.module(is_hip=False, devices=-1), "no device is found here \\(cudaErrorNoDevice\\)"),
    ],
)
def test_a_cupy_that_does_not_go_with_the_device(module: Any, problem: str) -> None:
    with (
        mock.patch.object(gpu, "require_driver"),
        mock.patch.dict(sys.modules, {"cupy": module}),
        pytest.raises(InputError, match=f"device cuda: {problem}"),
    ):
        open_device("cuda")


def test_ranks_of_a_node_share_its_devices() -> None:
    with fake_cupy.fake_cupy("cuda", devices=2):
        assert [open_device("cuda", rank).number for rank in range(5)] == [0, 1, 0, 1, 0]
        assert open_device("cuda").description == "fake device, driver 12080, runtime 12090"


def test_a_launch_has_threads_for_all_points_and_no_more_than_take_turns() -> None:
    with fake_cupy.fake_cupy("rocm"):
        device = open_device("rocm")
        field = device.full((4, 4), np.float64, 1.0)
        for points in (0, 1, 257, 10**9):
            device.run("mpdata_flow_f8", points, field, field, 0, 1, 1, 1.0, 0.0, 0.0, 0.0, field)
        launched = [("mpdata_flow_f8", blocks, 256) for blocks in (1, 2, 2 * 16)]
        assert launched == fake_cupy.LAUNCHES


def test_unknown_devices_are_refused_with_those_there_are() -> None:
    with pytest.raises(InputError, match=f"known: {', '.join(DEVICES)}"):
        open_device("opencl")


# The compilers of devices, without a device.

KERNEL = re.compile(r"TRADEWIND_BOTH\((\w+), TRADEWIND_\w+,")


def kernels() -> set[str]:
    """Names of all kernels."""
    found = {f"{name}_{precision}" for name in KERNEL.findall(gpu.source()) for precision in ("f4", "f8")}
    assert len(found) == 30
    return found


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["compute_75", "compute_90"])
def test_the_compiler_of_cuda_takes_the_kernels_and_fuses_nothing(architecture: str) -> None:
    nvidia = pytest.importorskip("nvidia.cuda_nvrtc", reason="the dev extra has NVRTC")
    (library,) = (Path(nvidia.__path__[0]) / "lib").glob("libnvrtc.so.*")
    ptx = compiled(ctypes.CDLL(str(library)), [*gpu.OPTIONS["cuda"], f"--gpu-architecture={architecture}"])
    assert set(re.findall(r"\.entry (\w+)", ptx)) == kernels()
    assert not re.findall(r"\bfma\S*", ptx)


def compiled(nvrtc: ctypes.CDLL, options: list[str]) -> str:
    """The assembly of all kernels, by https://docs.nvidia.com/cuda/nvrtc/"""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    given = (ctypes.c_char_p * len(options))(*(each.encode() for each in options))
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), gpu.source().encode(), b"kernels.cu", 0, None, None) == 0
    failed = nvrtc.nvrtcCompileProgram(program, len(options), given)
    texts = []
    for what in ("ProgramLog",) if failed else ("ProgramLog", "PTX"):
        assert getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size)) == 0
        text = ctypes.create_string_buffer(size.value)
        assert getattr(nvrtc, f"nvrtcGet{what}")(program, text) == 0
        texts.append(text.value.decode())
    assert not failed, texts[0]
    return texts[1]


CLANG = os.environ.get("TRADEWIND_CLANG") or shutil.which("clang++") or shutil.which("clang++-16")
HIP = """
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __forceinline__ inline __attribute__((always_inline))
#define __HIPCC_RTC__ 1
struct Place { unsigned x; };
static __device__ Place block() { return {__builtin_amdgcn_workgroup_id_x()}; }
static __device__ Place thread() { return {__builtin_amdgcn_workitem_id_x()}; }
static __device__ Place size() { return {256u}; }
#define blockIdx block()
#define threadIdx thread()
#define blockDim size()
#define gridDim size()
static __device__ void atomicMin(long long* a, long long v) { __atomic_fetch_min(a, v, __ATOMIC_RELAXED); }
static __device__ void atomicMax(long long* a, long long v) { __atomic_fetch_max(a, v, __ATOMIC_RELAXED); }
static __device__ double floor(double a) { return __builtin_floor(a); }
static __device__ double fabs(double a) { return __builtin_fabs(a); }
static __device__ float fabs(float a) { return __builtin_fabsf(a); }
static __device__ double sqrt(double a) { return __builtin_sqrt(a); }
"""
"""Declarations that hipRTC makes by itself, as far as the kernels use them."""


@pytest.mark.slow
@pytest.mark.skipif(CLANG is None, reason="no clang++; TRADEWIND_CLANG names one")
def test_a_compiler_of_amd_takes_the_kernels_and_fuses_nothing(tmp_path: Path) -> None:
    (tmp_path / "kernels.hip").write_text(HIP + gpu.source())
    target = ["-x", "hip", "--offload-arch=gfx90a", "--cuda-device-only", "-nogpulib", "-nogpuinc"]
    options = ["-std=c++17", "-O2", "-ffp-contract=off", "-S", "-emit-llvm", "kernels.hip", "-o", "kernels.ll"]
    assert CLANG is not None
    done = subprocess.run([CLANG, *target, *options], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "kernels.ll").read_text()
    assert set(re.findall(r"define \S+ amdgpu_kernel void @(\w+)", text)) == kernels()
    assert not re.findall(r"llvm\.fm\w+|\bcontract\b", text)
