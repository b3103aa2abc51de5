"""The device of a name, on a rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tradewind.base.errors import InputError
from tradewind.base.names import unknown
from tradewind.device.device import HOST
from tradewind.device.names import DEVICES, GPUS, HOST_NAME

if TYPE_CHECKING:
    from tradewind.device.device import Device


def open_device(name: str, number: int = 0) -> Device:
    """Return a device by its name. `number`: of the rank on its node; ranks share devices evenly.

    Raises InputError for an unknown name, and where there is no such device.
    """
    if name not in DEVICES:
        raise InputError(unknown("device", name, DEVICES))
    if name == HOST_NAME:
        return HOST
    if name in GPUS:
        from tradewind.device.gpu import Gpu

        return Gpu(name, number)
    from tradewind.device.simulated import SimulatedDevice

    return SimulatedDevice()
