"""The questions of questions.toml, and the simulations and figures of which each consists."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tradewind.model import load_model

HERE = Path(__file__).parent
MODELS = HERE / "models"
PACKET = "32KiB"
"""Packets of all simulations, where machine files have 4 KiB: an eighth of the cost."""
_DAYS_PER_YEAR = 365.25


@dataclass(frozen=True)
class Case:
    """A simulation: one step of a model file, or the few that differ."""

    model: str
    machine: str
    nodes: int
    ranks_per_node: int

    @property
    def ranks(self) -> int:
        return self.nodes * self.ranks_per_node


@dataclass(frozen=True)
class Question:
    """A published figure of one model on one machine, for some numbers of nodes."""

    id: str
    what: str
    model: str
    machine: str
    nodes: list[int]
    ranks_per_node: int
    figure: str
    """"s", "days per day" or "years per day"."""
    source: str
    steps: int = 1
    """Of a figure in seconds: steps of the model file."""
    without: Sequence[str] = ()
    """Parts of the model that the figure does not have."""
    known: str = ""
    """What was known of the answer when it was predicted."""

    def cases(self) -> Iterator[Case]:
        """Yield its simulations."""
        for nodes in self.nodes:
            yield Case(self.model, self.machine, nodes, self.ranks_per_node)

    def figure_of(self, step_time_s: float) -> float:
        """Return what is published, if a step of the model file takes so long."""
        if self.figure == "s":
            return step_time_s * self.steps
        days = load_model(MODELS / f"{self.model}.toml").step_s / step_time_s
        return days / _DAYS_PER_YEAR if self.figure == "years per day" else days


@cache
def content() -> dict[str, Any]:
    """Return questions.toml: `devices`, `sources`, `question` and `not_askable`."""
    return tomllib.loads((HERE / "questions.toml").read_text(encoding="utf-8"))


@cache
def questions() -> tuple[Question, ...]:
    """Return the questions that are predicted."""
    return tuple(Question(**entry) for entry in content()["question"])


def device_settings(machine: str) -> dict[str, str]:
    """Return the values of a machine file that its accelerators change; none without accelerators."""
    return {key: value for key, value in content()["devices"].get(machine, {}).items() if key != "source"}
