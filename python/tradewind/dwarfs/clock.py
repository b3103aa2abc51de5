"""Where the time of a loop goes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter


class Clock:
    """Adds up the seconds spent in parts of a program, by name: ``with clock("compute"): ...``."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)

    @contextmanager
    def __call__(self, part: str) -> Iterator[None]:
        begin = perf_counter()
        yield
        self.seconds[part] += perf_counter() - begin

    def reset(self) -> None:
        self.seconds.clear()
