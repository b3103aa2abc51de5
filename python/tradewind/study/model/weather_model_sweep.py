"""Whole models in study files: the time step of a model file, simulated on machines."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from tradewind.model import MAX_RANKS
from tradewind.study.model.machine_keys import OnMachine
from tradewind.study.model.values import Many, Positive, Quick, Split, split_by_ranks

Ranks = Annotated[int, Field(ge=1, le=MAX_RANKS, strict=True)]


class WeatherModelSweep(OnMachine):
    """Time steps of whole models. The time is that of a step, in the mean over those that do more now and then."""

    kind: Literal["model"]
    name: str
    weather_model: Many[str]
    """Names of models, or paths of model files from the study file's folder."""
    ranks: Many[Ranks]
    split: Annotated[dict[int, Many[Split]], BeforeValidator(split_by_ranks)] = Field(default_factory=dict)
    """For each number of ranks; those that are not named take the split of the model."""
    threads: Many[Positive] | None = None
    """Threads per rank, on machines with rates of cores; None: those that fill the cores of a node."""
    numbers: dict[str, Many[Annotated[float, Field(strict=True, allow_inf_nan=False)]]] = Field(default_factory=dict)
    """Values in place of those of the model file, like ``{ tracers = [3, 20] }``; lists multiply."""
    algorithms: dict[str, str] = Field(default_factory=dict)
    """Algorithms in place of those of the model file, by the key of the exchanges: ``{ halo = "direct" }``."""
    causes: bool = False
    """Also split the time of a step by cause, for plots of causes: each case then takes four more simulations, on an
    unloaded network (see `tradewind.simulation.causes`)."""
    machine: Many[str]
    quick: Quick = Field(default_factory=dict)

    def splits(self, ranks: int) -> list[tuple[int, int]]:
        """Return those for a number of ranks; none: that of the model."""
        return self.split.get(ranks, self.split.get(0, []))
