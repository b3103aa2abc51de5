"""The field server beside a model that computes: how long the model waits, in one run with other ways to write.

One model rank and one server, 20 fields of O320 per step, 16 bits in GRIB's simple packing, a memory file system, and
0.2 s of work per step: a number of flops, which is calibrated.
"""

from __future__ import annotations

import statistics
from time import perf_counter
from typing import Any

import numpy as np

from outputs.model import SHARED, Work, defined, memory_folder, plan_text, points_of
from tradewind.launch import job

MESSAGES = {"transport": "isend-irecv", "packing": "direct"}
WAYS: dict[str, tuple[int, int | str, dict[str, str] | None]] = {
    "in place": (1, 0, None),
    "threads": (1, "threads", None),
    "server, messages": (2, 1, MESSAGES),
    "server, shared": (2, 1, SHARED),
}
GOAL_SHARED, GOAL_SEND = 0.12, 1.1


def model(comm: Any, payload: dict[str, Any]) -> dict[str, Any] | None:
    """A run on ranks: seconds of each step that the model waited, of all, and of as many without output."""
    import tradewind as tw
    from tradewind.fieldserver.plan.plan_file import load_plan

    server = tw.FieldServer(
        load_plan("plan.toml", payload["plan"]), comm, servers=payload["servers"], method=payload["method"]
    )
    found = None
    if server.comm is not None:
        values = defined(server, payload["n"], payload["fields"])
        work, waited = Work(payload["work_s"]), []
        for step in range(payload["steps"] + 3):  # in the first three memory is made
            if step == 3:
                begin = perf_counter()
            work()
            before = server.blocked_s
            for name, each in values.items():
                server.write(name, each, step)
            server.end_step(step)
            waited.append(server.blocked_s - before)
        total_s = perf_counter() - begin
        begin = perf_counter()
        for _ in range(payload["steps"]):
            work()
        alone_s = perf_counter() - begin
        found = {"waited_s": waited[3:], "total_s": total_s, "alone_s": alone_s}
    server.close()
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


def beside(n: int, fields: int, steps: int, work_s: float) -> None:
    """Print all figures."""
    points = points_of(n)
    send_s = job.run(2, f"{__name__}:send", {"points": points, "fields": fields})
    print(f"MPI_Send of the same bytes: {1e3 * send_s:.1f} ms, {fields * points * 8 / send_s / 1e9:.2f} GB/s")
    for name, (ranks, servers, method) in WAYS.items():
        with memory_folder() as folder:
            payload = {"servers": servers, "method": method, "n": n, "fields": fields, "steps": steps}
            payload |= {"work_s": work_s, "plan": plan_text(folder)}
            found = job.run(ranks, f"{__name__}:model", payload)
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
