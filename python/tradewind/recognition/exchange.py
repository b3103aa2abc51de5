"""A recognised exchange: keys of a program file, and exactly what each rank sends in it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tradewind import _core
from tradewind.recognition.streams import SHIFT, code_of
from tradewind.workload.box_halo import BoxHalo

DTYPE_BYTES = {8: "f8", 4: "f4"}
"""Element types that a file names for sizes of elements."""


@dataclass(eq=False)
class Exchange:
    """An exchange that was recognised."""

    kind: str
    """halo, transposition, allreduce or gather-scatter."""
    table: Mapping[str, Any]
    """Its keys in a program file, but its name."""
    about: str
    """Description in words: grid, width, fields."""
    expected: Sequence[Sequence[Sequence[int]]]
    """[rank][stage]: codes of what it sends, ascending; see `streams.code_of`."""
    notes: tuple[str, ...] = ()
    """Choices that the messages leave open, and which one was taken."""
    box: BoxHalo | None = None
    """The sends of a halo."""
    name: str = ""
    """In a program file; given once all are known."""

    @property
    def axes(self) -> int:
        """Directions along which a halo goes; 0 of other exchanges."""
        toward = () if self.box is None else self.box.toward
        return sum(any(direction[axis] for direction in toward) for axis in range(3))

    @property
    def identity(self) -> tuple[Any, ...]:
        """Two exchanges with the same identity are one exchange that takes place twice."""
        return (self.kind, *sorted((key, str(value)) for key, value in self.table.items()))

    @cached_property
    def counts(self) -> list[int]:
        """Messages of each rank."""
        return [sum(map(len, stages)) for stages in self.expected]

    @cached_property
    def messages(self) -> int:
        """Messages of all ranks."""
        return sum(self.counts)

    @cached_property
    def bytes(self) -> int:
        """Bytes of all ranks."""
        return sum(code % SHIFT for stages in self.expected for stage in stages for code in stage)

    def begins(self, rank: int, codes: Sequence[int], at: int) -> bool:
        """Return whether what a rank sends from `at` on begins with this exchange; within a stage in any order."""
        for stage in self.expected[rank]:
            end = at + len(stage)
            if end > len(codes) or sorted(codes[at:end]) != stage:
                return False
            at = end
        return True


def expected_of(schedule: _core.Schedule, bytes_per_point: int) -> list[list[list[int]]]:
    """Return what each rank sends in a schedule, [rank][stage], as codes."""
    return [
        [
            sorted(code_of(m.peer, m.count * bytes_per_point) for m in schedule.sends(rank, stage) if m.count)
            for stage in range(schedule.stages)
        ]
        for rank in range(schedule.ranks)
    ]


def element_bytes(sizes: Iterable[int]) -> int | None:
    """Return 8 or 4, the largest of which all sizes are multiples; None: of neither."""
    common = math.gcd(*sizes)
    return next((size for size in DTYPE_BYTES if common and common % size == 0), None)


def divisors(number: int, limit: int = 1 << 20) -> list[int]:
    """Return the divisors of a number up to a limit, ascending."""
    small = [each for each in range(1, min(math.isqrt(number), limit) + 1) if number % each == 0]
    large = [number // each for each in reversed(small) if number // each not in small and number // each <= limit]
    return small + large


def largest_prime(number: int) -> int:
    """Return the largest prime factor of a number; 1 of 1."""
    found, prime = 1, 2
    while prime * prime <= number:
        while number % prime == 0:
            found, number = prime, number // prime
        prime += 1
    return max(found, number)
