"""A model of the field server's benchmarks: work of a known time, fields of an octahedral grid, a plan, a folder."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

SHARED = {"transport": "shared", "packing": "direct"}
MESSAGES = 'format = "grib2"\npath = "{step}.grib2"\npacking = "simple"\nbits = 16'
PACKED = 'format = "netcdf"\npath = "{step}.nc"\nprecision = "f4"\ncompression = 4'


def plan_text(folder: Path | str, sink: str = MESSAGES, *, queue: int = 2**30, threads: int = 1) -> str:
    """Return a plan whose one sink takes all fields."""
    head = f'folder = "{folder}"\ndurable = false\nqueue = "{queue}B"\nthreads = {threads}\n'
    return f'{head}\n[[sink]]\nname = "all"\n{sink}\n\n[[rule]]\nsink = "all"\n'


@contextmanager
def memory_folder() -> Iterator[Path]:
    """Give a folder of a file system in memory."""
    memory = Path("/dev/shm") if Path("/dev/shm").is_dir() else Path(tempfile.gettempdir())
    folder = Path(tempfile.mkdtemp(dir=memory))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


class Work:
    """Matrix products that take about a given time on a core that is free."""

    def __init__(self, seconds: float) -> None:
        from threadpoolctl import threadpool_limits

        threadpool_limits(1)
        self._matrix = np.random.default_rng(1).random((256, 256))
        self._products = 1
        self()
        self._products = 16
        self._products = max(1, round(seconds / (min(self.timed() for _ in range(5)) / 16)))

    def __call__(self) -> None:
        for _ in range(self._products):
            self._matrix @ self._matrix

    def timed(self) -> float:
        """Seconds of the work."""
        begin = perf_counter()
        self()
        return perf_counter() - begin


def points_of(n: int) -> int:
    """Points of the octahedral grid O`n`."""
    import tradewind as tw

    return int(sum(tw.ReducedGrid.octahedral(n).rows))


def defined(server: Any, n: int, fields: int) -> dict[str, Any]:
    """Define fields of an octahedral grid; returns their values on the one rank of the model."""
    import tradewind as tw
    from tradewind.fieldserver.plan.geometry import Gaussian

    grid = tw.ReducedGrid.octahedral(n)
    layout, random = tw.Bands(grid, 1), np.random.default_rng(2)
    names = [f"f{number}" for number in range(fields)]
    for number, name in enumerate(names):
        server.define(name, layout, Gaussian(tuple(grid.rows)), grib=(0, 191, 192 + number))
    return {name: 280 + 20 * random.random(layout.shape(0)) for name in names}
