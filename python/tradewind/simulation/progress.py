"""Progress of a simulation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tradewind.base import units


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
        return self.wall_s * (1 - self.fraction) / self.fraction if self.fraction > 0 else None

    @property
    def text(self) -> str:
        """Return the progress in one line."""
        left = "" if self.to_go_s is None else f", {units.format_seconds(self.to_go_s)} to go"
        rate = units.format_count(self.packet_hops_per_s)
        return f"simulated {units.format_seconds(self.simulated_s)}, {rate} packet-hops/s{left}"


Watch = Callable[[Progress], None]
"""Called now and then while a simulation runs; what it raises ends the simulation."""
