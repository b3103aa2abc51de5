"""Input that is read ahead, as long to read as the model computes: the run beside an ideal overlap of the two."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import numpy as np

from outputs.model import SHARED, Work, memory_folder, plan_text
from tradewind.launch import job

GOAL = 1.05


def levels_of(server: Any, n: int, levels: int) -> Any:
    """Define a field with levels, on the octahedral grid O`n`; returns values [level][point] on the one rank."""
    import tradewind as tw
    from tradewind.fieldserver.plan.geometry import Gaussian

    geometry = Gaussian(tuple(int(row) for row in tw.ReducedGrid.octahedral(n).rows))
    server.define("t", np.arange(geometry.points), geometry, levels=range(1, levels + 1), grib="t")
    return 280 + 20 * np.random.default_rng(2).random((levels, geometry.points))


def reading(comm: Any, payload: dict[str, Any]) -> dict[str, Any] | None:
    """A run on ranks that reads a file before each step. `read_s`: seconds that a file takes at least, by sleeping."""
    import tradewind as tw
    from tradewind.fieldserver.files import reading as reader
    from tradewind.fieldserver.plan.plan_file import load_plan

    plain = reader._grib

    def slowly(path: Path) -> Any:
        begin = perf_counter()
        found = plain(path)
        sleep(max(0.0, payload["read_s"] - (perf_counter() - begin)))
        return found

    reader._grib = slowly
    server = tw.FieldServer(load_plan("plan.toml", payload["plan"]), comm, servers=1, method=SHARED)
    found = None
    if server.comm is not None:
        values, work = levels_of(server, payload["n"], payload["levels"]), Work(payload["work_s"])
        begin, waits, work_s = perf_counter(), [], 0.0
        server.prefetch(payload["paths"])
        for path in payload["paths"]:
            before = perf_counter()
            server.read("t", values, path)
            waits.append(perf_counter() - before)
            work_s += work.timed()
        found = {"total_s": perf_counter() - begin, "work_s": work_s, "waits_s": waits}
    server.close()
    if found is not None:
        found["read_s"] = sum(each["read_s"] for each in server.figures["writers"])
    return found


def files(comm: Any, payload: dict[str, Any]) -> list[str]:
    """Write files of GRIB on one rank; returns their paths."""
    import tradewind as tw
    from tradewind.fieldserver.plan.plan_file import load_plan

    server = tw.FieldServer(load_plan("plan.toml", plan_text(payload["folder"])), comm, servers=0)
    values = levels_of(server, payload["n"], payload["levels"])
    for step in range(payload["steps"]):
        server.write("t", values, step)
        server.end_step(step)
    server.close()
    return [f"{payload['folder']}/{step}.grib2" for step in range(payload["steps"])]


def inputs(steps: int, seconds: float, n: int, levels: int) -> None:
    """A source that sleeps, then ecCodes that decodes."""
    for name, size, count, read_s in (("a source that sleeps", 16, 1, seconds), ("decoding of GRIB", n, levels, 0.0)):
        with memory_folder() as folder:
            payload = {"folder": str(folder), "n": size, "levels": count, "steps": steps}
            paths = job.run(1, f"{__name__}:files", payload)
            payload |= {"plan": plan_text(folder / "out"), "paths": paths, "read_s": read_s}
            if not read_s:  # the work is as long as a file takes
                alone = job.run(2, f"{__name__}:reading", payload | {"work_s": 1e-3, "paths": paths[:3]})
                seconds = alone["read_s"] / 3
            found = job.run(2, f"{__name__}:reading", payload | {"work_s": seconds})
        each_s = found["read_s"] / steps
        ideal = each_s + max(found["work_s"], found["read_s"] - each_s + found["work_s"] / steps)
        waits = np.array(found["waits_s"][1:])
        print(
            f"input, {name}: {steps} steps of {found['work_s'] / steps:.2f} s, a file of {each_s:.2f} s before each: "
            f"{found['total_s']:.2f} s, ideal {ideal:.2f}: {found['total_s'] / ideal:.2f}"
            + (f"; goal: most {GOAL}" if read_s else "")
        )
        print(f"  after the first file the model waits {1e3 * np.median(waits):.1f} ms (median) for each")
