"""A model of one rank whose folders lose their rights; prints its errors. Started without the rights of root."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from mpi4py import MPI
from output_plans import PLAN, T, values

import tradewind as tw
from tradewind.base.errors import TradewindError
from tradewind.fieldserver.files.manifest import Manifest, check
from tradewind.fieldserver.files.reading import read_input
from tradewind.fieldserver.model.field_server import FieldServer
from tradewind.fieldserver.plan.plan_file import load_plan

STEPS = 4


def error_of(call: Callable[[], object]) -> str:
    """The error of a call."""
    try:
        call()
    except TradewindError as error:
        return f"{type(error).__name__}: {error}"
    return ""


def run(folder: Path, servers: int | str, closed: list[Path]) -> list[str]:
    """Write four steps; the folders `closed` take no files in steps 1 and 2. Returns all errors."""
    text = PLAN[: PLAN.index("[field.q]")]
    server = FieldServer(load_plan("plan.toml", text.format(folder=folder, more="")), MPI.COMM_SELF, servers=servers)
    server.define("t", tw.Blocks(tw.Grid(12, 8, 3), (1, 1)), T.geometry)
    errors = []
    for step in range(STEPS):
        if step in (1, 3):
            errors.append(error_of(server.finish))
            for path in closed:
                path.chmod(0o555 if step == 1 else 0o755)
        server.write("t", np.ascontiguousarray(values(T, step).reshape(3, 8, 12)), step)
        errors.append(error_of(lambda step=step: server.end_step(step)))
    errors.append(error_of(server.close))
    return [each for each in errors if each]


def main(base: Path) -> None:
    """Try all that may have no rights."""
    found: dict[str, object] = {}
    refused = base / "refused"
    refused.mkdir()
    for name, rights in (("read", 0o555), ("none", 0o000)):
        refused.chmod(rights)
        for folder in (refused, refused / "below"):
            found[f"{name} {folder.name}"] = error_of(lambda folder=folder: run(folder, 0, []))
    for servers in (0, "threads"):
        for place in (".", "manifest", "run.zarr/t/c"):
            folder = base / str(servers) / place.partition("/")[0] if place != "." else base / str(servers) / "all"
            whole = [folder / each for each in (".", "nc", "grib")]
            closed = whole if place == "." else [folder / place]
            for each in closed:
                each.mkdir(parents=True, exist_ok=True)
            errors = run(folder, servers, closed)
            found[f"{servers} {place}"] = [errors, Manifest(folder).steps(), check(folder)]
    unread = base / "input.nc"
    unread.write_bytes(b"nothing")
    unread.chmod(0)
    found["input"] = error_of(lambda: read_input(unread))
    print(json.dumps(found))


main(Path(sys.argv[1]))
