"""Sizes of the networks of simulated cases, for comparisons at equal cost."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from tradewind.base.errors import InputError
from tradewind.machine import load_machine
from tradewind.machine.power import Power


@cache
def network_size(machine: Path, settings: str | None) -> Mapping[str, int]:
    """``switches`` and ``links`` (between switches) of a machine with the settings of a label; empty if unreadable."""
    try:
        topology = load_machine(machine, settings_of(settings)).machine.build().topology
    except InputError:  # a folder of results whose machine files were changed or taken away
        return {}
    return {"switches": topology.switches, "links": topology.links()}


@cache
def power_of(machine: Path, settings: str | None) -> Power | None:
    """Return the power of a machine with the settings of a label; None without it, or if the file is unreadable."""
    try:
        return load_machine(machine, settings_of(settings)).machine.power
    except InputError:
        return None


def settings_of(text: str | None) -> dict[str, str]:
    """The settings that a label names: ``"link.latency=1us, topology.shape=[4, 4]"``."""
    parts = re.split(r", (?=[\w.]+=)", text) if text else []
    return dict(part.split("=", 1) for part in parts)
