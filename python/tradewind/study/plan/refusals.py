"""Routings and changed values that a machine of a study refuses, whatever is simulated on it: tried on two ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tradewind.base.errors import InputError
from tradewind.base.toml_lines import Place
from tradewind.machine import load_machine
from tradewind.machine.topology import Crossbar
from tradewind.study.cases.bases import Bases, own_routing
from tradewind.study.model.base_model import Base, Settings
from tradewind.study.model.machine_keys import OnMachine
from tradewind.workload.exchange import Exchange

Forecast = Callable[..., Any]
"""(exchange, machine, routing=..., settings=...): raises InputError for what cannot be."""


def refusals(
    sweep: OnMachine, number: int, machines: Mapping[str, Path], bases: Bases, forecast: Forecast
) -> Iterator[tuple[Place, str]]:
    """Yield the problems of the sweep with this index, and of its bases, on each of its machines."""
    for machine, path in machines.items():
        for base in bases.of(sweep):
            beneath: Settings = {}
            if base is not None:
                beneath = bases.common_settings(base, machine)
                if problems := _problems(forecast, path, settings=beneath):
                    key: Place = ("set",) if _problems(forecast, path, settings=base.set) else ("machine_set", machine)
                    place = ("base", bases.bases.index(base), *key)
                    yield from ((place, f"{base.name} on {machine}: {text}") for text in problems)
                    continue
                yield from _routing_sets(sweep, base, (machine, path), bases, forecast)
            for own, text in _own(sweep, path, beneath, forecast):
                yield ("sweep", number, own), text


def _own(sweep: OnMachine, machine: Path, beneath: Settings, forecast: Forecast) -> Iterator[tuple[str, str]]:
    """Return the values that the sweep itself names, each alone."""
    for routing in sweep.routing or []:
        yield from (("routing", text) for text in _problems(forecast, machine, routing=routing))
    firsts = {key: values[0] for key, values in sweep.set.items()}
    for key, values in sweep.set.items():
        for value in values:
            problems = _problems(forecast, machine, settings={**beneath, key: value})
            # A value without effect alone may have one with other keys, as a number of channels with their buffer.
            if problems and _problems(forecast, machine, settings={**beneath, **firsts, key: value}):
                yield from (("set", text) for text in problems)


def _routing_sets(
    sweep: OnMachine, base: Base, machine: tuple[str, Path], bases: Bases, forecast: Forecast
) -> Iterator[tuple[Place, str]]:
    """Return the settings of a base for single routings of the sweep."""
    name, path = machine
    common = bases.common_settings(base, name)
    routings: Sequence[str | None] = sweep.routing or [own_routing(bases.own_machine, name, common)]
    for routing in routings:
        if routing is None or routing not in base.routing_set or _problems(forecast, path, routing=routing):
            continue  # a routing that the machine does not have is reported of the sweep
        settings = {**common, **base.routing_set[routing]}
        place = ("base", bases.bases.index(base), "routing_set", routing)
        for text in _problems(forecast, path, routing=routing, settings=settings):
            yield place, f"{base.name} on {name}, {routing}: {text}"


def _problems(forecast: Forecast, machine: Path, **options: Any) -> list[str]:
    topology = load_machine(machine).machine.topology
    if isinstance(topology, Crossbar) and topology.nodes == 1:
        options["ranks_per_node"] = 2
    try:
        forecast(Exchange("allreduce", 2), machine, **options)
    except InputError as error:
        return list(error.problems)
    return []
