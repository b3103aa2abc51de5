"""Devices in whose memory fields stay: GPUs of NVIDIA and AMD, one that the host simulates, and the host.

`open_device` finds one by its name. Its loops are kernels of the folder `kernels`: C++ that is compiled for whatever
device runs it.
"""

from __future__ import annotations

from tradewind.device.device import HOST, Copies, Device
from tradewind.device.names import DEVICES, SIMULATED
from tradewind.device.opening import open_device

__all__ = ["DEVICES", "HOST", "SIMULATED", "Copies", "Device", "open_device"]
