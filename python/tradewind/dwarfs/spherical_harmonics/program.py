"""The time step of the dwarf spherical_harmonics as the simulator takes it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from tradewind.dwarfs.frame import running
from tradewind.dwarfs.frame.dwarf import copied
from tradewind.dwarfs.waves.linear_step import VARIABLES
from tradewind.method.method import DEFAULT_PACKING, DEFAULT_TRANSPORT
from tradewind.spectral.winds import WIND_VARIABLES
from tradewind.workload.program import Compute, Exchanged, ProgramWorkload, WholeExchange

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tradewind import _core
    from tradewind.spectral.distribution import Distribution

BACK = "-back"
"""End of the name of an exchange that brings data back."""
FFT, LEGENDRE, WAVES = "fft", "legendre", "waves"
"""Parts of a step that compute."""
WAVE_FLOPS = 40.0
"""Flops of the waves' step for each complex coefficient, beside those of the vertical modes, 8 L for L levels."""
WIND_COPIES = 40
"""Memory copies of vorticity and divergence that take as long as to make winds of them, or the way back, by the many
passes of NumPy in `spectral.operators` (38 and 44 were measured at TCo639 with 8 levels)."""


class Request(running.Request, Protocol):
    """The part of a request that a program and a run need, see `SphericalHarmonics`."""

    @property
    def kind(self) -> str:
        """Name of the dwarf."""

    @property
    def ranks(self) -> int:
        """Number of ranks."""

    @property
    def levels(self) -> int:
        """Number of levels."""

    @property
    def points(self) -> int:
        """Number of grid points on all levels."""

    @property
    def point_s(self) -> float:
        """Time of a core per grid point in seconds; 0: by flops and bytes."""

    @property
    def step_s(self) -> float:
        """Time step of the model in seconds."""

    @property
    def on_the_fly(self) -> bool:
        """Whether Legendre functions are computed in each transform."""

    @property
    def winds(self) -> bool:
        """Whether winds are transformed."""

    def distribution(self) -> Distribution:
        """Return the layouts of the transform on the ranks. Raises InputError."""

    def batches(self) -> list[tuple[str, Distribution]]:
        """Return the batches of levels, each with its name and its layouts."""

    def level_order(self) -> NDArray[np.int64]:
        """Return the levels in the order of the batches."""

    def legendre_flops(self) -> NDArray[np.float64]:
        """Return the flops of each rank in a Legendre transform, [rank]."""

    def schedules_of(self, name: str, pattern: _core.Redistribution) -> dict[str, _core.Schedule]:
        """Return the schedules of an exchange, by the names of its steps."""


class _Parts:
    """The steps of which a time step is made."""

    def __init__(self, dwarf: Request) -> None:
        self._dwarf = dwarf
        self._distribution, self._loads = dwarf.distribution(), dwarf.distribution().loads()
        self._patterns = self._distribution.patterns()
        self._flops = {
            FFT: self._loads["fft_flops"],
            LEGENDRE: dwarf.legendre_flops(),
            WAVES: self._loads["columns"] * (WAVE_FLOPS + 8 * dwarf.levels) / len(VARIABLES),
        }
        total = {name: 2 * float(load.sum()) for name, load in self._flops.items()}
        self._slower = dwarf.point_s * dwarf.points / (sum(total.values()) - total[WAVES] / 2)
        self._fft_bytes_per_flop = copied(16 * dwarf.points * len(VARIABLES)) / (total[FFT] / 2)
        self._exchanges: dict[str, list[Any]] = {}
        for name in self._patterns:
            for way in (name, name + BACK):
                self._exchanges[way] = self._messages(name, way)

    def _messages(self, name: str, way: str) -> list[Any]:
        """The exchange of all fields together, or one after another of what the strategy sends together."""
        dwarf, method = self._dwarf, self._dwarf.method(name)
        made: dict[int, Exchanged] = {}
        steps: list[Any] = []
        for label, batch in dwarf.batches():
            if id(batch) not in made:
                schedule = dwarf.schedules_of(name, batch.patterns()[name])[way]
                made[id(batch)] = Exchanged(
                    f"{way} of batch {len(made) + 1}" if made else way,
                    schedule,
                    1,
                    "f8" if name == "rows" else "c16",
                    transport=method.transport or DEFAULT_TRANSPORT,
                    packing=method.packing or DEFAULT_PACKING,
                )
            exchanged = made[id(batch)]
            steps.append(WholeExchange(exchanged, f"{way} {label}") if label else exchanged)
        return steps

    def exchange(self, name: str, *, back: bool = False) -> list[Any]:
        """An exchange with its further passes over memory, and the sums that partial sums are added to."""
        if name not in self._patterns:
            return []
        way = name + BACK if back else name
        before: list[Any] = []
        after: list[Any] = []
        if self._dwarf.strategy == "passes":
            before, after = (
                [self._copying(f"{way} {end}", self._moved(name, way, end))] for end in ("gather", "scatter")
            )
        steps = [*before, *self._exchanges[way], *after]
        if name == "sums":
            ends = [3 * moved / 2 for moved in self._moved(name, way, "gather" if back else "scatter")]
            more = self._copying(f"{way} {'spread' if back else 'add'}", ends)
            steps = [more, *steps] if back else [*steps, more]
        return steps

    def _copying(self, label: str, moved: list[float]) -> Compute:
        return Compute(label, bytes=copied(1.0), points=moved)

    def compute(self, name: str, label: str) -> Compute:
        """A computation on all ranks."""
        points = (self._dwarf.work * self._flops[name]).tolist()
        moved = self._fft_bytes_per_flop if name == FFT else 0.0
        flops, kernel = 0.0 if self._slower else 1.0, f"{self._dwarf.kind}-{name}"
        return Compute(label, 0.0, flops, moved, points=points, point_s=self._slower, kernel=kernel)

    def winds(self, label: str) -> list[Compute]:
        """Winds of vorticity and divergence, or the other way."""
        dwarf, distribution = self._dwarf, self._distribution
        if not dwarf.winds:
            return []
        top = distribution.truncation.top
        by_set = [sum(top + 2 - piece.m for piece in own) for own in distribution.pieces.by_set]
        coefficients = [
            float(by_set[distribution.set_of(rank)[0]] * len(distribution.levels_of(rank)))
            for rank in range(dwarf.ranks)
        ]
        return [Compute(label, bytes=16.0 * WIND_VARIABLES * WIND_COPIES, points=coefficients)]

    def _moved(self, name: str, way: str, end: str) -> list[float]:
        """The bytes that a copy of an exchange's source or target reads and writes on each rank."""
        pattern = self._patterns[name]
        source = (end == "gather") != way.endswith(BACK)
        shape = pattern.source_shape if source else pattern.target_shape
        size = 8 if name == "rows" else 16
        return [2.0 * size * math.prod(shape(rank)) for rank in range(self._dwarf.ranks)]


def program(dwarf: Request) -> ProgramWorkload:
    """The program of one step of the dwarf."""
    parts = _Parts(dwarf)
    return ProgramWorkload(
        *parts.exchange("rows"),
        parts.compute(FFT, FFT),
        *parts.exchange("wavenumbers"),
        parts.compute(LEGENDRE, LEGENDRE),
        *parts.winds("winds"),
        *parts.exchange("sums"),
        *parts.exchange("columns"),
        parts.compute(WAVES, WAVES),
        *parts.exchange("columns", back=True),
        *parts.exchange("sums", back=True),
        *parts.winds("winds" + BACK),
        parts.compute(LEGENDRE, LEGENDRE + BACK),
        *parts.exchange("wavenumbers", back=True),
        parts.compute(FFT, FFT + BACK),
        *parts.exchange("rows", back=True),
        name=f"spherical harmonics, {dwarf.strategy}",
    )
