"""Encoding and compression: messages of GRIB beside ecCodes alone, compression of all cores beside one thread's."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from outputs.model import PACKED, memory_folder, plan_text, points_of
from tradewind.launch import job

GOAL_ENCODE, GOAL_PACKED = 1.1, 0.8
REPEAT = 5


def fastest(work: Callable[[], None]) -> float:
    """Least seconds of a few calls."""
    samples = []
    for _ in range(REPEAT):
        begin = perf_counter()
        work()
        samples.append(perf_counter() - begin)
    return min(samples)


def grib(n: int, fields: int) -> None:
    """Messages of a step, each from a template with all keys set: ours also sets level and time, and refuses NaN."""
    import eccodes

    import tradewind as tw
    from tradewind.fieldserver.files.sinks.form import Moment
    from tradewind.fieldserver.files.sinks.grib import Template, message
    from tradewind.fieldserver.plan.field import OutputField
    from tradewind.fieldserver.plan.geometry import Gaussian

    field = OutputField("f", Gaussian(tuple(int(row) for row in tw.ReducedGrid.octahedral(n).rows)))
    values = 280 + 20 * np.random.default_rng(2).random(field.geometry.points)
    template = Template.of(field, "simple", 16, None).handle
    when = Moment(datetime(2026, 1, 1), 3600.0)

    def alone() -> None:
        for _ in range(fields):
            handle = eccodes.codes_clone(template)
            eccodes.codes_set_values(handle, values)
            bytes(eccodes.codes_get_message(handle))
            eccodes.codes_release(handle)

    def ours() -> None:
        for _ in range(fields):
            message(field, 1.0, values, when, packing="simple", bits=16)

    alone_s, ours_s = fastest(alone), fastest(ours)
    print(
        f"GRIB2 encoding: {ours_s / alone_s:.2f} x ecCodes alone, {1e3 * alone_s:.0f} ms per step; "
        f"goal: most {GOAL_ENCODE}"
    )


def writing(comm: Any, payload: dict[str, Any]) -> float:
    """Seconds of the slowest of all ranks, each a server that packs a step. `threads` of each."""
    from tradewind.fieldserver.plan.field import OutputField, Record
    from tradewind.fieldserver.plan.geometry import Unstructured
    from tradewind.fieldserver.plan.plan_file import load_plan
    from tradewind.fieldserver.server.writer import Block, Job, Writer

    folder = Path(payload["folder"]) / str(comm.Get_rank())
    plan = load_plan("plan.toml", plan_text(folder, PACKED, threads=payload["threads"]))
    values = smooth(payload["n"])
    levels = range(payload["levels"])
    whole = np.ascontiguousarray(np.broadcast_to(values, (len(levels), len(values))))
    fields = [
        OutputField(f"f{number}", Unstructured(len(values)), tuple(map(float, levels)))
        for number in range(payload["fields"])
    ]
    writer = Writer(plan)
    comm.Barrier()
    begin = perf_counter()
    writer.submit(
        Block([Job(Record(field, 0, tuple(levels), whole), plan.requests(field.name, 0)) for field in fields])
    )
    writer.end_step(0)
    writer.close()
    seconds = perf_counter() - begin
    if writer.errors:
        raise RuntimeError(writer.errors[0])
    return float(max(comm.allgather(seconds)))


def smooth(n: int) -> Any:
    """A field that is as compressible as those of models: waves, and noise of a thousandth."""
    place = np.linspace(0, 60, points_of(n))
    return 280 + 20 * np.sin(place) * np.cos(7 * place) + 0.02 * np.random.default_rng(2).random(len(place))


def compression(n: int, fields: int, levels: int) -> None:
    """Level 4 of NetCDF: a loop on one thread, a server with a thread for each core, as many servers as cores."""
    from tradewind.fieldserver.files.sinks.netcdf import packed

    cores = len(os.sched_getaffinity(0))
    values = smooth(n).astype("f4")

    def loop() -> None:
        for _ in range(fields * levels):
            packed(values, 4)

    size = fields * levels * values.nbytes
    one = size / fastest(loop)
    print(f"compression, level 4, {fields} fields of {levels} levels, one thread: {one / 1e6:.0f} MB/s")
    for name, ranks in ((f"a server with {cores} threads", 1), (f"{cores} servers", cores)):
        threads = cores // ranks
        with memory_folder() as folder:
            payload = {"folder": str(folder), "n": n, "fields": fields * threads, "levels": levels, "threads": threads}
            seconds = min(
                job.run(ranks, f"{__name__}:writing", payload | {"folder": f"{folder}/{i}"}) for i in range(3)
            )
        rate = cores * size / seconds
        print(f"  {name}: {rate / 1e6:.0f} MB/s, {rate / one / cores:.2f} of {cores} x that; goal: least {GOAL_PACKED}")
