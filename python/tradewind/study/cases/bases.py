"""Expands the simulations of a study under each of its bases.

A base sets how a machine is used, and changes values of it. It is a label of a case, and no part of its identity: the
same point under two bases, or in a study without bases, is one stored case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from tradewind.machine import Machine
from tradewind.study.model.base_model import BASE_OPTIONS, Base, Settings
from tradewind.study.model.machine_keys import OnMachine
from tradewind.workload.simulation_options import CORES

Options = dict[str, Any]
OwnMachine = Callable[[str, Mapping[str, str]], Machine | None]
"""(name, changed values): the machine, whose own routing and cores a case may depend on; None where it is unknown."""
S = TypeVar("S", bound=OnMachine)


def own_routing(own_machine: OwnMachine, name: str, settings: Mapping[str, str]) -> str | None:
    """Return the routing of a machine with changed values; None where it is unknown."""
    machine = own_machine(name, settings)
    return None if machine is None else machine.routing


@dataclass(frozen=True)
class Under:
    """The base of a case, and what its sweep changes of the machine beside it."""

    base: str | None = None
    own_settings: Mapping[str, str] | None = None
    """None: all that the case changes."""

    def settings(self, options: Mapping[str, Any]) -> Mapping[str, str]:
        """Return the changed values that make the label `settings` of a case with these options."""
        found: Mapping[str, str] = options.get("settings", {}) if self.own_settings is None else self.own_settings
        return found


NO_BASE = Under()


@dataclass(frozen=True)
class Bases:
    """The bases of a study, and how to find a machine, on whose routing and cores values may depend."""

    bases: Sequence[Base] = ()
    own_machine: OwnMachine = lambda machine, settings: None

    def options(self, sweep: S, options_of: Callable[[S], Iterable[Options]]) -> Iterator[tuple[Options, Under]]:
        """Yield the options of a sweep's cases under each of its bases, as `options_of` makes them of a sweep."""
        for base in self.of(sweep):
            filled = sweep if base is None else _filled(sweep, base)
            for options in options_of(filled):
                own = options["settings"]
                settings = own if base is None else self._settings(base, options)
                options |= {"settings": settings} | self._cores({**options, "settings": settings})
                yield options, Under(None if base is None else base.name, own)

    def of(self, sweep: OnMachine) -> Sequence[Base | None]:
        """Return the bases of a sweep in the order of the study; a single None in a study without bases."""
        if not self.bases:
            return [None]
        return [base for base in self.bases if sweep.base is None or base.name in sweep.base]

    @staticmethod
    def common_settings(base: Base, machine: str) -> Settings:
        """Return what a base changes of a machine whatever the routing."""
        return {**base.set, **base.machine_set.get(machine, {})}

    def _settings(self, base: Base, options: Options) -> Settings:
        """The changed values of a case under a base: the more special ones go before the others."""
        machine, own = options["machine"], options["settings"]
        common = self.common_settings(base, machine)
        routing = options["routing"]
        if routing is None and base.routing_set:
            routing = own_routing(self.own_machine, machine, {**common, **own})
        return {**common, **base.routing_set.get(routing, {}), **own}

    def _cores(self, options: Options) -> Options:
        """Return the number of ranks per node where the cores of the machine are meant; else nothing."""
        if options.get("ranks_per_node") != CORES:
            return {}
        machine = self.own_machine(options["machine"], options["settings"])
        return {} if machine is None or machine.node.cores is None else {"ranks_per_node": machine.node.cores}


def _filled(sweep: S, base: Base) -> S:
    """The sweep with the options of a base where it names none itself."""
    named = sweep.model_fields_set | ({"ranks_per_node"} if "nodes" in sweep.model_fields_set else set())
    values = {key: getattr(base, key) for key in BASE_OPTIONS}
    return sweep.model_copy(update={k: [v] for k, v in values.items() if v is not None and k not in named})


NO_BASES = Bases()
