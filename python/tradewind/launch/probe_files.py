"""Rates at which ranks encode, compress and decode, and of the disk of a folder, for a machine file."""

from __future__ import annotations

import importlib.util
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.base.collective import attempt
from tradewind.base.errors import InputError
from tradewind.base.files import check_folder, make_folder
from tradewind.fieldserver.files.reading import read_input
from tradewind.fieldserver.files.sinks import form_of
from tradewind.fieldserver.files.sinks.form import Moment, Place
from tradewind.fieldserver.plan.field import OutputField, Record
from tradewind.fieldserver.plan.geometry import Gaussian
from tradewind.fieldserver.plan.plan_file import load_plan
from tradewind.launch import job

if TYPE_CHECKING:
    from mpi4py import MPI

FIELD = OutputField("t", Gaussian.octahedral(160), grib="t")
"""The field that is encoded: 108,160 points, of doubles."""
BITS, LEVEL = 16, 1
FILE_BYTES = 32 * 2**20
_SAMPLES = 3
_PLAN = f"""
[[sink]]
name = "grib2"
format = "grib2"
path = "{{step}}.grib2"
bits = {BITS}
[[sink]]
name = "netcdf"
format = "netcdf"
path = "{{step}}.nc"
compression = {LEVEL}
[[rule]]
sink = ["grib2", "netcdf"]
"""


def measure_files(ranks: int, folder: str | Path, timeout_s: float | None = None) -> dict[str, float | None]:
    """Measure the rates of a machine's table `files`, in bytes per second, on `ranks` MPI ranks.

    `folder`: where files are written, on the disk that is meant; it is made where it is missing. Starts the ranks, or
    where this process is one of them, is one. Rates of GRIB are None where ecCodes is missing. Raises InputError.
    """
    check_folder(Path(folder), "folder")
    payload = {"folder": str(Path(folder).absolute())}
    result: dict[str, float | None] = job.on_ranks(ranks, f"{__name__}:probe_files", payload, timeout_s=timeout_s)
    return result


def probe_files(comm: MPI.Intracomm, payload: dict[str, Any]) -> dict[str, float | None]:
    """Run on each rank. Collective: all measure the same at the same time, and the slowest counts."""
    trial, problem = attempt(comm, lambda: _folder(payload["folder"]))
    if trial is None:
        raise InputError(problem)
    with trial:
        path = Path(trial.name)
        rates: dict[str, float | None] = {"encode_rate": None, "compress_rate": None, "decode_rate": None}
        values = 280 + np.random.default_rng(1).random((1, FIELD.geometry.points))
        if importlib.util.find_spec("eccodes") is not None:
            prepare, file = _encoder("grib2", path, values)
            rates["encode_rate"] = FIELD.bytes / _slowest_s(comm, prepare)
            rates["decode_rate"] = FIELD.bytes / _slowest_s(comm, lambda: read_input(file))
        rates["compress_rate"] = FIELD.bytes / _slowest_s(comm, _encoder("netcdf", path, values)[0])
        together = comm.Get_size() * FILE_BYTES / _slowest_s(comm, lambda: _write(path))
        alone = FILE_BYTES / _slowest_s(comm, (lambda: _write(path)) if comm.Get_rank() == 0 else _nothing)
    return {**rates, "disk_bandwidth": together, "file_bandwidth": min(alone, together)}


def _folder(folder: str) -> tempfile.TemporaryDirectory[str]:
    make_folder(Path(folder), "folder")
    return tempfile.TemporaryDirectory(dir=folder, prefix=".trial")


def _nothing() -> None:
    """Waits for the others."""


def _encoder(name: str, folder: Path, values: Any) -> tuple[Callable[[], object], Path]:
    """Return what encodes or compresses the field, and a file with it."""
    plan = load_plan("trial", _PLAN)
    request = next(each for each in plan.requests(FIELD.name, 0) if each.sink.name == name)
    made = form_of(name)(Place(folder, durable=False), request.path, Moment(plan.table.start, 0.0), LEVEL)
    (piece,) = made.pieces(Record(FIELD, 0, (0,), values))
    made.append(piece, request, made.prepare(piece, request))
    made.finish()
    return lambda: made.prepare(piece, request), folder / request.path


def _write(folder: Path) -> None:
    """Write a file until it is on the disk."""
    with tempfile.TemporaryFile(dir=folder) as stream:
        stream.write(bytes(FILE_BYTES))
        stream.flush()
        os.fsync(stream.fileno())


def _slowest_s(comm: MPI.Intracomm, work: Callable[[], object]) -> float:
    """Seconds of the slowest rank, in the best of some rounds."""
    from tradewind.mpi.library import MPI

    taken = []
    for _ in range(_SAMPLES):
        comm.Barrier()
        begin = perf_counter()
        work()
        taken.append(comm.allreduce(perf_counter() - begin, MPI.MAX))
    return float(min(taken))
