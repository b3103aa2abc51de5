"""Events of a run, for its time line: the first ones, so that a long run needs no more memory than a short one."""

from __future__ import annotations

from typing import TypeVar

MAX_EVENTS = 10_000
"""Events of a row of a time line, some times what a picture shows."""
Event = tuple[str, float, float]
"""Name, begin and end of something, in seconds of the clock of its rank."""
Value = TypeVar("Value")


class Events(list[Value]):
    """A list that takes as many values as a row of a time line has, and leaves out later ones."""

    def append(self, value: Value) -> None:
        """Take a value where there is room."""
        if not self.is_full:
            super().append(value)

    @property
    def is_full(self) -> bool:
        """Whether later values are left out."""
        return len(self) >= MAX_EVENTS
