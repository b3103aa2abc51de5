"""A Helmholtz problem in three dimensions per time step, solved by GCR(k): halos, and reductions that all ranks await.

Sound waves in a doubly periodic area with a hill, implicit in all directions: sigma (phi' - 2 phi + phi'') over the
squared time step is the divergence of kappa (grad phi' + mu phi'), so that a step solves A phi' = sigma (2 phi - phi'')
(A: see `tradewind.dwarfs.helmholtz_operator`; variable, anisotropic and non-symmetric). Ranks divide x and y; columns
are whole, and are what the preconditioner M solves for. Generalized conjugate residuals (Eisenstat, Elman & Schultz
1983, doi:10.1137/0720023) as in Zheng & Marguinaud 2018, doi:10.5194/gmd-11-3409-2018, Algorithm 1, there "restarted"
and here, too, truncated to the last k directions:

    r = b - A x
    u = M r,  p = u and s = A u, less the shares of the last k directions    reduced: <A u, s_j>, min(i, k) numbers
    x += a p,  r -= a s,  a = <r, s> / <s, s>                                reduced: <r, s>, <s, s>

The strategy pipelined (Sanan, Schnepp & May 2016, doi:10.1137/15M1049130, as PETSc's PIPEGCR) has all these numbers in
one reduction, which travels while operator and preconditioner prepare the next direction. By recurrences it has

    z = M r,    w = A z,    m = z + M (w - r),    n = A m,    and q and t, which are to m and n as p and s to z and w

mpiexec -n 2 python -c "
from mpi4py import MPI
from tradewind.dwarfs.helmholtz import Helmholtz
run = Helmholtz(ranks=2, grid=(64, 48, 16)).on(MPI.COMM_WORLD)
run.advance(4)
print(run.diagnose())"
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.dwarfs.dwarf import method_option
from tradewind.dwarfs.helmholtz_operator import Atmosphere
from tradewind.dwarfs.on_grid import GridDwarf
from tradewind.workload.options import option

if TYPE_CHECKING:
    from mpi4py import MPI

    from tradewind.dwarfs.helmholtz_run import HelmholtzRun
    from tradewind.method.method import Method
    from tradewind.mpi.library import Array
    from tradewind.workload.program import Program

PRECONDITIONERS = ("columns", "none")
SUMS = ("ordinary", "exact")
LOAD, MOST_ITERATIONS = 25, 500
"""Iterations of the source's load; and those after which a solver gives up unless asked for another number."""
MIN_LEVELS, MAX_DIRECTIONS = 3, 6
_WIDTH = 1


@dataclass(frozen=True)
class Direction:
    """A direction p of the search with s = A p; q = M s and t = A q where the solver is pipelined; and <s, s>."""

    p: Any
    s: Any
    q: Any = None
    t: Any = None
    eta: float = 1.0


class Solver(Protocol):
    """What the strategies are made of: carried out by `HelmholtzRun`, written down by `helmholtz_program.Recorder`."""

    dwarf: Helmholtz
    x: Any
    """The solution, and the first guess."""

    def vector(self, name: str, halo: bool = False) -> Any:
        """The vector of a name. `halo`: the operator is applied to it."""

    def begin(self, r: Any) -> None:
        """Compute the right-hand side b of the time step, and r = b - A x."""

    def precondition(self, right: Any, out: Any, *, minus: Any = None, plus: Any = None, pokes: int = 0) -> None:
        """Compute out = plus + M (right - minus), with so many pokes in between."""

    def operate(self, field: Any, out: Any, *, pokes: int = 0) -> None:
        """Exchange the halo of a field, and compute out = A field, with so many pokes in between."""

    def combine(self, target: Any, *terms: tuple[float, Any]) -> None:
        """Compute target = the sum of factors times vectors."""

    def sums(self, *pairs: tuple[Any, Any]) -> list[float]:
        """Return scalar products over all ranks: a reduction."""

    def start_sums(self, *pairs: tuple[Any, Any]) -> None:
        """Begin the reduction."""

    def wait_sums(self) -> list[float]:
        """End the reduction that was begun."""

    def norms(self, r: Any, first: bool) -> list[tuple[Any, Any]]:
        """Return what the solver must reduce beside, to know the norm of r; at `first` that of b, too."""

    def ended(self, iterations: int, norms: Sequence[float]) -> bool:
        """Whether it has converged. Raises ConvergenceError where it never will."""

    def finish(self, iterations: int, r: Any) -> None:
        """End a time step after so many iterations."""


# The time loop. Each strategy takes a step: it solves the problem.


def classic(run: Solver, steps: int) -> int:
    """Two reductions per iteration, one after the other, each waited for."""
    x, r, v, printed = run.x, run.vector("r"), run.vector("v"), run.dwarf.printed
    u = run.vector("u", halo=True)
    run.begin(r)
    old: list[Direction] = []
    for i in itertools.count():
        run.precondition(r, u)
        run.operate(u, v)
        products = run.sums(*((v, d.s) for d in old), *run.norms(r, i == 0))
        if run.ended(i, products[len(old) :]):
            break
        beta = [-product / d.eta for product, d in zip(products, old, strict=False)]
        p, s = (run.vector(f"{name}{i % run.dwarf.slots}") for name in "ps")
        run.combine(p, (1.0, u), *((b, d.p) for b, d in zip(beta, old, strict=True)))
        if printed:
            _operate_again(run, p, s)
        else:
            run.combine(s, (1.0, v), *((b, d.s) for b, d in zip(beta, old, strict=True)))
        gamma, eta = run.sums((u if printed else r, s), (s, s))
        alpha = quotient(gamma, eta)
        run.combine(x, (1.0, x), (alpha, p))
        run.combine(r, (1.0, r), (-alpha, s))
        old = kept(run.dwarf, old, Direction(p, s, eta=eta))
        if run.dwarf.is_last(i + 1):
            break
    run.finish(i + 1 if run.dwarf.rtol == 0 else i, r)
    return 1


def _operate_again(run: Solver, p: Any, s: Any) -> None:
    """Compute s = A p, as Algorithm 1 prints it: with a halo of its own."""
    whole = run.vector("p with halo", halo=True)
    run.combine(whole, (1.0, p))
    run.operate(whole, s)


def pipelined(run: Solver, steps: int) -> int:
    """One reduction per iteration; operator and preconditioner prepare the next direction while it travels."""
    x, r, z, w, n = run.x, *(run.vector(name) for name in "rzwn")
    m = run.vector("m", halo=True)
    run.begin(r)
    old = _prepare(run, r, z, w, m)
    for i in itertools.count():
        run.start_sums(*((w, d.s) for d in old), (w, r), (w, w), *run.norms(r, i == 0))
        before, after = divided(run.dwarf.pokes)
        run.precondition(w, m, minus=r, plus=z, pokes=before)
        run.operate(m, n, pokes=after)
        *products, gamma, delta = (found := run.wait_sums())[: len(old) + 2]
        if run.ended(i, found[len(old) + 2 :]):
            break
        beta = [-product / d.eta for product, d in zip(products, old, strict=True)]
        eta = delta - sum(b * b * d.eta for b, d in zip(beta, old, strict=True))
        if eta <= 0 < delta:  # rounding has eaten the directions up
            old, beta, eta = [], [], delta
        new = [run.vector(f"{name}{i % run.dwarf.slots}") for name in "psqt"]
        for number, (target, first) in enumerate(zip(new, (z, w, m, n), strict=True)):
            terms = ((b, (d.p, d.s, d.q, d.t)[number]) for b, d in zip(beta, old, strict=True))
            run.combine(target, (1.0, first), *terms)
        alpha = quotient(gamma, eta)
        run.combine(x, (1.0, x), (alpha, new[0]))
        for target, direction in zip((r, z, w), new[1:], strict=True):
            run.combine(target, (1.0, target), (-alpha, direction))
        p, s, q, t = new
        old = kept(run.dwarf, old, Direction(p, s, q, t, eta))
        if run.dwarf.is_last(i + 1):
            break
    run.finish(i + 1 if run.dwarf.rtol == 0 else i, r)
    return 1


def _prepare(run: Solver, r: Any, z: Any, w: Any, m: Any) -> list[Direction]:
    """Compute z = M r and w = A z: there is no direction yet."""
    run.precondition(r, m)
    run.operate(m, w)
    run.combine(z, (1.0, m))
    return []


def quotient(gamma: float, eta: float) -> float:
    """gamma / eta; 0 where A p is 0, which leads nowhere, and is seen as no convergence."""
    return gamma / eta if eta else 0.0


def kept(dwarf: Helmholtz, old: list[Direction], new: Direction) -> list[Direction]:
    """The directions that the next one is made orthogonal to: the last k, or with `restart` none after k."""
    found = [*old, new]
    if dwarf.restart:
        return found if len(found) <= dwarf.directions else []
    return found[-dwarf.directions :]


def divided(pokes: int) -> tuple[int, int]:
    """Pokes during preconditioner and operator, which takes longer."""
    return pokes // 3, pokes - pokes // 3


STRATEGIES: dict[str, Callable[[Any, int], int]] = {"classic": classic, "pipelined": pipelined}


def _positive(what: str, unit: str = "") -> Callable[[float], list[str]]:
    return lambda value: [] if 0 < value < math.inf else [f"{what} {value}{unit}: more than 0 is allowed"]


def _sigma_problems(value: float) -> list[str]:
    if value == 0:
        return ["sigma 0: the problem is singular, as A of a constant is nearly nothing; more than 0 is allowed"]
    return _positive("sigma")(value)


@dataclass(frozen=True)
class Helmholtz(GridDwarf):
    """A request for the dwarf; `on` ranks it runs, on a machine of the simulator it is simulated."""

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
    rtol: float = option(
        "Norm of the residual over that of the right-hand side where the solver ends; 0: after --iterations.",
        1e-10,
        minimum=0.0,
        maximum=1.0,
        label="tolerance of a solver",
    )
    iterations: int | None = option(
        "Iterations: with --rtol 0 exactly, else at most; so many are simulated.",
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
    hill_m: float = option("Height of the hill in meters.", 1500.0, minimum=0.0, label="height of the hill")
    sigma: float = option(
        "Factor of phi in the equation; 0 would be a singular problem.", 1.0, problems=_sigma_problems, label="sigma"
    )
    sum_method: str | None = method_option("sum", "allreduce")

    kind: ClassVar[str] = "helmholtz"
    strategies: ClassVar = STRATEGIES
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
        if self.precision != "f8":
            problems.append(f"precision {self.precision}: the solver has f8 alone")
        if self.hill_m >= self.top_m:
            problems.append(f"hill {self.hill_m} m: less than the top, {self.top_m} m, is allowed")
        if self.grid[2] < MIN_LEVELS:
            problems.append(f"grid: {self.grid[2]} levels, {MIN_LEVELS} or more are needed by its differences")
        if self.printed and self.strategy != "classic":
            problems.append("printed: only the strategy classic has a printed form; leave it out")
        if self.check and self.rtol == 0:
            problems.append("check: with rtol 0 the solver stops short of the solution; give an rtol")
        return problems + self.exchange_problems("halo", width=_WIDTH, periodic="xy")

    # The solver.

    @property
    def slots(self) -> int:
        """Directions that there is memory for; a new one takes the place of the oldest."""
        return self.directions + 1 if self.restart else self.directions

    def is_last(self, iterations: int) -> bool:
        """Whether a solver that does a number of iterations, however far it comes, has done them."""
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

    def halo(self) -> _core.Halo:
        """The exchange before the operator."""
        return _core.Halo(self.layout, _WIDTH, [True, True])

    def method(self, plan: str) -> Method:
        """The method of an exchange; reductions of any length have one."""
        return super().method(plan.partition(" ")[0])

    # Traits of every dwarf.

    @property
    def name(self) -> str:
        return f"{super().name}, {self.directions} directions"

    @property
    def tolerance(self) -> float:
        """The solver ends at its `rtol`; the problem is well conditioned enough for a solution a thousand times off."""
        return max(1e3 * self.rtol, 1e-12)

    def on(self, comm: MPI.Intracomm, *, record: str = "totals") -> HelmholtzRun:
        """The dwarf at its first step, on as many ranks as it was made for. Collective.

        `record`: as of `tradewind.mpi.plan`; "events" for a time line. Raises InputError; PlanError.
        """
        from tradewind.dwarfs.helmholtz_run import HelmholtzRun

        return HelmholtzRun(self, comm, record)

    def program(self) -> Program:
        """The program of a step: what the strategy does, written down. Raises InputError."""
        from tradewind.dwarfs.helmholtz_program import recorded

        return recorded(self).program()

    def reference_step(self, whole: Array) -> Array:
        """The fields before and at a time, [field, z][y][x], a step later: by SciPy with a sparse matrix."""
        from tradewind.dwarfs.helmholtz_reference import step

        if self.rtol == 0:
            raise InputError("check: with rtol 0 the solver stops short of the solution; give an rtol")
        return step(self.air, whole)
