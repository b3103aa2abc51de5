"""Dwarfs of limited areas: transpositions of batches of fields, from points to lines and on, and back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.base.extents import MAX_EXTENT, extents_text
from tradewind.dwarfs.frame.dwarf import packing_of
from tradewind.dwarfs.frame.on_grid import GridDwarf, GridRunning
from tradewind.dwarfs.frame.step import COMPUTE
from tradewind.dwarfs.waves.plane_waves import half_step, nearest_to_square
from tradewind.method.method import DEFAULT_TRANSPORT, NATIVE, Method, default_algorithm
from tradewind.workload.options import option
from tradewind.workload.program import Exchanged

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpi4py import MPI

    from tradewind.dwarfs.frame.step import Step
    from tradewind.mpi.library import Array

    Pattern = _core.Transpose | _core.Redistribution

BACK = "-back"
"""End of the name of an exchange that brings data back."""
IN_BATCHES = ("batches", "overlap")
_ROUNDINGS = 1e-12 * 2**53
"""Distance from the reference that a check allows, in roundings of the precision: in double 1e-12."""
NOT_SIMULATED = ("barrier",)
"""Strategies that show what not to do; the simulator knows no barriers."""


@dataclass(frozen=True)
class LimitedArea(GridDwarf):
    """A request for a dwarf of a limited area."""

    batches: int | None = option(
        "Batches of fields, or of levels.",
        None,
        minimum=1,
        maximum=MAX_EXTENT,
        shown="1, or more with the strategies batches and overlap",
        label="batches of fields",
    )
    step_s: float = option("Seconds of model time in a step, like 180s.", 180.0, unit="s", label="time step of a model")
    spacing_m: float = option("Meters between grid points.", 20000.0, label="distance of grid points")

    not_simulated: ClassVar = NOT_SIMULATED
    default_batches: ClassVar[int] = 2
    diagnostics: ClassVar = {"energy": "energy", "mean": "mean geopotential", "error": "error against the solution"}

    def _problems(self) -> list[str]:
        self._choose(batches=self.default_batches if self.strategy in IN_BATCHES else 1)
        problems = []
        for name, value, unit in (("step", self.step_s, "s"), ("spacing", self.spacing_m, "m")):
            if not 0 < value < math.inf:
                problems.append(f"{name} {value} {unit}: more than 0 is allowed")
        problems += self._batch_problems() + self._area_problems()
        problems = problems or self._split_problems()
        return problems or self._method_problems()

    def _area_problems(self) -> list[str]:
        """Return problems of a dwarf's own options; may fill in open values."""
        return []

    @property
    def fields(self) -> int:
        """Fields that are redistributed together, or in batches."""
        return self.grid[2]

    def _batch_problems(self) -> list[str]:
        batches, fields = self.batches or 1, self.fields
        if batches > 1 and self.strategy not in IN_BATCHES:
            return [f"batches {batches}: the strategies {' and '.join(IN_BATCHES)} have them; leave it out"]
        if fields % batches:
            allowed = ", ".join(str(b) for b in range(1, fields + 1) if fields % b == 0)
            return [f"batches {batches} of {fields} fields: numbers that divide them are allowed ({allowed})"]
        return []

    # Who owns what, and what moves.

    @property
    def batch_grid(self) -> tuple[int, int, int]:
        """(nx, ny, fields of a batch)"""
        nx, ny, _ = self.grid
        return nx, ny, self.fields // (self.batches or 1)

    @property
    def s(self) -> float:
        """c dt / (2 dx)"""
        return half_step(self.step_s, self.spacing_m)

    def patterns(self) -> dict[str, Pattern]:
        """Return the redistributions of a batch by name, forth and back."""
        raise NotImplementedError

    def _misfits(self, split: tuple[int, int]) -> list[str]:
        """Return why a split does not fit a layout."""
        raise NotImplementedError

    def _largest(self) -> tuple[int, tuple[int, int], str]:
        """The largest number of ranks up to `ranks` that works, its split, and the bounds in words."""
        raise NotImplementedError

    def _split_problems(self) -> list[str]:
        if self.split is not None:
            parts = math.prod(self.split)
            wrong = [f"split {extents_text(self.split)}: {parts} parts, {self.ranks} ranks"]
            return wrong if parts != self.ranks else self._misfits(self.split)
        split = nearest_to_square(self.ranks, lambda pair: not self._misfits(pair))
        self._choose(split=split)
        if split is not None:
            return []
        largest, best, bounds = self._largest()
        return [
            f"{self.ranks} ranks: no split CXxCY of them works ({bounds}); the largest number up to it that does is "
            f"{largest}, {extents_text(best)}"
        ]

    def _method_problems(self) -> list[str]:
        try:
            return [each for name in self.plans for each in self.transport_problems(name, self._schedules(name))]
        except InputError as error:
            return list(error.problems)

    def method(self, plan: str) -> Method:
        """The method of an exchange, which is that of the way back, too."""
        return super().method(plan.removesuffix(BACK))

    def _schedules(self, name: str) -> dict[str, _core.Schedule]:
        """The schedules of an exchange, forth and back. Raises InputError for an algorithm that it cannot have."""
        method = self.method(name)
        algorithm = method.algorithm or default_algorithm(self.plans[name])
        if name == "halo":
            return {name: _core.make_schedule(self.halo(), algorithm)}
        if algorithm == NATIVE:
            algorithm = "burst"
        patterns = self.patterns()
        return {way: _core.make_schedule(patterns[way], algorithm) for way in (name, name + BACK)}

    def halo(self) -> _core.Halo:
        """The halo of a field."""
        return _core.Halo(self.layout, 1, [True, True])

    def pattern(self, name: str) -> _core.Halo | Pattern:
        """Return the pattern of an exchange."""
        return self.halo() if name == "halo" else self.patterns()[name]

    def exchanged(self, name: str) -> Exchanged:
        """Return an exchange of programs: its schedule, method and element type."""
        method, schedule = self.method(name), self._schedules(name.removesuffix(BACK))[name]
        transport = method.transport or DEFAULT_TRANSPORT
        packing = method.packing or packing_of(transport)
        return Exchanged(name, schedule, 1, self.dtype_of(name), transport=transport, packing=packing)

    def dtype_of(self, name: str) -> str:
        """Element type of an exchange: points are real, wavenumbers complex."""
        return self.precision if name.removesuffix(BACK) in ("fft", "lines", "halo") else f"c{2 * self.element_bytes}"

    # Traits of every dwarf.

    @property
    def tolerance(self) -> float:
        """The bits do not depend on ranks, but those of `reference_step`, other code in doubles, are others."""
        return _ROUNDINGS * self.unit_roundoff


@dataclass(frozen=True)
class Diagnosis:
    """Energy, which a step conserves; the mean geopotential; and the largest difference from the solution in closed
    form."""

    energy: float
    mean: float
    error: float


def forth_in_batches(step: Step, name: str, then: Callable[[Step, int], None], *, ahead: bool) -> None:
    """Redistribute one batch of fields after another, and go on with each; `ahead`: the next one travels meanwhile."""
    batches = step.dwarf.batches or 1
    if ahead:
        step.start(name, 0, "start 0")
    for batch in range(batches):
        if not ahead:
            step.exchange(name, batch, f"{name} {batch}")
        else:
            step.wait(name, f"wait {batch}")
            if batch + 1 < batches:
                step.start(name, batch + 1, f"start {batch + 1}")
        then(step, batch)


class LimitedAreaRun(GridRunning):
    """A dwarf of a limited area on MPI ranks, one of which this process is."""

    def __init__(self, dwarf: LimitedArea, comm: MPI.Intracomm, record: str) -> None:
        super().__init__(dwarf, comm, record)
        self.transform = _core.AreaTransform(*dwarf.grid[:2])
        self.steps, self.batches = 0, dwarf.batches or 1
        self._barriers = dwarf.strategy == "barrier"
        self._request = dwarf
        self._sources: dict[str, list[Array]] = {}

    def arrays(self, pattern: Pattern, name: str) -> list[Array]:
        """This rank's array of each batch, which an exchange sends from, full of NaN."""
        return [self.array(pattern, name, self.dwarf.dtype_of(name)) for _ in range(self.batches)]

    def connect(self, way: str, pattern: Pattern, sources: list[Array], targets: list[Array]) -> None:
        """Make the plans of an exchange of each batch. Collective."""
        self._sources[way] = sources
        self.plan(way, pattern, *zip(sources, targets, strict=True))

    def exchange(self, name: str, of: Any = "field", label: str = "") -> None:
        """Exchange an array, after a barrier where these are timed."""
        if self._barriers and name in self._sources:
            self.timed(self.comm.Barrier, part="barrier")
        super().exchange(name, of)

    def places(self, points: Any) -> list[Any]:
        """Return the one place of a loop: its layout, which the loop reads by itself."""
        return [points]

    def array_of(self, exchange: str, of: Any) -> Array:
        """The array of a batch that an exchange sends from."""
        found: Array = self._sources[exchange][of]
        return found

    def seconds(self) -> dict[str, float]:
        """Seconds by part; computing has several of them, and no rest."""
        found = super().seconds()
        del found[COMPUTE]
        return found
