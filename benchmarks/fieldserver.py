"""The field server beside a model that computes: how long the model waits, in one run with other ways to write.

One model rank and one server, 20 fields of O320 per step, 16 bits in GRIB's simple packing, a memory file system, and
0.2 s of work per step: a number of flops, which is calibrated. ``python benchmarks/fieldserver.py`` runs it alone.
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from tradewind.launch import job

PLAN = """
folder = "{folder}"
durable = false
queue = "1GiB"

[[sink]]
name = "messages"
format = "grib2"
path = "{{step}}.grib2"
packing = "simple"
bits = 16

[[rule]]
sink = "messages"
"""
N, FIELDS, STEPS, WORK_S = 320, 20, 10, 0.2
SHARED = {"transport": "shared", "packing": "direct"}
MESSAGES = {"transport": "isend-irecv", "packing": "direct"}
WAYS: dict[str, tuple[int, int | str, dict[str, str] | None]] = {
    "in place": (1, 0, None),
    "threads": (1, "threads", None),
    "server, messages": (2, 1, MESSAGES),
    "server, shared": (2, 1, SHARED),
}
GOAL_SHARED, GOAL_SEND, GOAL_ENCODE = 0.12, 1.1, 1.1


class Work:
    """Matrix products that take about a given time on a core that is free."""

    def __init__(self, seconds: float) -> None:
        self._matrix = np.random.default_rng(1).random((256, 256))
        self._products = 1
        self()
        self._products = 16
        self._products = max(1, round(seconds / (min(self.timed() for _ in range(5)) / 16)))

    def __call__(self) -> None:
        for _ in range(self._products):
            self._matrix @ self._matrix

    def timed(self) -> float:
        begin = perf_counter()
        self()
        return perf_counter() - begin


def model(comm: Any, payload: dict[str, Any]) -> dict[str, Any] | None:
    """A run on ranks: seconds of each step that the model waited, of all, and of as many without output."""
    from threadpoolctl import threadpool_limits

    import tradewind as tw
    from tradewind.fieldserver.geometry import Gaussian
    from tradewind.fieldserver.plan_file import load_plan

    server = tw.FieldServer(
        load_plan("plan.toml", payload["plan"]), comm, servers=payload["servers"], method=payload["method"]
    )
    found = None
    if server.comm is not None:
        threadpool_limits(1)
        grid = tw.ReducedGrid.octahedral(payload["n"])
        layout = tw.Bands(grid, 1)
        random, fields = np.random.default_rng(2), [f"f{number}" for number in range(payload["fields"])]
        values = {name: 280 + 20 * random.random(layout.shape(0)) for name in fields}
        for number, name in enumerate(fields):
            server.define(name, layout, Gaussian(tuple(grid.rows)), grib=(0, 191, 192 + number))
        work, waited = Work(payload["work_s"]), []
        for step in range(payload["steps"] + 3):  # in the first three memory is made
            if step == 3:
                begin = perf_counter()
            work()
            before = server.blocked_s
            for name in fields:
                server.write(name, values[name], step)
            server.end_step(step)
            waited.append(server.blocked_s - before)
        total_s = perf_counter() - begin
        begin = perf_counter()
        for _ in range(payload["steps"]):
            work()
        alone_s = perf_counter() - begin
        found = {"waited_s": waited[3:], "total_s": total_s, "alone_s": alone_s}
    server.close()
    if found is not None:
        (writer,) = [writer for writer in server.figures["writers"] if writer["sinks"]]
        found["encode_s"] = writer["encode_s"] / (payload["steps"] + 3)
    return found


def send(comm: Any, payload: dict[str, Any]) -> float | None:
    """Median seconds of MPI_Send of the same bytes, to a rank that waits for them."""
    fields = [np.ones(payload["points"]) for _ in range(payload["fields"])]
    samples = []
    for _ in range(9):
        comm.Barrier()
        begin = perf_counter()
        for field in fields:
            comm.Send(field, 1) if comm.Get_rank() == 0 else comm.Recv(field, 0)
        samples.append(perf_counter() - begin)
    return statistics.median(samples) if comm.Get_rank() == 0 else None


def eccodes_alone(points_of_rows: tuple[int, ...], fields: int) -> float:
    """Seconds of ecCodes for the messages of a step, from a template with all keys set."""
    import eccodes

    from tradewind.fieldserver.field import OutputField
    from tradewind.fieldserver.geometry import Gaussian
    from tradewind.fieldserver.sinks.grib import Template

    field = OutputField("f", Gaussian(points_of_rows))
    template = Template.of(field, "simple", 16, None)
    values = 280 + 20 * np.random.default_rng(2).random(field.geometry.points)
    samples = []
    for _ in range(5):
        begin = perf_counter()
        for _ in range(fields):
            handle = eccodes.codes_clone(template)
            eccodes.codes_set_values(handle, values)
            bytes(eccodes.codes_get_message(handle))
            eccodes.codes_release(handle)
        samples.append(perf_counter() - begin)
    return min(samples)


def our_messages(points_of_rows: tuple[int, ...], fields: int) -> float:
    """Seconds of the field server's encoding of the same messages."""
    from datetime import datetime

    from tradewind.fieldserver.field import OutputField
    from tradewind.fieldserver.geometry import Gaussian
    from tradewind.fieldserver.sinks.form import Moment
    from tradewind.fieldserver.sinks.grib import message

    field = OutputField("f", Gaussian(points_of_rows))
    values = 280 + 20 * np.random.default_rng(2).random(field.geometry.points)
    when = Moment(datetime(2026, 1, 1), 3600.0)
    samples = []
    for _ in range(5):
        begin = perf_counter()
        for _ in range(fields):
            message(field, 1.0, values, when, packing="simple", bits=16)
        samples.append(perf_counter() - begin)
    return min(samples)


def compare(n: int, fields: int, steps: int, work_s: float) -> None:
    """Print all figures."""
    import tradewind as tw

    rows = tuple(int(length) for length in tw.ReducedGrid.octahedral(n).rows)
    points = sum(rows)
    alone, ours = eccodes_alone(rows, fields), our_messages(rows, fields)
    print(
        f"GRIB2 encoding: {ours / alone:.2f} x ecCodes alone, {1e3 * alone:.0f} ms per step; goal: most {GOAL_ENCODE}"
    )
    send_s = job.run(2, f"{__name__}:send", {"points": points, "fields": fields})
    print(f"MPI_Send of the same bytes: {1e3 * send_s:.1f} ms, {fields * points * 8 / send_s / 1e9:.2f} GB/s")
    memory = Path("/dev/shm") if Path("/dev/shm").is_dir() else Path(tempfile.gettempdir())
    for name, (ranks, servers, method) in WAYS.items():
        folder = Path(tempfile.mkdtemp(dir=memory))
        try:
            payload = {"servers": servers, "method": method, "n": n, "fields": fields, "steps": steps}
            payload |= {"work_s": work_s, "plan": PLAN.format(folder=folder)}
            found = job.run(ranks, f"{__name__}:model", payload)
        finally:
            shutil.rmtree(folder)
        waited = found["waited_s"]
        share = sum(waited) / found["total_s"]
        goal = f"; goal: most {100 * GOAL_SHARED:.0f} %" if method is SHARED else ""
        print(
            f"{name}: blocked {100 * share:.1f} % of {len(waited)} steps, per step median "
            f"{1e3 * statistics.median(waited):.1f} ms, {1e3 * min(waited):.1f} to {1e3 * max(waited):.1f}; "
            f"{found['total_s'] / found['alone_s']:.2f} x the time without output{goal}"
        )
        if method is MESSAGES:
            ratio = statistics.median(waited) / send_s
            print(f"  hand-over {ratio:.2f} x MPI_Send of the same bytes; goal: most {GOAL_SEND}")


def fieldserver() -> None:
    """All figures at full size."""
    os.environ["PYTHONPATH"] = str(Path(__file__).parent)
    if len(os.sched_getaffinity(0)) < 2:
        print("the goals are of 2 cores")
    compare(N, FIELDS, STEPS, WORK_S)


if __name__ == "__main__":
    import importlib

    importlib.import_module("fieldserver").fieldserver()
