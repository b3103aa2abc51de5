"""The allreduce: every rank gets the sum over all ranks of a vector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from tradewind import _core
from tradewind.base.deferred import Deferred
from tradewind.base.extents import MAX_EXTENT
from tradewind.workload.arrays import Array, Arrays
from tradewind.workload.exchange import Exchange
from tradewind.workload.options import option
from tradewind.workload.workload import Step

if TYPE_CHECKING:
    import numpy as np
else:
    np = Deferred("numpy")

_CYCLE = 97  # sums over ranks stay small whole numbers, which every element type adds without rounding


@dataclass(frozen=True)
class AllReduceExchange(Exchange):
    """A request for a reduction."""

    count: int = option("Number of elements.", 3, minimum=1, maximum=MAX_EXTENT, label="elements of a reduction")

    kind: ClassVar[str] = "allreduce"
    core_pattern: ClassVar[str] = "allreduce"

    @property
    def detail(self) -> str:
        """The number of elements and of repetitions."""
        return f"{self.count}x{self.times}"

    @classmethod
    def sized(cls, size: int, ranks: int, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the elements of a vector of this size, as `osu_allreduce` counts it."""
        return {"count": cls._elements(size, options, ("count",))}

    def steps(self) -> list[Step]:
        """Return the one reduction, repeated."""
        return [Step("allreduce", self.schedule(_core.AllReduce(self.ranks, self.count)), self.times)]

    @staticmethod
    def arrays() -> type[Arrays]:
        """Return the arrays of a reduction."""
        return AllReduceArrays


class AllReduceArrays(Arrays):
    """Small whole numbers that go around in a cycle from rank to rank."""

    @staticmethod
    def source(pattern: _core.AllReduce, rank: int, field: int, dtype: str) -> Array:
        """Return the vector of a rank, [element]."""
        return ((np.arange(pattern.count) + rank + field) % _CYCLE).astype(dtype)

    @staticmethod
    def expected(pattern: _core.AllReduce, rank: int, field: int, dtype: str) -> Array:
        """Return the sum over all ranks, [element]."""
        values = np.arange(pattern.count) + field
        # A rank counts as its remainder: whole cycles of ranks all add the same.
        cycles, rest = divmod(pattern.ranks, _CYCLE)
        total = sum(((values + r) % _CYCLE for r in range(rest)), np.zeros_like(values))
        return np.asarray(total + cycles * (_CYCLE * (_CYCLE - 1) // 2), dtype)

    @staticmethod
    def expected_points(pattern: _core.AllReduce, rank: int) -> int:
        """Return the number of elements."""
        return int(pattern.count)
