"""Changes of a machine, algorithms and layout, tried one at a time: what bounds a step, and what would help."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.base.units import format_duration
from tradewind.machine import MachineFile, load_machine
from tradewind.model.forecast import forecast
from tradewind.model.model import AnyModel
from tradewind.model.overlap import Overlapped, can_overlap
from tradewind.simulation.checks import ranks_per_node_on, threads_per_rank_on

SMALLEST_SHARE = 0.005
"""Share of a step that a change has to touch in order to be tried."""

_NETWORK = ("bandwidth", "congestion")
_EXCHANGES = (*_NETWORK, "latency", "pack")
_COMPUTING = ("compute", "imbalance")
_ALL = (*_EXCHANGES, *_COMPUTING)
_ALGORITHMS = {
    "halo": ("sweep", "direct"),
    "path": ("burst", "ring-1", "ring-4", "ring-16", "pairwise"),
    "allreduce": ("recursive-2", "recursive-4", "recursive-8", "rabenseifner"),
}
"""Algorithms that are tried of each kind of exchange, if they fit the layout."""
_OVERLAPS = {
    "halo": "halos overlapped with the computation behind them",
    "allreduce": "global sums overlapped with what follows (a pipelined solver)",
}
_TWICE = {
    "links twice as fast": (_NETWORK, ("link.bandwidth", "link.global.bandwidth")),
    "NICs twice as fast": (_NETWORK, ("nic.injection_bandwidth", "nic.ejection_bandwidth")),
    "memory twice as fast": ((*_COMPUTING, "pack"), ("node.memory_bandwidth",)),
    "processors twice as fast": (_COMPUTING, ("node.flops", "node.core_flops")),
}
_HALF = {
    "latencies halved": (("latency",), ("link.latency", "link.global.latency", "nic.latency")),
    "overheads per message halved": (("latency",), ("nic.send_overhead", "nic.receive_overhead")),
}

Report = Callable[[str], None]


@dataclass(frozen=True)
class Change:
    """One change: of the machine, which shows what bounds the step, or one that a user can make."""

    kind: str
    """"machine" or "user"."""
    name: str
    touches: tuple[str, ...] = _ALL
    """Causes of time that it can change (see `tradewind.simulation.causes`)."""
    settings: dict[str, str] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    algorithms: dict[str, str] = field(default_factory=dict)
    """By the key of the exchanges that take it: halo, path or allreduce."""
    overlaps: str = ""
    """Pattern of the exchanges that go on beside the computation behind them."""
    ranks: int | None = None
    """Number of ranks; None: as it was."""


def tried_changes(
    model: AnyModel,
    machine: str | Path,
    ranks: int,
    *,
    settings: dict[str, str] | None = None,
    base: Mapping[str, Any] | None = None,
    report: Report = lambda text: None,
    **options: Any,
) -> list[dict[str, Any]]:
    """Simulate a step with each of many changes, and return these with their times, the fastest first.

    Each has `kind` ("machine": what bounds the step; "user": what a user can choose), `change`, `time_s`, and `factor`,
    the time without it over the time with it; `energy_j` where the machine has power. Those that are not simulated
    come last: with `refused`, the reason why it does not fit the model or the machine, or with `touches`, the share
    of the step that it can change, where that is below `SMALLEST_SHARE`. `base`: the result without changes, where
    it is known, with its causes. `report`: called with a line before each simulation. `options`: those of
    `tradewind.model.forecast.forecast`. Raises InputError where the step without changes cannot be simulated.
    """
    settings = dict(settings or {})
    base = base or forecast(model, load_machine(machine, settings), ranks, **{**options, "causes": True})
    shares = {cause: seconds / base["time_s"] for cause, seconds in base["cause_s"].items()}
    found, wanted = [], []
    for change in _changes(model, machine, ranks, settings, options):
        share = sum(shares[cause] for cause in change.touches)
        if share >= SMALLEST_SHARE:
            wanted.append(change)
        else:
            found.append({"kind": change.kind, "change": change.name, "touches": share})
    begin = time.perf_counter()
    for number, change in enumerate(wanted):
        report(_progress(number, len(wanted), change.name, time.perf_counter() - begin))
        found.append(
            {
                "kind": change.kind,
                "change": change.name,
                **_tried(change, model, machine, ranks, base, settings, options),
            }
        )
    return sorted(found, key=lambda each: each.get("time_s", math.inf))


def _progress(number: int, all_: int, name: str, passed_s: float) -> str:
    left = f"; about {format_duration(passed_s / number * (all_ - number))} left" if number else ""
    return f"change {number + 1} of {all_}: {name}{left}"


def _tried(
    change: Change,
    model: AnyModel,
    machine: str | Path,
    ranks: int,
    base: Mapping[str, Any],
    settings: dict[str, str],
    options: dict[str, Any],
) -> dict[str, Any]:
    changed: Any = replace(model, algorithms={**model.algorithms, **change.algorithms})
    if change.overlaps:
        changed = Overlapped(changed, change.overlaps)
    try:
        file = load_machine(machine, settings | change.settings)
        chosen = {**options, **change.options, "causes": False}
        found = forecast(changed, file, change.ranks or ranks, **chosen)
    except InputError as error:
        return {"refused": str(error)}
    joules = {key: found[key] for key in ("energy_j",) if key in found}
    return {"time_s": found["time_s"], "factor": base["time_s"] / found["time_s"], **joules}


def _changes(
    model: AnyModel, machine: str | Path, ranks: int, settings: dict[str, str], options: dict[str, Any]
) -> Iterator[Change]:
    file = load_machine(machine, settings)
    values = file.machine.model_dump(by_alias=True)
    for factor, changes in ((2.0, _TWICE), (0.5, _HALF)):
        for name, (touches, keys) in changes.items():
            new = {key: _scaled(values, key, factor) for key in keys}
            if set_there := {key: text for key, text in new.items() if text is not None}:
                yield Change("machine", name, touches, set_there)
    yield from _network_changes(file, options)
    yield from _layout_changes(model, file, ranks, options)
    yield from _exchange_changes(model, ranks, options)


def _network_changes(file: MachineFile, options: dict[str, Any]) -> Iterator[Change]:
    kind, own = file.machine.topology.kind, options.get("routing") or file.machine.routing
    for entry in _core.routings():
        if entry.topology == kind and entry.name != own:
            yield Change("user", f"routing {entry.name}", _EXCHANGES, options={"routing": entry.name})
    for placement in ("random", "box") if kind == "torus" else ("random",):
        if options.get("placement", "linear") != placement:
            yield Change("user", f"placement {placement}", _EXCHANGES, options={"placement": placement})


def _layout_changes(model: AnyModel, file: MachineFile, ranks: int, options: dict[str, Any]) -> Iterator[Change]:
    """Other splits, and, on the same nodes, half or twice as many ranks with the threads for their cores."""
    usual = model.split(ranks)
    for split in _other_splits(options.get("split") or usual, usual) if model.extents is not None else ():
        name = f"split {split[0]}x{split[1]}"
        yield Change("user", name, (*_EXCHANGES, "imbalance"), options={"split": split})
    each, named = ranks_per_node_on(file, options.get("ranks_per_node") or 1), options.get("threads_per_rank")
    taken, own = each * threads_per_rank_on(file.machine, each, named), file.machine.node.cores
    cores = taken if own is None else own if named is None else min(own, taken)
    for new in (each // 2, 2 * each):
        if 1 <= new <= cores and (ranks * new) % each == 0:
            number, threads = ranks * new // each, cores // new
            name = f"{number:,} ranks on the same nodes"
            if file.machine.has_core_rates:  # elsewhere a rank computes with its share of the node
                name += f", {threads} thread{'s' if threads > 1 else ''} each"
            changed = {"ranks_per_node": new, "threads_per_rank": threads, "split": None}
            yield Change("user", name, options=changed, ranks=number)


def _exchange_changes(model: AnyModel, ranks: int, options: dict[str, Any]) -> Iterator[Change]:
    kinds = model.kinds(ranks)
    for key in kinds:
        for algorithm in _ALGORITHMS.get(key, ()):
            yield Change("user", f"{key} by {algorithm}", _EXCHANGES, algorithms={key: algorithm})
    made = model.program(ranks, options.get("split"))
    for pattern, name in _OVERLAPS.items():
        if can_overlap(made, pattern):
            yield Change("user", name, overlaps=pattern)


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
