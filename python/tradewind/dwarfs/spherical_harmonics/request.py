"""The options of the dwarf spherical_harmonics, and what follows from them: who owns what, and what moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.base.extents import MAX_EXTENT
from tradewind.device.names import GPUS, HOST_NAME
from tradewind.dwarfs.frame.dwarf import Dwarf, copied, device_option, method_option
from tradewind.dwarfs.spherical_harmonics.loads import BACK, Loads
from tradewind.dwarfs.waves.linear_step import VARIABLES
from tradewind.method.method import DEFAULT_PACKING, DEFAULT_TRANSPORT, NATIVE, Method, default_algorithm
from tradewind.spectral.distributed import EXCHANGES, reversed_pattern
from tradewind.spectral.distribution import Distribution
from tradewind.spectral.pieces import SPLIT, WAYS_TO_DEAL, Pieces, pieces_of
from tradewind.spectral.precision import Precision, precision_named
from tradewind.spectral.truncation import Truncation
from tradewind.workload.options import option
from tradewind.workload.program import Compute, Exchanged

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tradewind.dwarfs.frame.step import Call

MAX_TRUNCATION = 16383
LATER = ("sums_method", "winds", "levels_per_message")
"""Options that earlier versions did not have: stored cases are found without them."""
_OF_BATCH = " of batch "
_CHECKED_STEPS = 16
"""The most steps of a check in single precision."""


@lru_cache(maxsize=4)
def _truncation(grid: str, degree: int) -> Truncation:
    return Truncation(grid, degree)


@lru_cache(maxsize=64)  # studies and programs need them often, and packing wavenumbers takes long
def _pieces(truncation: Truncation, dealt: str, sets: int) -> Pieces:
    # By the object: pieces are of one truncation, and `_truncation` makes another where it has forgotten it.
    return pieces_of(truncation, dealt, sets)


@lru_cache(maxsize=64)
def _distribution(
    grid: str,
    degree: int,
    ranks: int,
    levels_of_sets: int | tuple[int, ...],
    variables: int,
    level_sets: int | None,
    dealt: str,
) -> Distribution:
    truncation = _truncation(grid, degree)
    known = level_sets and ranks % level_sets == 0 and ranks // level_sets <= len(truncation.grid.rows)
    pieces = _pieces(truncation, dealt, ranks // level_sets) if level_sets and known else dealt
    return Distribution(
        truncation, ranks, levels=levels_of_sets, variables=variables, level_sets=level_sets, dealt=pieces
    )


@dataclass(frozen=True)
class SphericalHarmonicsRequest(Dwarf):
    """The options of a request, and all that follows from them."""

    truncation: int = option(
        "Largest degree T.", minimum=1, maximum=MAX_TRUNCATION, offered="79", by_name=True, label="truncation"
    )
    gaussian_grid: str | None = option(
        "Gaussian grid like O80 or F80.", None, shown="octahedral, with the cubic truncation", label="Gaussian grid"
    )
    levels: int = option("Levels.", 8, minimum=1, maximum=MAX_EXTENT, label="levels")
    level_sets: int | None = option(
        "Sets V of levels: ranks = W x V.",
        None,
        minimum=1,
        maximum=MAX_EXTENT,
        shown="as ecTrans chooses",
        label="level sets",
    )
    dealt: str = option(
        f"How wavenumbers are dealt to the W sets: {', '.join(WAYS_TO_DEAL)}.",
        "packed",
        known=lambda: WAYS_TO_DEAL,
        label="how wavenumbers are dealt",
    )
    step_s: float = option("Seconds of model time in a step, like 600s.", 600.0, unit="s", label="time step of a model")
    on_the_fly: bool = option(
        "Compute the Legendre functions in each step instead of keeping them.", False, label="Legendre on the fly"
    )
    wavenumbers_method: str | None = method_option("wavenumbers", "transpose")
    columns_method: str | None = method_option("columns", "transpose")
    sums_method: str | None = method_option("sums", "transpose")
    winds: bool = option("On the grid there are winds in place of vorticity and divergence.", False, label="winds")
    levels_per_message: int | None = option(
        "Levels of a rank in each message.",
        None,
        minimum=1,
        maximum=MAX_EXTENT,
        shown="all, or 1 with the strategy levels",
        label="levels per message",
    )

    device: str = device_option(HOST_NAME, *GPUS)

    plans: ClassVar = {name: "transpose" for name in EXCHANGES}
    diagnostics: ClassVar = {"energy": "energy", "mean": "mean geopotential", "error": "error against the solution"}
    has_map: ClassVar[bool] = True

    def _problems(self) -> list[str]:
        self._choose(gaussian_grid=f"O{self.truncation + 1}")
        problems = []
        if not 0 < self.step_s < float("inf"):
            problems.append(f"step {self.step_s} s: more than 0 is allowed")
        if self.levels_per_message is not None and self.strategy != "levels":
            problems.append(f"levels per message {self.levels_per_message}: the strategy levels has them; leave it out")
        if self.sums_method is not None and self.dealt != SPLIT:
            problems.append(f"sums method {self.sums_method}: there are sums where wavenumbers are dealt {SPLIT}")
        if self.device != HOST_NAME:
            named = {"winds": self.winds, "Legendre functions on the fly": self.on_the_fly}
            problems += [
                f"{name}: with device {self.device} none are allowed" for name, asked in named.items() if asked
            ]
        if not 0 < self.levels <= MAX_EXTENT:  # a problem of the option; the core takes no such number
            return problems
        try:
            distribution = self.distribution()
            self._choose(level_sets=distribution.level_sets)
            for name, pattern in distribution.patterns().items():
                problems += self.transport_problems(name, self.schedules_of(name, pattern))
        except InputError as error:
            problems += error.problems
        return problems

    def schedules_of(self, name: str, pattern: _core.Redistribution) -> dict[str, _core.Schedule]:
        """The schedules of an exchange, forth and back. Raises InputError for an algorithm that it cannot have."""
        method = self.method(name)
        algorithm = method.algorithm or default_algorithm("transpose")
        if algorithm == NATIVE:
            algorithm = "burst"
        back = reversed_pattern(pattern)
        return {name: _core.make_schedule(pattern, algorithm), name + BACK: _core.make_schedule(back, algorithm)}

    def method(self, plan: str) -> Method:
        """The method of an exchange, which is that of the way back, too."""
        return super().method(plan.removesuffix(BACK))

    # Its program.

    @cached_property
    def _kinds(self) -> list[Distribution]:
        """The distributions of `batches`, each once: batches with the same owners are alike in programs."""
        return list({id(batch): batch for _, batch in self.batches}.values())

    def exchange_name(self, name: str, of: Any) -> str:
        """Return the name in programs of the exchange of a batch, by its number."""
        _, batch = self.batches[of]
        kind = next(number for number, each in enumerate(self._kinds) if each is batch)
        return f"{name}{_OF_BATCH}{kind + 1}" if kind else name

    def exchanged(self, name: str) -> Exchanged:
        """Return an exchange of programs: its schedule, method and element type."""
        way, _, kind = name.partition(_OF_BATCH)
        plan, batch = way.removesuffix(BACK), self._kinds[int(kind or 1) - 1]
        schedule, method = self.schedules_of(plan, batch.patterns()[plan])[way], self.method(plan)
        transport, packing = method.transport or DEFAULT_TRANSPORT, method.packing or DEFAULT_PACKING
        return Exchanged(name, schedule, 1, self.dtype_of(way), transport=transport, packing=packing)

    def computation(self, label: str, calls: Sequence[Call], during: _core.Schedule | None = None) -> Compute:
        """Return the computation of one call of a loop: its flops on each rank, or what it copies."""
        (call,) = calls  # each has its label
        flops, moved = call.cost(self)
        points = call.times(self) * self.loads.of(call.points)
        if not flops:
            return Compute(label, bytes=copied(moved), points=points.tolist())
        points, moved = points * flops, copied(moved / flops)
        flop_s = self.point_s * self.points / self.loads.flops(self.levels)
        done = 0.0 if flop_s else 1.0
        return Compute(label, 0.0, done, moved, points=points.tolist(), point_s=flop_s, kernel=call.name(self))

    @cached_property
    def loads(self) -> Loads:
        """The points of the loops of each rank."""
        return Loads(self.distribution(), self.legendre_flops(), self.types)

    # Who owns what.

    def truncated(self) -> Truncation:
        """Grid and truncation."""
        assert self.gaussian_grid is not None
        return _truncation(self.gaussian_grid, self.truncation)

    def distribution(self, variables: int = len(VARIABLES)) -> Distribution:
        """Return the owners of some variables on all levels."""
        return self._distribution(self.levels, variables)

    def _distribution(self, levels: int | tuple[int, ...], variables: int) -> Distribution:
        assert self.gaussian_grid is not None
        grid, degree, sets = self.gaussian_grid, self.truncation, self.level_sets
        return _distribution(grid, degree, self.ranks, levels, variables, sets, self.dealt)

    @cached_property
    def batches(self) -> list[tuple[str, Distribution]]:
        """The fields that are sent together, in this order: a name, and who owns what of them."""
        if self.strategy == "variables":
            return [(variable, self.distribution(1)) for variable in VARIABLES]
        if self.strategy != "levels":
            return [("", self.distribution())]
        found = []
        for number, levels in enumerate(self._levels_at_a_time()):
            found.append((f"levels {number + 1}", self._distribution(levels, len(VARIABLES))))
        return found

    @cached_property
    def batch_names(self) -> list[str]:
        """The names of `batches`; "" where there is one."""
        return [name for name, _ in self.batches]

    @cached_property
    def is_split(self) -> bool:
        """Whether some wavenumbers are split, so that partial sums are exchanged."""
        return self.distribution().pieces.is_split

    def _levels_at_a_time(self) -> list[tuple[int, ...]]:
        """The number of levels of each set in each message."""
        levels, size = np.diff(self.distribution().level_cuts), self.levels_per_message or 1
        return [tuple(np.clip(levels - begin, 0, size).tolist()) for begin in range(0, int(levels.max()), size)]

    def level_order(self) -> NDArray[np.int64]:
        """The levels of grid points and columns as they lie in memory: what is sent together lies together."""
        if self.strategy != "levels":
            return np.arange(self.levels)
        first, found = self.distribution().level_cuts[:-1].copy(), [np.empty(0, np.int64)]
        for counts in self._levels_at_a_time():
            found += [np.arange(begin, begin + count) for begin, count in zip(first, counts, strict=True)]
            first += counts
        return np.concatenate(found)

    def legendre_flops(self) -> NDArray[np.float64]:
        """Flops of the Legendre transforms of each rank, one way; winds have a degree more."""
        distribution = self.distribution()
        if not self.winds:
            return distribution.loads()["legendre_flops"]
        top = distribution.truncation.top + 2
        by_set = [sum(4.0 * (top - p.m) * (p.end - p.begin) for p in own) for own in distribution.pieces.by_set]
        places = map(distribution.set_of, range(self.ranks))
        fields = np.diff(distribution.level_cuts) * distribution.variables
        return np.array([by_set[w] * fields[v] for w, v in places])

    @property
    def name(self) -> str:
        """A short label, for tables and plots."""
        return f"{super().name}, T{self.truncation} on {self.gaussian_grid}, {self.levels} levels"

    @property
    def points(self) -> int:
        """Number of grid points on all levels."""
        return self.truncated().grid.points * self.levels

    @property
    def tolerance(self) -> float:
        """There are no sums over ranks, but `reference_step` adds in another order; see the dwarf's page."""
        if self.precision == "f8":
            return 1e-12
        return _CHECKED_STEPS * (self.truncation + 1) * self.unit_roundoff

    @property
    def checked_steps(self) -> int | None:
        """In single precision rounding adds up over the steps."""
        return None if self.precision == "f8" else _CHECKED_STEPS

    @property
    def types(self) -> Precision:
        """Element types of grid points and coefficients."""
        return precision_named(self.precision)

    def dtype_of(self, way: str) -> str:
        """Return the element type of an exchange: grid points are real, the rest is complex."""
        return self.types.real if way.startswith("rows") else self.types.complex

    def imbalance(self) -> float:
        """Return the load imbalance: the maximum flops of a rank in Legendre transforms over the mean."""
        return self.distribution().imbalances()["legendre_flops"]

    def derived(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values that a study keeps of a simulation, with the memory of a rank in bytes."""
        return {**super().derived(result), "memory_bytes": self.memory_bytes()}

    def memory_bytes(self) -> int:
        """Bytes of all ranks' arrays, one in each layout, and of their tables of Legendre functions.

        Buffers of messages, and what a process has anyhow, come on top.
        """
        d, types = self.distribution(), self.types
        tables = 0 if self.on_the_fly else sum(d.table_bytes(rank, precision=types) for rank in range(self.ranks))
        return tables + sum(d.array_bytes(rank, precision=types) for rank in range(self.ranks))

    def as_dict(self) -> dict[str, Any]:
        """Plain values. Options that earlier versions did not have are left out where they change nothing."""
        found = super().as_dict()
        return {name: value for name, value in found.items() if name not in LATER or value}
