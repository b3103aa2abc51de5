"""The program of one step of a model, and what a forecast asks of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

from tradewind.workload.program import ProgramWorkload


@dataclass(frozen=True)
class StepProgram:
    """The program of a time step: `parts` has the part of the model for each of its steps, in order."""

    program: ProgramWorkload
    parts: list[str]
    computes: list[bool]
    """Whether each step is a computation."""


class Stepping(Protocol):
    """A model, as far as a forecast needs it."""

    @property
    def name(self) -> str:
        """Name in results."""

    @property
    def step_s(self) -> float:
        """Simulated seconds of a step."""

    def every(self, ranks: int) -> list[int]:
        """Return the numbers of steps after which something is done that other steps do not have."""

    def numbers(self, ranks: int) -> dict[str, float]:
        """Return the values of all numbers, by name."""

    def split(self, ranks: int) -> tuple[int, int]:
        """Return the ranks over x and y that a step has unless others are named."""

    def program(self, ranks: int, split: tuple[int, int] | None = None, every: int | None = 1) -> StepProgram:
        """Return the program of a step."""


class OnGrid(Stepping, Protocol):
    """A model whose grid may grow."""

    @property
    def grid_text(self) -> str:
        """The grid as its file names it."""

    @property
    def extents(self) -> tuple[int, int, int] | None:
        """Points along x, y and z, where they are divided among ranks along x and y."""

    def check(self, ranks: int) -> None:
        """Raise InputError for ranks that do not fit, as far as that is known before exchanges are made."""

    def ranks_along_levels(self, ranks: int) -> int | None:
        """Return the most ranks along the direction that divides levels in transpositions; None: none divides them."""

    @property
    def point_count(self) -> int:
        """Points of its grids; 0 where each rank has elements of its own."""

    def grown(self, ranks: int, grown_from: tuple[int, int]) -> tuple[Self, tuple[int, int]]:
        """Return the same model with as many points for each rank, and the split; see `Model.grown`."""
