"""Ranks beside those of a model that take its output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.layout.names import blocks
from tradewind.model.grid import ModelGrid
from tradewind.workload.steps import Exchanged, Group, GroupStep, WholeExchange

MODEL, SERVERS = "model", "servers"
_ALGORITHM = "burst"
"""All messages are posted at once, as by the field server."""


@dataclass
class Servers:
    """The servers of a model, which collect fields whole level by whole level."""

    grid: ModelGrid
    split: tuple[int, int]
    ranks: int
    """Number of servers; 0: the model has none."""
    dtype: str
    collected: list[GroupStep] = field(default_factory=list)
    """The steps of the servers."""

    def hand_over(self, fields: int, label: str) -> GroupStep:
        """Return the step of the model that hands fields to the servers, which collect them. Raises InputError."""
        if not self.grid.is_divided or self.grid.extents is None:
            raise InputError(f"output of {self.grid.text}: a grid NXxNYxNZ is allowed, whose levels go to servers")
        if not self.ranks:
            raise InputError("output: 1 server or more is needed")
        nx, ny, nz = self.grid.extents
        grid, model = _core.Grid(nx, ny, nz * fields), self.split[0] * self.split[1]
        ends = ((blocks(grid, self.split, "xy"), 0), (blocks(grid, (self.ranks, 1), "z"), model))
        layouts = [_core.Product(layout).placed(first, model + self.ranks) for layout, first in ends]
        schedule = _core.make_schedule(_core.Redistribution(*layouts), _ALGORITHM)
        exchange = Exchanged(label, schedule, 1, self.dtype, groups=(MODEL, SERVERS))
        self.collected.append(WholeExchange(exchange, label))
        return WholeExchange(exchange, label)

    def groups(self, steps: Sequence[GroupStep]) -> list[Group]:
        """Return the model with its steps, and the servers, which hold their nodes also in steps without output."""
        ranks = self.split[0] * self.split[1]
        model = Group(MODEL, ranks, steps)
        return [model, Group(SERVERS, self.ranks, self.collected)] if self.ranks else [model]
