"""Names of devices."""

from __future__ import annotations

HOST_NAME = "host"
SIMULATED = "simulated"
GPUS = ("cuda", "rocm")
"""Devices that CuPy knows: GPUs of NVIDIA, and of AMD."""
DEVICES = (HOST_NAME, *GPUS, SIMULATED)
