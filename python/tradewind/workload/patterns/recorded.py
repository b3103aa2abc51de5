"""Recorded messages: a stored list of what some program sends, verified, shown and simulated like any fetch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tradewind.base.errors import InputError, gathered
from tradewind.workload import messages
from tradewind.workload.exchange import Exchange
from tradewind.workload.options import option
from tradewind.workload.workload import Step


@dataclass(frozen=True)
class RecordedExchange(Exchange):
    """A request for stored messages, whose arrays are unknown."""

    stored: str = option("A stored list of messages, FILE.json.", flag="--messages", swept=False)

    kind: ClassVar[str] = "recorded"
    core_pattern: ClassVar[str] = "fetch"
    without: ClassVar[tuple[str, ...]] = ("fields", "dtype")

    def _problems(self) -> list[str]:
        problems: list[str] = []
        with gathered(problems):
            messages.read(self.stored, self.ranks)
        return problems

    @property
    def bytes_per_point(self) -> int:
        """1: a point of stored messages is a byte."""
        return 1

    @property
    def detail(self) -> str:
        """The word "messages"."""
        return "messages"

    def steps(self) -> list[Step]:
        """Return a fetch per stage of the stored list, repeated. Raises InputError."""
        stages = [self.schedule(fetch) for fetch in messages.read(self.stored, self.ranks)]
        return [Step(f"stage {number}", schedule) for number, schedule in enumerate(stages)] * self.times

    def require_arrays(self) -> None:
        """Raise InputError: stored messages have no arrays."""
        raise InputError(f"{self.stored}: stored messages have no arrays; verify, show, simulate and advise take them")
