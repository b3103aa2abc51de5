"""Advice on output: in place, on threads or on servers, and on how many, from rates that are measured here.

The model takes t seconds between two outputs on all cores, encoding e on one, the disk w, and to hand over costs each
rank h. On c cores, of which s are servers with k threads each, an interval takes

    in place    t + h + e / min(c, files) + w
    threads     t + h + e / c, or w where that is longer
    s servers   t c / (c - s) + h, or e / (s k) or w where these are longer
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from tradewind.base.errors import InputError
from tradewind.base.files import check_folder, make_folder
from tradewind.fieldserver.files.sinks import form_of
from tradewind.fieldserver.files.sinks.form import Moment, Place
from tradewind.fieldserver.plan.field import OutputField, Record
from tradewind.fieldserver.plan.plan_file import OutputPlan, Request
from tradewind.fieldserver.plan.space import file_bytes

IN_PLACE, THREADS = "in place", "threads"
_TRIAL_BYTES = 32 * 2**20
_SAMPLES, _FEW = 3, 4
_TOLERANCE = 1.01
"""Ways that take as long as the best within this take fewer servers."""


@dataclass(frozen=True)
class Load:
    """The load of an output interval. Seconds on one core, but for `work_s`, which is on all."""

    work_s: float
    encode_s: float
    disk_s: float
    handover_s: float
    """Time of each rank, where all hand over their parts at the same time."""
    files: int = 1


@dataclass(frozen=True)
class Way:
    """A way to write: seconds of an interval, those of them that the model does not compute, and what bounds it."""

    name: str
    servers: int
    interval_s: float
    lost_s: float
    bottleneck: str


def ways(load: Load, cores: int, threads: int = 1) -> list[Way]:
    """The ways to write on `cores` cores, in place, threads, then by the number of servers. Raises InputError."""
    if cores < 1 or load.work_s <= 0:
        raise InputError(f"{cores} cores, {load.work_s:g} s between outputs: 1 or more, and more than 0, are allowed")
    encode_here = load.encode_s / min(cores, max(1, load.files))
    at_once = load.work_s + load.handover_s + encode_here + load.disk_s
    largest = max({"disk": load.disk_s, "encoding": encode_here, "hand-over": load.handover_s}.items(), key=_second)
    found = [_way(load, IN_PLACE, 0, {largest[0]: at_once})]
    beside = load.work_s + load.handover_s + load.encode_s / cores
    found.append(_way(load, THREADS, 0, {"model": beside, "disk": load.disk_s}))
    for servers in range(1, cores):
        model = load.work_s * cores / (cores - servers) + load.handover_s
        bounds = {"model": model, "encoding": load.encode_s / (servers * threads), "disk": load.disk_s}
        found.append(_way(load, "1 server" if servers == 1 else f"{servers} servers", servers, bounds))
    return found


def _second(pair: tuple[str, float]) -> float:
    return pair[1]


def _way(load: Load, name: str, servers: int, bounds: dict[str, float]) -> Way:
    bottleneck, interval_s = max(bounds.items(), key=_second)
    return Way(name, servers, interval_s, interval_s - load.work_s, bottleneck)


def best(found: Sequence[Way]) -> Way:
    """The fastest way; of those that are as fast the one with the fewest servers."""
    shortest = min(way.interval_s for way in found)
    return min((way for way in found if way.interval_s <= _TOLERANCE * shortest), key=lambda way: way.servers)


def measure(
    plan: OutputPlan, fields: Sequence[OutputField], ranks: int, step: int = 0
) -> tuple[Load, dict[str, float]]:
    """Measure, on one core, what it costs to encode, to write to the folder and to hand over the fields of step `step`.

    Returns the load without the work of the model, and the rates. Encodes a few levels of a field. Raises InputError.
    """
    check_folder(plan.folder, "folder")
    make_folder(plan.folder, "folder")
    encode_s, written, raw, paths = 0.0, 0.0, 0, set()
    with tempfile.TemporaryDirectory(dir=plan.folder, prefix=".trial") as trial:
        disk = _disk_rate(trial)
        for field in fields:
            raw += field.bytes
            for request in plan.requests(field.name, step):
                paths.add(request.path)
                encode_s += _field_s(trial, plan, field, request)
                written += file_bytes(field, request)
    copy = _copy_rate()
    load = Load(1.0, encode_s, written / disk, raw / copy / ranks, len(paths))
    rates = {"disk_bytes_per_s": disk, "copy_bytes_per_s": copy, "raw_bytes": float(raw), "written_bytes": written}
    return load, rates


def advise(plan: OutputPlan, fields: Sequence[OutputField], ranks: int, work_s: float, step: int = 0) -> dict[str, Any]:
    """Advise on the output of a model that takes `work_s` seconds between outputs on `ranks` cores. Raises InputError.

    `step`: whose output is measured. Returns `best`, `servers`, `bottleneck`, `results` (each way), `load`, `rates`.
    """
    plan.check_fields([field.name for field in fields])
    measured, rates = measure(plan, fields, ranks, step)
    load = Load(**asdict(measured) | {"work_s": work_s})
    found = ways(load, ranks, plan.table.threads)
    chosen = best(found)
    shown = [way for way in found if way.servers <= 2 * max(1, chosen.servers) + 2]
    return {
        "best": chosen.name,
        "servers": THREADS if chosen.name == THREADS else chosen.servers,
        "bottleneck": chosen.bottleneck,
        "results": [asdict(way) for way in sorted(shown, key=lambda way: way.interval_s)],
        "load": asdict(load),
        "rates": rates,
    }


def _shortest(work: Callable[[], object]) -> float:
    taken = []
    for _ in range(_SAMPLES):
        begin = perf_counter()
        work()
        taken.append(perf_counter() - begin)
    return min(taken)


def _field_s(trial: str, plan: OutputPlan, field: OutputField, request: Request) -> float:
    """Seconds to bring a field into a file: of a few levels, and from there of all."""
    few = min(len(field.levels), _FEW)
    all_few = _levels_s(trial, plan, field, request, few)
    if few == len(field.levels):
        return all_few
    each = max(0.0, all_few - _levels_s(trial, plan, field, request, 1)) / (few - 1)
    return all_few + each * (len(field.levels) - few)


def _levels_s(trial: str, plan: OutputPlan, field: OutputField, request: Request, levels: int) -> float:
    """Seconds to bring the first levels of a field into a file."""
    kind = form_of(request.sink.format)
    kind.check(field, request)
    some = replace(field, levels=field.levels[:levels])
    values = 280 + np.random.default_rng(1).random((levels, field.geometry.points)).astype(field.dtype)
    record = Record(some, 0, tuple(range(levels)), values)

    def write() -> None:
        with tempfile.TemporaryDirectory(dir=trial) as folder:
            place = Place(Path(folder), durable=False)
            file = kind(place, "trial", Moment(plan.table.start, 0.0), request.sink.compression)
            for piece in file.pieces(record):
                file.append(piece, request, file.prepare(piece, request))
            file.finish()

    return _shortest(write)


def _disk_rate(folder: str) -> float:
    """Bytes that the disk of a folder takes per second, until they are there."""
    content = np.random.default_rng(1).bytes(_TRIAL_BYTES)

    def write() -> None:
        with tempfile.TemporaryFile(dir=folder) as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())

    return _TRIAL_BYTES / _shortest(write)


def _copy_rate() -> float:
    source = np.ones(_TRIAL_BYTES // 8)
    target = np.zeros_like(source)
    return _TRIAL_BYTES / _shortest(lambda: np.copyto(target, source))
