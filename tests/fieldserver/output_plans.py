"""Plans and fields that tests of the field server share."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tradewind.fieldserver.plan.field import OutputField, Record
from tradewind.fieldserver.plan.geometry import Gaussian, Regular
from tradewind.fieldserver.plan.plan_file import OutputPlan, load_plan

PLAN = """
folder = "{folder}"
start = 2026-11-27T00:00:00
step = "360s"
durable = false
{more}

[[sink]]
name = "messages"
format = "grib2"
path = "grib/{{step:04}}.grib2"
packing = "ccsds"
bits = 16

[[sink]]
name = "history"
format = "netcdf"
path = "nc/{{step:04}}.nc"
precision = "f4"

[[sink]]
name = "archive"
format = "zarr"
path = "run.zarr"
compression = 1

[[rule]]
sink = ["messages", "history", "archive"]

[field.t]
units = "K"
standard_name = "air_temperature"
grib = "t"

[field.q]
units = "1"
grib = "q"
"""
T = OutputField("t", Regular(12, 8, 10.0, -3.5, 1.0, 1.0), (1.0, 2.0, 3.0))
Q = OutputField("q", Gaussian.octahedral(8), (1.0,))


def plan(folder: Path, more: str = "", text: str = PLAN) -> OutputPlan:
    """The plan of these tests."""
    return load_plan("plan.toml", text.format(folder=folder, more=more))


def described(plan: OutputPlan, field: OutputField) -> OutputField:
    return field.described(plan.table.field.get(field.name))


def values(field: OutputField, step: int) -> np.ndarray:
    """[level][point], other numbers for each step, level and point."""
    levels = np.arange(len(field.levels))[:, None]
    return 280.0 + step + 10 * levels + np.sin(np.arange(field.geometry.points) + step)


def record(field: OutputField, step: int) -> Record:
    return Record(field, step, tuple(range(len(field.levels))), values(field, step))
