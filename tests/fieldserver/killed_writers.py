"""Starts writers one after another and kills each at a random moment: ``python killed_writers.py FOLDER COUNT SEED``.

Each is a fork of this process, which has imported what they need, and writes steps into a folder of its own.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path

from output_plans import Q, T, described, plan, record

from tradewind.fieldserver.sinks import FORMS, form_of
from tradewind.fieldserver.writer import Block, Job, Writer

STEPS = 40


def write(folder: Path, first: int, last: int) -> None:
    """Write some steps."""
    made = plan(folder, 'existing = "continue"')
    writer = Writer(made)
    for step in range(first, last):
        for field in (T, Q):
            writer.submit(Block([Job(record(described(made, field), step), made.requests(field.name, step))]))
        writer.end_step(step)
    writer.close()
    assert not writer.errors, list(writer.errors)


def main(folder: Path, count: int, seed: int) -> None:
    for name in FORMS:
        form_of(name)
    moments = random.Random(seed)
    for number in range(count):
        child = os.fork()
        if child == 0:
            write(folder / str(number), 0, STEPS)
            os._exit(0)
        time.sleep(moments.uniform(0.02, 0.15))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
