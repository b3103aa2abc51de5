"""A Helmholtz problem in three dimensions per time step, solved by GCR(k): halos, and reductions that all ranks await.

Sound waves in a doubly periodic area with a hill, implicit in all directions: sigma (phi' - 2 phi + phi'') over the
squared time step is the divergence of kappa (grad phi' + mu phi'), so that a step solves A phi' = sigma (2 phi - phi'')
(A: see `tradewind.dwarfs.helmholtz.operator`; variable, anisotropic and non-symmetric). Ranks divide x and y; columns
are whole, and are what the preconditioner M solves for. Generalized conjugate residuals (Eisenstat, Elman & Schultz
1983, doi:10.1137/0720023) as in Zheng & Marguinaud 2018, doi:10.5194/gmd-11-3409-2018, Algorithm 1, there "restarted"
and here, too, truncated to the last k directions:

    r = b - A x
    u = M r,  p = u and s = A u, less the shares of the last k directions    reduced: <A u, s_j>, min(i, k) numbers
    x += a p,  r -= a s,  a = <r, s> / <s, s>                                reduced: <r, s>, <s, s>

The strategy pipelined (Sanan, Schnepp & May 2016, doi:10.1137/15M1049130, as PETSc's PIPEGCR) has all these numbers in
one reduction, which travels while operator and preconditioner prepare the next direction. By recurrences it has

    z = M r,    w = A z,    m = z + M (w - r),    n = A m,    and q and t, which are to m and n as p and s to z and w

whose rounding errors add up: `replace` computes them anew every so many iterations (residual replacement; Cools,
Yetkin, Agullo, Giraud & Vanroose 2018, doi:10.1137/17M1117872, who do so where an estimate of the errors says so).

mpiexec -n 2 python -c "
from mpi4py import MPI
from tradewind.dwarfs.helmholtz import Helmholtz
run = Helmholtz(ranks=2, grid=(64, 48, 16)).on(MPI.COMM_WORLD)
run.advance(4)
print(run.diagnose())"
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from tradewind.dwarfs.helmholtz.program import recorded
from tradewind.dwarfs.helmholtz.request import HelmholtzRequest
from tradewind.dwarfs.helmholtz.run import HelmholtzRun

if TYPE_CHECKING:
    from mpi4py import MPI

    from tradewind.workload.program import Program


@dataclass(frozen=True)
class Direction:
    """A direction p of the search with s = A p; q = M s and t = A q where the solver is pipelined; and <s, s>."""

    p: Any
    s: Any
    q: Any = None
    t: Any = None
    eta: float = 1.0


class Solver(Protocol):
    """Operations of the strategies: `HelmholtzRun` carries them out, `program.Recorder` writes them down."""

    dwarf: HelmholtzRequest
    x: Any
    """The solution, and the first guess."""

    def vector(self, name: str, halo: bool = False) -> Any:
        """The vector of a name. `halo`: the operator is applied to it."""

    def begin(self, r: Any) -> None:
        """Compute the right-hand side b of the time step, and r = b - A x."""

    def residual(self, r: Any) -> None:
        """Compute r = b - A x."""

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
    whole = run.vector("p with halo", halo=True) if run.dwarf.replace else None
    run.begin(r)
    _prepare(run, r, z, w, m)
    old: list[Direction] = []
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
        if whole is not None and (i + 1) % run.dwarf.replace == 0:
            run.residual(r)
            _prepare(run, r, z, w, m)
            _replace(run, old, whole, m)
    run.finish(i + 1 if run.dwarf.rtol == 0 else i, r)
    return 1


def _prepare(run: Solver, r: Any, z: Any, w: Any, m: Any) -> None:
    """Compute z = M r and w = A z."""
    run.precondition(r, m)
    run.operate(m, w)
    run.combine(z, (1.0, m))


def _replace(run: Solver, directions: Sequence[Direction], whole: Any, m: Any) -> None:
    """Compute s = A p, q = M s and t = A q of all directions."""
    for direction in directions:
        run.combine(whole, (1.0, direction.p))
        run.operate(whole, direction.s)
        run.precondition(direction.s, m)
        run.combine(direction.q, (1.0, m))
        run.operate(m, direction.t)


def quotient(gamma: float, eta: float) -> float:
    """gamma / eta; 0 where A p is 0, which leads nowhere, and is seen as no convergence."""
    return gamma / eta if eta else 0.0


def kept(dwarf: HelmholtzRequest, old: list[Direction], new: Direction) -> list[Direction]:
    """The directions that the next one is made orthogonal to: the last k, or with `restart` none after k."""
    found = [*old, new]
    if dwarf.restart:
        return found if len(found) <= dwarf.directions else []
    return found[-dwarf.directions :]


def divided(pokes: int) -> tuple[int, int]:
    """Pokes during preconditioner and operator, which takes longer."""
    return pokes // 3, pokes - pokes // 3


STRATEGIES: dict[str, Callable[[Any, int], int]] = {"classic": classic, "pipelined": pipelined}


@dataclass(frozen=True)
class Helmholtz(HelmholtzRequest):
    """A request for the dwarf; `on` ranks it runs, on a machine of the simulator it is simulated."""

    strategies: ClassVar = STRATEGIES

    def on(self, comm: MPI.Intracomm, *, record: str = "totals") -> HelmholtzRun:
        """The dwarf at its first step, on as many ranks as it was made for. Collective.

        `record`: as of `tradewind.mpi.plan`; "events" for a time line. Raises InputError; PlanError.
        """
        return HelmholtzRun(self, comm, record)

    def program(self) -> Program:
        """The program of a step: what the strategy does, written down. Raises InputError."""
        return recorded(self).program()
