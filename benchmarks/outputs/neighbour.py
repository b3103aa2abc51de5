"""A process that writes what a field server writes, and has nothing to do with the model beside it.

``python -m outputs.neighbour FOLDER N FIELDS`` writes a step, then stops itself until it is continued (SIGCONT), and so
on, without MPI. It prints a line when its first step is written. How long a model's own loops take beside it shows
what of a run's time is that of a busy core, and not of the field server.
"""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from outputs.model import memory_folder, plan_text


def write_steps(folder: Path, n: int, fields: int) -> None:
    """Write steps of fields of O`n`, one after each SIGCONT."""
    import tradewind as tw
    from tradewind.fieldserver.plan.field import OutputField, Record
    from tradewind.fieldserver.plan.geometry import Gaussian
    from tradewind.fieldserver.plan.plan_file import load_plan
    from tradewind.fieldserver.server.writer import Block, Job, Writer

    grid = Gaussian(tuple(int(row) for row in tw.ReducedGrid.octahedral(n).rows))
    made = [OutputField(f"f{number}", grid, grib=(0, 191, 192 + number)) for number in range(fields)]
    values = 280 + 20 * np.random.default_rng(2).random((1, grid.points))
    plan = load_plan("plan.toml", plan_text(folder))
    writer = Writer(plan, asynchronous=False)
    for step in itertools.count():
        writer.submit(Block([Job(Record(each, step, (0,), values), plan.requests(each.name, step)) for each in made]))
        writer.end_step(step)
        if writer.errors:
            raise RuntimeError(writer.errors[0])
        (folder / f"{step}.grib2").unlink()  # memory stays free, however long the run is
        if step == 0:
            print("written", flush=True)
        os.kill(os.getpid(), signal.SIGSTOP)


@contextmanager
def stopped_neighbour(n: int, fields: int) -> Iterator[int]:
    """Give the number of such a process, which stands still until it gets SIGCONT, and end it."""
    with memory_folder() as folder:
        command = [sys.executable, "-m", "outputs.neighbour", str(folder), str(n), str(fields)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                if process.stdout.readline() != "written\n":
                    raise RuntimeError("the process beside the model did not write its first step")
                yield process.pid
            finally:
                process.kill()


if __name__ == "__main__":
    write_steps(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
