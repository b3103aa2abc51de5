"""Changes of a machine, algorithms and layout, tried one at a time: what bounds a step, and what would help."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.machine import load_machine
from tradewind.model.forecast import forecast
from tradewind.model.model import AnyModel

_ALGORITHMS = {
    "halo": ("sweep", "direct"),
    "path": ("burst", "ring-1", "ring-4", "ring-16", "pairwise"),
    "allreduce": ("recursive-2", "recursive-4", "recursive-8", "rabenseifner"),
}
"""Algorithms that are tried of each kind of exchange, if they fit the layout."""
_TWICE = {
    "links twice as fast": ("link.bandwidth", "link.global.bandwidth"),
    "NICs twice as fast": ("nic.injection_bandwidth", "nic.ejection_bandwidth"),
    "memory twice as fast": ("node.memory_bandwidth",),
    "processors twice as fast": ("node.flops", "node.core_flops"),
}
_HALF = {
    "latencies halved": ("link.latency", "link.global.latency", "nic.latency"),
    "overheads per message halved": ("nic.send_overhead", "nic.receive_overhead"),
}


@dataclass(frozen=True)
class Change:
    """One change: of the machine, which shows what bounds the step, or one that a user can make."""

    kind: str
    """"machine" or "user"."""
    name: str
    settings: dict[str, str] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    algorithms: dict[str, str] = field(default_factory=dict)
    """By the key of the exchanges that take it: halo, path or allreduce."""


def tried_changes(
    model: AnyModel,
    machine: str | Path,
    ranks: int,
    *,
    settings: dict[str, str] | None = None,
    base_s: float | None = None,
    **options: Any,
) -> list[dict[str, Any]]:
    """Simulate a step with each of many changes, and return these with their times, the fastest first.

    Each has `kind` ("machine": what bounds the step; "user": what a user can choose), `change`, `time_s`, and `factor`,
    the time without it over the time with it; one that does not fit the model or the machine has `refused`, the reason,
    and comes last. `base_s`: the time without changes, where it is known. `options`: those of
    `tradewind.model.forecast.forecast`. Raises InputError where the step without changes cannot be simulated.
    """
    settings = dict(settings or {})
    base = base_s or forecast(model, load_machine(machine, settings), ranks, **options)["time_s"]
    found = []
    for change in _changes(model, machine, ranks, settings, options):
        changed = replace(model, algorithms={**model.algorithms, **change.algorithms})
        try:
            file = load_machine(machine, settings | change.settings)
            time_s = forecast(changed, file, ranks, **{**options, **change.options})["time_s"]
        except InputError as error:
            found.append({"kind": change.kind, "change": change.name, "refused": str(error)})
            continue
        found.append({"kind": change.kind, "change": change.name, "time_s": time_s, "factor": base / time_s})
    return sorted(found, key=lambda each: each.get("time_s", math.inf))


def _changes(
    model: AnyModel, machine: str | Path, ranks: int, settings: dict[str, str], options: dict[str, Any]
) -> Iterator[Change]:
    values = load_machine(machine, settings).machine.model_dump(by_alias=True)
    for factor, changes in ((2.0, _TWICE), (0.5, _HALF)):
        for name, keys in changes.items():
            new = {key: _scaled(values, key, factor) for key in keys}
            if set_there := {key: text for key, text in new.items() if text is not None}:
                yield Change("machine", name, set_there)
    yield from _user_changes(model, machine, ranks, settings, options)


def _user_changes(
    model: AnyModel, machine: str | Path, ranks: int, settings: dict[str, str], options: dict[str, Any]
) -> Iterator[Change]:
    file = load_machine(machine, settings)
    kind, own = file.machine.topology.kind, options.get("routing") or file.machine.routing
    for entry in _core.routings():
        if entry.topology == kind and entry.name != own:
            yield Change("user", f"routing {entry.name}", options={"routing": entry.name})
    if options.get("placement", "linear") != "random":
        yield Change("user", "placement random", options={"placement": "random"})
    for split in _other_splits(options.get("split") or model.split(ranks), model.split(ranks)):
        yield Change("user", f"split {split[0]}x{split[1]}", options={"split": split})
    for key in model.kinds(ranks):
        for algorithm in _ALGORITHMS.get(key, ()):
            yield Change("user", f"{key} by {algorithm}", algorithms={key: algorithm})


def _other_splits(split: tuple[int, int], usual: tuple[int, int]) -> list[tuple[int, int]]:
    """The usual one, the same turned, and those with half and twice as many ranks over x."""
    cx, cy = split
    found = [usual, (cy, cx)]
    found += [(cx // 2, cy * 2)] if cx % 2 == 0 else []
    found += [(cx * 2, cy // 2)] if cy % 2 == 0 else []
    return [each for each in dict.fromkeys(found) if each != split]


def _scaled(values: dict[str, Any], key: str, factor: float) -> str | None:
    """Return a value of a machine times a factor, as a setting; None where the machine does not have it, or has 0."""
    found: Any = values
    for part in key.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    if not isinstance(found, int | float) or not found:
        return None
    unit = "s" if key.endswith(("latency", "overhead")) else "flop/s" if key.endswith("flops") else "B/s"
    return f"{found * factor!r}{unit}"
