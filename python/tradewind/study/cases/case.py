"""A case is one point of a study: a workload, and how it is run.

Two cases with the same inputs are the same case, wherever they are written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tradewind.study.cases.bases import NO_BASE, Under
from tradewind.study.cases.environment import Environment
from tradewind.study.model.labels import LABELS, settings_text
from tradewind.workload.workload import Workload

HERE_ONLY = ("measure", "run")
"""Kinds of cases of which the result is about this machine: they are computed here, alone."""


def canonical(value: Any) -> str:
    """JSON that is the same text for equal values."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(value: Any) -> str:
    """Return the SHA-256 of a value, of its canonical JSON."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


@dataclass(frozen=True)
class Case:
    """One point of a study."""

    sweep: str
    kind: str
    """Kind of case: verify, measure, simulate, run, or published by somebody else."""
    workload: Workload
    """The workload: an exchange, a dwarf, a model's time step."""
    options: Mapping[str, Any]
    """Options of the kind, as plain values."""
    under: Under = NO_BASE
    native: str = ""
    """An algorithm that stands for that of an exchange: the MPI library's own."""

    @property
    def name(self) -> str:
        """A line for a reader."""
        parts = [self.kind, self.label, *self.workload.traits()]
        parts += [str(self.options[key]) for key in ("machine", "routing", "order") if self.options.get(key)]
        return ", ".join([*parts, *([self.under.base] if self.under.base else [])])

    @property
    def label(self) -> str:
        """The workload, its size and its algorithm."""
        known = self.workload.as_dict().get("algorithm")
        return self.workload.name.replace(str(known), self.native) if self.native else self.workload.name

    @property
    def request(self) -> dict[str, Any]:
        """All inputs as plain values. What the result does not depend on is not among them."""
        asked = self.workload.as_dict() | self._native
        return {"kind": self.kind, self.workload.family: asked, "options": dict(self.options)}

    @property
    def _native(self) -> dict[str, str]:
        return {"algorithm": self.native} if self.native else {}

    @property
    def labels(self) -> dict[str, Any]:
        """Labels of the case for selections, plots and the dataset (`tradewind.study.model.labels`)."""
        options = {
            **self.options,
            "settings": settings_text(self.under.settings(self.options)),
            "base": self.under.base,
        }
        own = {"sweep": self.sweep, "kind": self.kind, "exchange": self.label}
        known = {**self.workload.labels(), **self._native, **options, **own}
        return {label: known.get(label) for label in LABELS}

    def imbalance(self) -> float:
        """Points of the largest part over the mean."""
        return self.workload.imbalance()


def identity(
    case: Case,
    environment: Environment,
    machine: str | None = None,
    model_version: object = None,
    resolved: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Everything that the result of a case depends on. A stored result is used again only where all of it is equal.

    `machine`: the hash of a simulated machine's values, changed settings included; `model_version`: that of the
    simulator; `resolved`: the options that the machine gives where the study names none. So the same case is the same
    whether a study names the machine's own routing or not.
    """
    known: dict[str, Any] = {"request": case.request}
    if case.kind == "simulate":
        options = {key: value for key, value in case.options.items() if key != "settings"} | (dict(resolved or {}))
        request = {**case.request, "options": options}
        costs = case.workload.cost_version
        found = {"request": request, "machine": machine, "model_version": model_version}
        return found if costs is None else {**found, "cost_version": costs}
    if case.kind == "published":
        return known
    if case.kind in HERE_ONLY:
        names = ("host", "cpu", "mpi", "commit", "version")
        return known | {name: getattr(environment, name) for name in names}
    return known | {"version": environment.version, "commit": environment.commit}
