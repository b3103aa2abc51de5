"""Forms of fields: their size, their type, and how they lie on the ranks of a model."""

from __future__ import annotations

from dataclasses import dataclass

from tradewind.base.elements import DTYPES


@dataclass(frozen=True)
class Shape:
    """Form of the arrays of a hand-over: the same on all ranks, and as plain values as JSON.

    `layout`: see `describe_layout`; None: points by number. `axis`: of arrays of such points the one over points.
    """

    levels: int
    points: int
    dtype: str
    layout: str | None
    axis: int = -1

    @property
    def bytes(self) -> int:
        """Bytes of a whole field."""
        return self.levels * self.points * DTYPES[self.dtype]
