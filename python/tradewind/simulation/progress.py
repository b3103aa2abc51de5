"""Progress of a simulation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tradewind.base import units
from tradewind.base.remaining import remaining_s, remaining_text


@dataclass(frozen=True)
class Progress:
    """Progress of a simulation."""

    simulated_s: float
    fraction: float
    """Share of bytes that have arrived."""
    packet_hops: float
    """So far."""
    wall_s: float
    """Since it began."""

    @property
    def packet_hops_per_s(self) -> float:
        """Packet-hops simulated per second; 0 at the beginning."""
        return self.packet_hops / self.wall_s if self.wall_s > 0 else 0.0

    @property
    def to_go_s(self) -> float | None:
        """Wall time until the end, if it goes on as so far; None before anything has arrived."""
        return remaining_s(self.wall_s, self.fraction)

    @property
    def text(self) -> str:
        """Return the progress in one line."""
        left = remaining_text(self.wall_s, self.fraction)
        rate = units.format_count(self.packet_hops_per_s)
        return f"simulated {units.format_seconds(self.simulated_s)}, {rate} packet-hops/s{left}"


Watch = Callable[[Progress], None]
"""Called now and then while a simulation runs; what it raises ends the simulation."""
