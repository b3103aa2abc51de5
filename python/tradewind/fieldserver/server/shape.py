"""Forms of fields: their size, their type, and how they lie on the ranks of a model."""

from __future__ import annotations

from dataclasses import dataclass

from tradewind.base.elements import DTYPES


@dataclass(frozen=True)
class Shape:
    """Form of the fields of a hand-over, as the model sends it.

    `layout`: that of the model, as JSON; None: points by number.
    """

    levels: int
    points: int
    dtype: str
    layout: str | None

    @property
    def bytes(self) -> int:
        """Bytes of a whole field."""
        return self.levels * self.points * DTYPES[self.dtype]
