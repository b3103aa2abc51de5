"""Output to a disk that is slower or faster than it has to be: how long the model waits over what the disk makes it.

The disk is one that sleeps, so it takes no core from the model.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter, sleep
from typing import Any

from outputs.model import SHARED, Work, defined, memory_folder, plan_text, points_of
from tradewind.launch import job

GOAL_SLOW, GOAL_FITS = 0.05, 0.02
BITS = 16


class Disk:
    """A disk of limited bandwidth: writers sleep until their bytes would be written."""

    def __init__(self, rate: float) -> None:
        self._rate, self._free = rate, 0.0

    def takes(self, size: int) -> None:
        """Take bytes, after all others."""
        self._free = max(self._free, perf_counter()) + size / self._rate
        sleep(max(0.0, self._free - perf_counter()))


@contextmanager
def on_disk(disk: Disk) -> Iterator[None]:
    """Let all that this process writes to files go to a disk."""
    from tradewind.fieldserver.files.sinks.form import PartFile

    plain = PartFile.write

    def slowly(self: PartFile, content: bytes | memoryview) -> None:
        plain(self, content)
        disk.takes(memoryview(content).nbytes)

    PartFile.write = slowly  # type: ignore[method-assign]
    try:
        yield
    finally:
        PartFile.write = plain  # type: ignore[method-assign]


def output(comm: Any, payload: dict[str, Any]) -> dict[str, Any] | None:
    """A run on ranks: seconds of all, of work, blocked until the last output is handed over, and blocked in all."""
    import tradewind as tw
    from tradewind.fieldserver.plan.plan_file import load_plan

    with on_disk(Disk(payload["rate"])):
        server = tw.FieldServer(load_plan("plan.toml", payload["plan"]), comm, servers=1, method=SHARED)
        begin = work_s = before = handed = 0.0
        if server.comm is not None:
            fields, work = defined(server, payload["n"], payload["fields"]), Work(payload["work_s"])
            for step in range(payload["steps"] + 1):  # in step 0 memory is made
                seconds = work.timed() if step else 0.0
                for name, values in fields.items():
                    server.write(name, values, step)
                server.end_step(step)
                if not step:
                    server.finish()
                    begin, before = perf_counter(), server.blocked_s
                work_s += seconds
            handed = server.blocked_s - before
        server.close()
        if server.comm is None:
            return None
        blocked = server.blocked_s - before
        return {"total_s": perf_counter() - begin, "work_s": work_s, "handed_s": handed, "blocked_s": blocked}


def disks(n: int, fields: int, steps: int, work_s: float) -> None:
    """A disk that is half as fast as the output needs, and one that is twice as fast."""
    points = points_of(n)
    size = fields * points * BITS // 8
    for name, rate in (("half", size / work_s / 2), ("twice", 2 * size / work_s)):
        with memory_folder() as folder:
            payload = {"plan": plan_text(folder), "rate": rate, "n": n, "fields": fields}
            found = job.run(2, f"{__name__}:output", payload | {"steps": steps, "work_s": work_s})
        total_s, write_s = found["total_s"], size / rate
        print(f"a disk {name} as fast as the output needs, {steps} outputs, {work_s:g} s of work before each:")
        if name == "half":
            least = found["work_s"] / steps + steps * write_s  # from the first output on it never rests
            print(
                f"  {total_s:.2f} s, of which the disk makes {least:.2f} unavoidable: "
                f"{100 * (total_s - least) / total_s:.1f} % over that; goal: most {100 * GOAL_SLOW:.0f} %"
            )
        else:
            print(
                f"  blocked {100 * found['handed_s'] / total_s:.1f} % of {total_s:.2f} s by handing over, and "
                f"{found['blocked_s'] - found['handed_s']:.2f} s until the last file is there, of which the disk takes "
                f"{write_s:.2f}; goal: most {100 * GOAL_FITS:.0f} %"
            )
