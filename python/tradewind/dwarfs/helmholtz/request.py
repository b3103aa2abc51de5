"""The options of the dwarf helmholtz, their checks, and what follows from them for its solvers."""

from __future__ import annotations

import math
from abc import ABC
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.dwarfs.frame.dwarf import method_option
from tradewind.dwarfs.frame.on_grid import GridDwarf
from tradewind.dwarfs.helmholtz.operator import Atmosphere
from tradewind.dwarfs.helmholtz.reference import step
from tradewind.workload.options import option

if TYPE_CHECKING:
    from tradewind.method.method import Method
    from tradewind.mpi.library import Array
    from tradewind.workload.program import Exchanged

PRECONDITIONERS = ("columns", "none")
SUMS = ("ordinary", "exact")
LOAD, MOST_ITERATIONS = 25, 500
"""Iterations of the source's load; and those after which a solver gives up unless asked for another number."""
MIN_LEVELS, MAX_DIRECTIONS = 3, 6
DIGITS = 68
"""Digits of an exact sum."""
WHOLE = "p with halo"
"""The vector that a direction is copied to, to have the operator applied to it."""
_WIDTH = 1
_CHECKED_POINTS = 4 * 128 * 128 * 64
"""Points that a check solves for, of all steps together."""
_CHECKED_STEPS = {"f4": 8}
"""The most steps of a check: a step doubles what came before, so that errors grow with the square of the steps."""
_SMALLEST_SIGMA = {"f4": 1e-15, "f8": 1e-50}
_RTOL = {"f4": 1e-6, "f8": 1e-10}
"""Where a solver ends unless asked for another residual."""


def _positive(what: str, unit: str = "") -> Callable[[float], list[str]]:
    return lambda value: [] if 0 < value < math.inf else [f"{what} {value}{unit}: more than 0 is allowed"]


def _sigma_problems(value: float) -> list[str]:
    if value == 0:
        return ["sigma 0: the problem is singular, as A of a constant is nearly nothing; more than 0 is allowed"]
    return _positive("sigma")(value)


@dataclass(frozen=True)
class HelmholtzRequest(GridDwarf, ABC):
    """Options of the dwarf, and what follows from them."""

    directions: int = option(
        "k: last directions that a new one is made orthogonal to.",
        3,
        minimum=1,
        maximum=MAX_DIRECTIONS,
        label="directions of GCR",
    )
    restart: bool = option("Drop all directions after k of them, instead of the oldest one.", False, label="restart")
    printed: bool = option(
        "Algorithm 1 as the source prints it: <u, s> in place of <r, s>, and A p once more (classic).",
        False,
        label="as printed",
    )
    preconditioner: str = option(
        "Preconditioner: tridiagonal systems of the columns, or none.",
        "columns",
        known=lambda: PRECONDITIONERS,
        label="preconditioner",
    )
    rtol: float | None = option(
        "Norm of the residual over that of the right-hand side where the solver ends; 0: after --iterations.",
        None,
        minimum=0.0,
        maximum=1.0,
        shown=f"{_RTOL['f8']:g}, in single precision {_RTOL['f4']:g}",
        label="tolerance of a solver",
    )
    iterations: int | None = option(
        "Iterations: with --rtol 0 exactly, else at most; as many are simulated.",
        None,
        minimum=1,
        maximum=100_000,
        shown=f"{LOAD} with --rtol 0 and simulated, else at most {MOST_ITERATIONS}",
        label="iterations of a solver",
    )
    pokes: int = option(
        "Calls in each iteration that let the reduction go on (pipelined).",
        8,
        minimum=0,
        maximum=1000,
        label="pokes per iteration",
    )
    replace: int = option(
        "Iterations after which all vectors that recurrences carry along are computed anew (pipelined); 0: never.",
        0,
        minimum=0,
        maximum=100_000,
        label="iterations between replacements",
    )
    sums: str = option(
        "Scalar products: ordinary, or exact ones, whose bits do not depend on ranks.",
        "ordinary",
        known=lambda: SUMS,
        label="scalar products",
    )
    step_s: float = option(
        "Seconds of model time in a step, like 20s.",
        6.0,
        unit="s",
        problems=_positive("step", " s"),
        label="time step of a model",
    )
    spacing_m: float = option(
        "Meters between grid points.",
        2000.0,
        problems=_positive("spacing", " m"),
        label="distance of grid points",
    )
    top_m: float = option("Height of the top in meters.", 20000.0, problems=_positive("top", " m"), label="top")
    hill_m: float = option(
        "Height of the hill in meters.", 1500.0, minimum=0.0, what="hill", label="height of the hill"
    )
    sigma: float = option(
        "Factor of phi in the equation; 0 would be a singular problem.", 1.0, problems=_sigma_problems, label="sigma"
    )
    sum_method: str | None = method_option("sum", "allreduce")

    kind: ClassVar[str] = "helmholtz"
    numbered: ClassVar[bool] = True
    added_later: ClassVar = {"replace": 0}
    plans: ClassVar = {"halo": "halo", "sum": "allreduce"}
    diagnostics: ClassVar = {
        "iterations": "iterations",
        "residual": "relative residual",
        "mass": "mean",
        "minimum": "minimum",
        "maximum": "maximum",
    }

    def _problems(self) -> list[str]:
        problems = []
        if self.precision in _RTOL:
            self._choose(rtol=_RTOL[self.precision])
            problems += self._range_problems()
        if self.hill_m >= self.top_m:
            problems.append(f"hill {self.hill_m} m: less than the top, {self.top_m} m, is allowed")
        if self.grid[2] < MIN_LEVELS:
            problems.append(f"grid: {self.grid[2]} levels, {MIN_LEVELS} or more are needed by its differences")
        if self.printed and self.strategy != "classic":
            problems.append("printed: only the strategy classic has a printed form; leave it out")
        if self.replace and self.strategy != "pipelined":
            problems.append(
                f"replace {self.replace}: strategy {self.strategy} has few recurrences; pipelined is allowed"
            )
        if self.check and self.rtol == 0:
            problems.append("check: with rtol 0 the solver stops short of the solution; give an rtol")
        return problems + self.exchange_problems("halo", width=_WIDTH, periodic="xy")

    def _range_problems(self) -> list[str]:
        """Return the problems of numbers that the precision does not hold."""
        problems, one = [], 2 * self.unit_roundoff
        smallest, kind = _SMALLEST_SIGMA[self.precision], "float" if self.precision == "f4" else "double"
        if self.sigma > 0 and not smallest <= self.sigma <= 1 / smallest:
            problems.append(
                f"sigma {self.sigma}: {smallest:g}..{1 / smallest:g} are allowed, whose squares {kind}s hold"
            )
        if 0 < self.residual_bound < one:
            problems.append(f"rtol {self.rtol}: 0 (a number of iterations) or {one:.2g}..1.0, the digits of a {kind}")
        return problems

    # The solver.

    @property
    def residual_bound(self) -> float:
        """The option `rtol`, which is chosen by the precision where it is left out."""
        assert self.rtol is not None
        return self.rtol

    @property
    def slots(self) -> int:
        """Directions that there is memory for; a new one takes the place of the oldest."""
        return self.directions + 1 if self.restart else self.directions

    def is_last(self, iterations: int) -> bool:
        """Return whether a solver with a fixed number of iterations has done them."""
        return self.rtol == 0 and iterations >= (self.iterations or LOAD)

    @property
    def most_iterations(self) -> int:
        """Iterations after which a solver gives up."""
        return self.iterations or MOST_ITERATIONS

    @property
    def simulated_iterations(self) -> int:
        """Iterations of the program of a step."""
        return self.iterations or LOAD

    @property
    def air(self) -> Atmosphere:
        """The problem."""
        return Atmosphere(self.grid, self.spacing_m, self.top_m, self.hill_m, self.step_s, self.sigma)

    @property
    def right_side(self) -> tuple[tuple[float, str], ...]:
        """The terms of the right-hand side of a time step."""
        return (2 * self.sigma, "x"), (-self.sigma, "phi before")

    def halo(self) -> _core.Halo:
        """The exchange before the operator."""
        return _core.Halo(self.layout, _WIDTH, [True, True])

    @property
    def sum_dtype(self) -> str:
        """Element type of reductions."""
        return "f8" if self.sums == "ordinary" else "i8"

    def pattern(self, name: str) -> _core.Halo | _core.AllReduce:
        """The exchange before the operator; or the reduction of some scalar products."""
        if name == "halo":
            return self.halo()
        count = int(name.partition(" ")[2])
        return _core.AllReduce(self.ranks, count if self.sums == "ordinary" else count * DIGITS + 1)

    def exchanged(self, name: str) -> Exchanged:
        """Return the halo exchange or the sum by its name. Raises InputError."""
        return self.named_exchange(name, self.precision if name == "halo" else self.sum_dtype)

    def method(self, plan: str) -> Method:
        """The method of an exchange; reductions of any length have one."""
        return super().method(plan.partition(" ")[0])

    # Traits of every dwarf.

    @property
    def name(self) -> str:
        """A short label, for tables and plots."""
        return f"{super().name}, {self.directions} directions"

    @property
    def tolerance(self) -> float:
        """A thousand times the residual where the solver ends: see the dwarf's page."""
        return max(1e3 * self.residual_bound, 1e-12)

    @property
    def checked_steps(self) -> int:
        """SciPy takes a second or two for a step of a million points; in single precision rounding adds up."""
        return min(max(1, _CHECKED_POINTS // self.points), _CHECKED_STEPS.get(self.precision, _CHECKED_POINTS))

    def reference_step(self, whole: Array) -> Array:
        """The fields before and at a time, [field, z][y][x], a step later: by SciPy with a sparse matrix."""
        if self.rtol == 0:
            raise InputError("check: with rtol 0 the solver stops short of the solution; give an rtol")
        return step(self.air, whole.astype("f8"))
