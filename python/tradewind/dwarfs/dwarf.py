"""What all dwarfs have in common: how one is asked for, and what is asked of one that runs."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from tradewind import _core
from tradewind.base.elements import DTYPES
from tradewind.base.errors import InputError
from tradewind.base.names import unknown

if TYPE_CHECKING:
    from pathlib import Path

    from mpi4py import MPI

    from tradewind.dwarfs.diagnosis import Diagnosis
    from tradewind.mpi.library import Array, Plan
    from tradewind.trace.measured import Event
    from tradewind.workload.program import Program

PRECISIONS = ("f4", "f8")
_MOST_THREADS = 1024
_MOST_WORK = 1_000_000


@dataclass(frozen=True)
class Dwarf(ABC):
    """A dwarf as a user asks for it. All fields are plain values, which can go to other processes as JSON.

    Raises InputError, with every problem at once, when it is made.
    """

    ranks: int
    grid: tuple[int, int, int]
    """(nx, ny, nz)"""
    split: tuple[int, int] | None = None
    """Ranks over x and y; as square as can be unless given."""
    precision: str = "f8"
    strategy: str | None = None
    """When it exchanges and when it computes; the first of `strategies` unless given."""
    width: int | None = None
    """Points of the halo; as many as the strategy needs unless given."""
    algorithm: str | None = None
    """As `transport` and `packing`: of the exchange, see `tradewind.mpi.plan`, which chooses where none is given."""
    transport: str | None = None
    packing: str | None = None
    threads: int = 1
    """Of each rank, for the compiled loops."""
    work: int = 1
    """How often each computation is done, to the same result: more to compute for the same exchange."""
    point_s: float = 0.0
    """For the simulator: seconds that a core needs for a point beside what the memory takes, where that has been
    measured; 0: what the machine says of flops."""
    check: bool = False
    """Whether a checksum of every message is compared at its two ends."""
    watchdog_s: float = 0.0
    """Time after which an exchange that does not end is an error; 0 waits for ever."""

    name: ClassVar[str]
    strategies: ClassVar[Mapping[str, object]]
    """By name, the one first that is taken where none is named."""

    def __post_init__(self) -> None:
        problems = self._common_problems() + self._problems()
        if problems:
            raise InputError(*problems)

    @abstractmethod
    def _problems(self) -> list[str]:
        """What is wrong with the request beyond what all dwarfs look at; may fill in what was not given."""

    @abstractmethod
    def program(self) -> Program:
        """What `steps_a_round` steps are to the simulator."""

    @abstractmethod
    def on(self, comm: MPI.Intracomm, *, record: str = "totals") -> Running:
        """The dwarf at its first step, on the ranks of a communicator. Collective. `record`: see `Running.events`."""

    @abstractmethod
    def reference_step(self, field: Array) -> Array:
        """The whole field a step later, by other code than that which runs, bit for bit."""

    @property
    def steps_a_round(self) -> int:
        """Steps from one exchange to the next."""
        return 1

    @property
    def element_bytes(self) -> int:
        return DTYPES[self.precision]

    def simulate(self, machine: str | Path, **options: Any) -> dict[str, Any]:
        """How long `steps_a_round` steps take on a machine; see `tradewind.simulate`."""
        from tradewind.simulation import simulate

        return simulate(self.program(), machine, **options)

    def as_dict(self) -> dict[str, Any]:
        """The request as plain values."""
        return {"dwarf": self.name, **asdict(self)}

    def _common_problems(self) -> list[str]:
        problems = []
        if self.precision not in PRECISIONS:
            problems.append(unknown("precision", self.precision, PRECISIONS))
        if self.strategy is not None and self.strategy not in self.strategies:
            problems.append(unknown("strategy", self.strategy, self.strategies))
        if not 1 <= self.threads <= _MOST_THREADS:
            problems.append(f"threads {self.threads}: 1..{_MOST_THREADS} are allowed")
        if not 1 <= self.work <= _MOST_WORK:
            problems.append(f"work {self.work}: 1..{_MOST_WORK} are allowed")
        if not 0 <= self.point_s < math.inf:
            problems.append(f"time of a point {self.point_s} s: 0 or more is allowed")
        if not 0 <= self.watchdog_s < math.inf:
            problems.append(f"watchdog {self.watchdog_s} s: 0 or more is allowed")
        for what, name, known in (
            ("transport", self.transport, _core.transports()),
            ("packing", self.packing, _core.packings()),
        ):
            names = [entry.name for entry in known]
            if name is not None and name not in names:
                problems.append(unknown(what, name, names))
        return problems

    def _choose(self, **values: Any) -> None:
        """Fills in what the request has left open."""
        for name, value in values.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)

    def plan_options(self) -> dict[str, Any]:
        """What goes through to `tradewind.mpi.plan`."""
        names = ("algorithm", "transport", "packing", "check", "watchdog_s")
        return {name: getattr(self, name) for name in names}

    def empty(self, pattern: _core.Pattern, comm: MPI.Intracomm) -> Array:
        """An array for an exchange. What nobody has filled is not a number, and a diagnosis would find it."""
        from tradewind import mpi

        shared = self.transport == "shared"  # then in memory where other ranks can take messages from
        shape = pattern.source_shape(comm.Get_rank())
        array: Array = mpi.empty(pattern, comm, self.precision) if shared else np.empty(shape, self.precision)
        array.fill(np.nan)
        return array


class Running(Protocol):
    """A dwarf on MPI ranks, one of which this process is."""

    @property
    def messages(self) -> int:
        """Sent by this rank since `reset`."""

    @property
    def bytes_sent(self) -> int:
        """By this rank since `reset`."""

    @property
    def plan(self) -> Plan:
        """One of those that carry out its exchanges."""

    @property
    def least_bytes(self) -> int:
        """What a memory copy must move on this rank to amount to one step: each value read once and written once."""

    def advance(self, steps: int) -> None:
        """Collective."""

    def reset(self) -> None:
        """Begins to count seconds and messages. Collective: may do before what only the first time costs."""

    def seconds(self) -> dict[str, float]:
        """By part of the time loop, of this rank, since `reset`."""

    def events(self) -> list[Event]:
        """What this rank did since `reset`; nothing unless it was made to record "events"."""

    def diagnose(self) -> Diagnosis:
        """Of the whole field. Collective. Raises NotFiniteError on all ranks."""

    def gathered(self, levels: slice = ...) -> Array | None:
        """Some levels of the whole field, [z][y][x], on rank 0. Collective."""
