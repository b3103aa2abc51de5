"""Starts writers one after another and kills each at a moment: ``python killed_writers.py FOLDER``.

A line of its input is a folder and moments; it is answered by an empty one when a writer has died at each of them. Each
is a fork of this process, which has written a step in FOLDER: what the libraries load with the first one is there. It
writes steps into a folder of its own, and is killed before one of the things that it does to files, whatever else this
computer does meanwhile.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from pathlib import Path

from output_plans import Q, T, described, plan, record

from tradewind.fieldserver.server.writer import Block, Job, Writer

STEPS = 40
FIRST_STEP = 180
"""Things that a writer does to files in its first step; it does fewer in each later one, as many in all of them."""
MOMENTS = 330
"""Things that it does in a little more than three steps."""


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


class Death:
    """Kills this process before the n-th thing that it does to files of a folder."""

    EVENTS = ("open", "os.rename", "os.remove", "os.mkdir")

    def __init__(self, n: int, folder: Path) -> None:
        self._left, self._folder = n, str(folder)
        sys.addaudithook(self._look)

    def _look(self, event: str, arguments: tuple[object, ...]) -> None:
        if event in self.EVENTS and arguments and str(arguments[0]).startswith(self._folder):
            self.come_nearer()

    def come_nearer(self) -> None:
        """Count one more thing that this process does."""
        self._left -= 1
        if self._left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)


def die(folder: Path, moment: int) -> None:
    """Start a writer that is killed at a moment."""
    child = os.fork()
    if child == 0:
        Death(moment, folder)
        write(folder, 0, STEPS)
        os._exit(1)  # it has lived too long
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), status


def main(first: Path) -> None:
    write(first, 0, 1)
    gc.freeze()
    for line in sys.stdin:
        folder, moments = json.loads(line)
        for number, moment in enumerate(moments):
            die(Path(folder, str(number)), moment)
        print(flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
