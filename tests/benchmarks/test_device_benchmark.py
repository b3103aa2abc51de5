"""The comparison on a device, rehearsed without one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mpi4py.MPI")

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "benchmarks" / "device.sh"
HAS_DEVICE = any(Path(name).exists() for name in ("/dev/nvidia0", "/dev/dxg"))


@pytest.mark.skipif(HAS_DEVICE, reason="there is a device")
def test_without_a_device_it_ends_before_it_installs_anything() -> None:
    done = subprocess.run(["sh", SCRIPT], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "no NVIDIA device is found here; DEVICE=simulated rehearses without one\n"


@pytest.mark.slow
def test_a_rehearsal_prints_and_keeps_all_figures(tmp_path: Path) -> None:
    results = tmp_path / "results.json"
    rehearsal = {"DEVICE": "simulated", "PYTHON": sys.executable, "RESULTS": str(results)}
    done = subprocess.run(
        ["sh", SCRIPT], env=os.environ | rehearsal, capture_output=True, text=True, timeout=600, check=True
    )
    found = json.loads(results.read_text())
    assert list(found) == ["device", "bits", "copies", "kernels", "steps", "exchanges", "wall_s"]
    assert "no measure of a device" in done.stdout
    assert len(found["bits"]) == 12
    assert set(found["bits"].values()) == {""}
    assert set(found["kernels"]["kernels"]) == {"divergence", "tracer", "naive divergence", "naive tracer"}
    copied = {name: each["device_copies"]["to_host_bytes"] for name, each in found["steps"].items()}
    assert copied["mpdata, 2 ranks"] == copied["diffusion, 2 ranks"] == 0
    assert copied["mpdata by the host, 2 ranks"] > 0
    ways = ["host buffers", "device arrays", "pushes one after another", "pushes at once", "NCCL"]
    assert list(found["exchanges"]) == ways
    assert "these lie in the host's memory" in found["exchanges"].pop("NCCL")["error"]
    assert all(each["seconds"] > 0 for each in found["exchanges"].values())
