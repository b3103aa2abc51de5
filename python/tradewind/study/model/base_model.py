"""Bases of a study file: values of the machine under which the same cases are simulated side by side."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tradewind.base.tables import Table
from tradewind.study.model.values import Buffers, Model, Packet, Placement, Positive

Settings = dict[str, str]
"""Values of a machine, like ``{ "link.latency" = "1us" }``."""


class Base(Table):
    """One base. What a sweep says itself goes before what the base says."""

    name: Annotated[str, Field(min_length=1)]
    """Name in sweeps, plots, selections and reports."""
    model: Model | None = None
    buffers: Buffers | None = None
    packet: Packet | None = None
    placement: Placement | None = None
    ranks_per_node: Positive | None = None
    set: Settings = Field(default_factory=dict)
    """Settings for all machines."""
    machine_set: dict[str, Settings] = Field(default_factory=dict)
    """More of them for one machine, called as the sweeps call it; these go before `set`."""
    routing_set: dict[str, Settings] = Field(default_factory=dict)
    """More of them for cases with one routing, whether a sweep names it or it is the machine's own; these go before
    both."""


BASE_OPTIONS = ("model", "buffers", "packet", "placement", "ranks_per_node")
"""The keys of a base that a sweep has as well."""
