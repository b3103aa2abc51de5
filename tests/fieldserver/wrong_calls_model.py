"""A model in Python that makes the wrong calls of tests/wrong_calls.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from server_cases import error_of

import tradewind as tw
from tradewind.fieldserver.model.field_server import FieldServer
from tradewind.fieldserver.plan.geometry import Regular
from tradewind.fieldserver.plan.plan_file import load_plan

NX, NY, LEVELS = 8, 6, 2


def wrong_calls(comm: Any, payload: dict[str, Any]) -> list[dict[str, str]]:
    """Return the errors of each rank, by the name of the call."""
    server = FieldServer(load_plan("plan.toml", payload["plan"]), comm, servers=1)
    found: dict[str, str] = {}
    if server.comm is not None:
        for name, call in _calls(server).items():
            found[name] = error_of(call)
    found["close"] = error_of(server.close)
    everyone: list[dict[str, str]] = comm.allgather(found)
    return everyone[:-1]


def _calls(server: FieldServer) -> dict[str, Callable[[], object]]:
    rank = server.comm.Get_rank()
    layout = tw.Blocks(tw.Grid(NX, NY, LEVELS), (1, 2))
    grid = Regular(NX, NY, 0, -50, 45, 20)
    server.define("t", layout, grid)
    field = np.zeros((LEVELS, NY // 2, NX))
    ids = np.arange(rank, NX * NY, 2)
    twice, negative = ids.copy(), ids.copy()
    if rank == 1:
        twice[0], negative[0] = 0, -1
    far = 2**63 - 1
    return {
        "define_twice": lambda: server.define("t", layout, grid),
        "define_other_grid": lambda: server.define("u", layout, Regular(NX, 3, 0, 0, 1, 1)),
        "define_outside": lambda: server.define("u", layout, Regular(NX, NY, 0, 80, 1, 20)),
        "define_no_geometry": lambda: server.define("u", layout, None),
        "define_name": lambda: server.define("a/b", layout, grid),
        "define_levels": lambda: server.define("u", layout, grid, levels=range(1, 6)),
        "define_element": lambda: server.define("u", layout, grid, dtype="c8"),
        "define_level_type": lambda: server.define("u", layout, grid, level_type="presure"),
        "define_points_twice": lambda: server.define("p", twice, grid),
        "define_points_outside": lambda: server.define("p", negative, grid),
        "define_points_missing": lambda: server.define("p", ids[rank:], grid),
        "define_units": lambda: server.define("u", layout, grid, units="\udcb0C"),
        "write_unknown": lambda: server.write("v", field, 0),
        "write_shape": lambda: server.write("t", field[:, :2], 0),
        "write_type": lambda: server.write("t", field.astype("f4"), 0),
        "write_level": lambda: server.write("t", field, 0, level=1),
        "write_step": lambda: server.write("t", field, -3),
        "write_far_step": lambda: server.write("t", field, far),
        "write_low_level": lambda: server.write("t", field, 0, level=-5),
        "end_far_step": lambda: server.end_step(far),
        "write": lambda: server.write("t", field, 2),
        "write_twice": lambda: server.write("t", field, 2),
        "end_step": lambda: server.end_step(2),
        "define_late": lambda: server.define("manifest", layout, grid),
        "write_ended": lambda: server.write("t", field, 2),
        "end_again": lambda: server.end_step(1),
        "read_not_named": lambda: server.read("t", field, "none.grib"),
        "prefetch_nothing": lambda: server.prefetch([]),
        "prefetch": lambda: server.prefetch(["none.grib", "\udcb0.grib"]),
        "read_missing": lambda: server.read("t", field, "none.grib"),
        "read_latin": lambda: server.read("t", field, "\udcb0.grib"),
        "wants": lambda: server.wants("t", 0),
    }
