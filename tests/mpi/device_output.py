"""Output of a field on a fake device, and input into one; run by test_mpi_device.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray
from fake_device import Array, Driver

import tradewind as tw
from tradewind.fieldserver.model.field_server import FieldServer
from tradewind.fieldserver.plan.geometry import Regular
from tradewind.fieldserver.plan.plan_file import load_plan

PLAN = """
folder = "{folder}"
durable = false

[[sink]]
name = "history"
format = "netcdf"
path = "{{step}}.nc"

[[rule]]
sink = "history"
"""


def run(comm: Any, payload: dict[str, str]) -> dict[str, bool]:
    """Whether the files hold the bits of the device, of `write` and of `start`, and a file's values come there."""
    driver = Driver(payload["driver"])
    stream = driver.stream()
    blocks = tw.Blocks(tw.Grid(12, 8, 3), (1, 1))
    values = np.random.default_rng(7).standard_normal((2, 3, 8, 12))
    server = FieldServer(load_plan("plan.toml", PLAN.format(folder=payload["folder"])), comm)
    server.define("t", blocks, Regular(12, 8, 10.0, -3.5, 1.0, 1.0))
    seen = {}
    with server:
        strided = np.zeros((3, 8, 24))[:, :, ::2]
        strided[...] = values[0]
        server.write("t", Array(driver, strided, stream), 0)
        server.end_step(0)
        server.start("t", Array(driver, values[1].copy(), stream), 1).wait()
        server.end_step(1)
        server.finish()
        for step in (0, 1):
            with xarray.open_dataset(f"{payload['folder']}/{step}.nc", engine="netcdf4") as written:
                seen[f"written {step}"] = np.array_equal(written["t"].values.reshape(3, 8, 12), values[step])
        server.prefetch([f"{payload['folder']}/1.nc"])
        target = Array(driver, np.zeros((3, 8, 12)), stream)
        server.read("t", target, f"{payload['folder']}/1.nc")
        seen["read"] = np.array_equal(target.read(), values[1])
    return seen
