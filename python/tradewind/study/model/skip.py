"""A point of a study that cannot be computed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Skip:
    """A point of a study that cannot be, and why."""

    sweep: str
    name: str
    reason: str

    def as_dict(self) -> dict[str, str]:
        """Return it as an entry of the manifest."""
        return {"sweep": self.sweep, "name": self.name, "reason": self.reason}
