"""Output of a model beside its time steps as it is asked for: who writes, how much, how often."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

from tradewind import _core
from tradewind.base.elements import DTYPES
from tradewind.base.errors import InputError
from tradewind.base.extents import MAX_EXTENT, extents_text
from tradewind.base.file_work import NO_FILES, FileWork
from tradewind.base.names import unknown
from tradewind.base.units import seconds
from tradewind.layout.names import blocks

NO_OUTPUT, IN_PLACE, COLLECTIVE, THREADS, SERVERS = "none", "in place", "collective", "threads", "servers"
WAYS = (NO_OUTPUT, IN_PLACE, COLLECTIVE, THREADS, SERVERS)
MAX_INTERVALS, MAX_QUEUE = 1000, 3
MAX_SECONDS = 1e6
"""Longest run that is simulated, in seconds: times are whole picoseconds of 64 bits."""


@cache
def _nearest_to_square(ranks: int, nx: int, ny: int) -> tuple[int, int] | None:
    for smaller in range(math.isqrt(ranks), 0, -1):
        larger, rest = divmod(ranks, smaller)
        pairs = [(larger, smaller), (smaller, larger)][:: 1 if nx >= ny else -1]
        if not rest and (fitting := [(cx, cy) for cx, cy in pairs if cx <= nx and cy <= ny]):
            return fitting[0]
        if larger > max(nx, ny):
            return None
    return None


@dataclass(frozen=True)
class OutputRequest:
    """Output intervals of a run on `ranks` ranks, those of servers included.

    In each interval the model takes a step, hands `fields` fields to their writers, and takes the other steps; where it
    reads, it receives input before its first step, of the first two files at the start. Writers are ranks of the model
    (`writers`, which the model waits for), threads beside them, or `servers`, to which whole levels are dealt;
    `collective`: rows of all fields instead, by `writers` ranks.
    """

    grid: tuple[int, int, int]
    ranks: int
    way: str
    point_time: str
    fields: int
    dtype: str
    bits: int
    """Bits of a value in a file, before compression."""
    compress: float
    """Bytes before compression over bytes after it; 1: none."""
    steps_between: int
    """Time steps between two outputs."""
    intervals: int
    input_fields: int = 0
    encode: bool = True
    """Whether values are encoded (and decoded) at the machine's rate."""
    servers: int = 0
    writers: int = 0
    threads: int = 1
    """Threads that encode and compress, of each server."""
    queue: int = 2
    """Outputs that may wait for their writers, of servers and threads."""
    slowdown: float = 0.0
    """Share by which the model's work takes longer while threads write beside it."""

    def problems(self) -> list[str]:
        """Return why it cannot be, as far as that is known without a machine."""
        if self.way not in WAYS:
            return [unknown("way", self.way, WAYS)]
        if not all(1 <= points <= MAX_EXTENT for points in self.grid):
            return [f"grid {extents_text(self.grid)}: 1..{MAX_EXTENT} points along each direction are allowed"]
        if self.servers >= self.ranks:
            return [f"{self.servers} servers of {self.ranks} ranks: the model needs 1 or more"]
        if self.split_of_model is None:
            return [f"{self.model_ranks} ranks of the model: no split CXxCY of them fits {extents_text(self.grid)}"]
        found = []
        most = max(self.fields, self.input_fields) * self.grid[2]
        if most > MAX_EXTENT or most * self.grid[0] * self.grid[1] > _core.max_points:
            return [f"grid {extents_text(self.grid)} of {max(self.fields, self.input_fields)} fields: too many points"]
        if self.way in (IN_PLACE, COLLECTIVE) and self.writers > self.ranks:
            found.append(f"{self.writers} writers of {self.ranks} ranks: as many as ranks are allowed")
        for fields in {self.fields, *([self.input_fields] if self.input_fields else [])}:
            parts = self.units(fields)
            if self.writing > parts:
                what = "rows" if self.way == COLLECTIVE else f"levels of {fields} fields"
                found.append(f"{self.writing} writers of {parts} {what}: 1 or more for each are needed")
        if self.work_s > MAX_SECONDS:
            found.append(f"{self.work_s:g} s of work of a rank: {MAX_SECONDS:g} s or less are simulated")
        return found

    @property
    def name(self) -> str:
        """A short label, for tables and plots."""
        if self.way == NO_OUTPUT:
            return "no output"
        plural = "s" if self.writing > 1 else ""
        return f"{self.servers} server{plural}" if self.way == SERVERS else f"{self.way}, {self.writers} writer{plural}"

    @property
    def model_ranks(self) -> int:
        """Number of ranks that compute; servers are the others."""
        return self.ranks - self.servers

    @property
    def writing(self) -> int:
        """Number of ranks, or threads, that write."""
        return self.servers if self.way == SERVERS else 0 if self.way == NO_OUTPUT else self.writers

    @property
    def split_of_model(self) -> tuple[int, int] | None:
        """The ranks of the model over x and y, nearest to a square; None where none fits the grid."""
        return _nearest_to_square(self.model_ranks, self.grid[0], self.grid[1])

    def layout(self) -> _core.Blocks:
        """Return the layout of the model. Raises InputError."""
        if self.split_of_model is None:
            raise InputError(*self.problems())
        return blocks(_core.Grid(*self.grid), self.split_of_model, "xy")

    def units(self, fields: int) -> int:
        """Return in how many parts fields are dealt: their levels, or rows of all of them."""
        return self.grid[1] if self.way == COLLECTIVE else fields * self.grid[2]

    def written(self) -> FileWork:
        """Return what is done to write a unit of output."""
        memory, packed = self._bytes(self.fields)
        encoded = memory / self.threads if self.encode else 0.0
        compressed = memory / self.threads if self.compress > 1 else 0.0
        return FileWork(encode=encoded, compress=compressed, write=packed)

    def read(self) -> FileWork:
        """Return what is done to read a unit of input."""
        if not self.input_fields:
            return NO_FILES
        memory, packed = self._bytes(self.input_fields)
        return FileWork(decode=memory / self.threads if self.encode else 0.0, read=packed)

    def _bytes(self, fields: int) -> tuple[float, float]:
        """The bytes of a unit in memory, and in a file."""
        values = math.prod(self.grid) * fields / self.units(fields)
        return values * DTYPES[self.dtype], values * self.bits / 8 / self.compress

    @property
    def step_s(self) -> float:
        """Seconds of a time step of the busiest rank."""
        assert self.split_of_model is not None
        most = math.prod(math.ceil(n / c) for n, c in zip(self.grid[:2], self.split_of_model, strict=True))
        return most * self.grid[2] * seconds(self.point_time)

    @property
    def work_s(self) -> float:
        """Seconds that the busiest rank of the model computes."""
        return self.step_s * self.steps_between * self.intervals
