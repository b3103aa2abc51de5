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

whose rounding errors add up: `replace` computes them anew at regular intervals (residual replacement; Cools,
Yetkin, Agullo, Giraud & Vanroose 2018, doi:10.1137/17M1117872, who do so where an estimate of the errors is large).

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
from typing import TYPE_CHECKING, ClassVar

from tradewind.dwarfs.frame.dwarf import copied
from tradewind.dwarfs.helmholtz.request import WHOLE, HelmholtzRequest
from tradewind.dwarfs.helmholtz.run import POINT_VALUES, HelmholtzRun
from tradewind.dwarfs.helmholtz.solver import (
    begin,
    combine,
    finish,
    norms,
    operate,
    precondition,
    residual,
    start_sums,
    sums,
    wait_sums,
)
from tradewind.machine.computing import rate_name
from tradewind.workload.program import Compute

if TYPE_CHECKING:
    from mpi4py import MPI

    from tradewind import _core
    from tradewind.dwarfs.frame.step import Call, Step


@dataclass(frozen=True)
class Direction:
    """A direction p of the search with s = A p; q = M s and t = A q where the solver is pipelined; and <s, s>."""

    p: str
    s: str
    q: str = ""
    t: str = ""
    eta: float = 1.0


# The time loop. Each strategy takes a step: it solves the problem.


def classic(step: Step, steps: int) -> int:
    """Two reductions per iteration, one after the other, each waited for."""
    dwarf: HelmholtzRequest = step.dwarf
    begin(step, "r")
    old: list[Direction] = []
    for i in itertools.count():
        precondition(step, "r", "u")
        operate(step, "u", "v")
        products = sums(step, *(("v", d.s) for d in old), *norms(step, "r", i == 0))
        if step.ended(i, products[len(old) :]):
            break
        beta = [-product / d.eta for product, d in zip(products, old, strict=False)]
        p, s = (f"{name}{i % dwarf.slots}" for name in "ps")
        combine(step, p, (1.0, "u"), *((b, d.p) for b, d in zip(beta, old, strict=True)))
        if dwarf.printed:
            _operate_again(step, p, s)
        else:
            combine(step, s, (1.0, "v"), *((b, d.s) for b, d in zip(beta, old, strict=True)))
        gamma, eta = sums(step, ("u" if dwarf.printed else "r", s), (s, s))
        alpha = quotient(gamma, eta)
        combine(step, "x", (1.0, "x"), (alpha, p))
        combine(step, "r", (1.0, "r"), (-alpha, s))
        old = kept(dwarf, old, Direction(p, s, eta=eta))
        if dwarf.is_last(i + 1):
            break
    finish(step, i + 1 if dwarf.rtol == 0 else i, "r")
    return 1


def _operate_again(step: Step, p: str, s: str) -> None:
    """Compute s = A p, as Algorithm 1 prints it: with a halo of its own."""
    combine(step, WHOLE, (1.0, p))
    operate(step, WHOLE, s)


def pipelined(step: Step, steps: int) -> int:
    """One reduction per iteration; operator and preconditioner prepare the next direction while it travels."""
    dwarf: HelmholtzRequest = step.dwarf
    begin(step, "r")
    _prepare(step)
    old: list[Direction] = []
    for i in itertools.count():
        pairs = [*(("w", d.s) for d in old), ("w", "r"), ("w", "w"), *norms(step, "r", i == 0)]
        start_sums(step, *pairs)
        before, after = divided(dwarf.pokes)
        precondition(step, "w", "m", minus="r", plus="z", pokes=before)
        operate(step, "m", "n", pokes=after)
        *products, gamma, delta = (found := wait_sums(step, *pairs))[: len(old) + 2]
        if step.ended(i, found[len(old) + 2 :]):
            break
        beta = [-product / d.eta for product, d in zip(products, old, strict=True)]
        eta = delta - sum(b * b * d.eta for b, d in zip(beta, old, strict=True))
        if eta <= 0 < delta:  # rounding has eaten the directions up
            old, beta, eta = [], [], delta
        new = [f"{name}{i % dwarf.slots}" for name in "psqt"]
        for number, (target, first) in enumerate(zip(new, "zwmn", strict=True)):
            terms = ((b, (d.p, d.s, d.q, d.t)[number]) for b, d in zip(beta, old, strict=True))
            combine(step, target, (1.0, first), *terms)
        alpha = quotient(gamma, eta)
        combine(step, "x", (1.0, "x"), (alpha, new[0]))
        for target, direction in zip("rzw", new[1:], strict=True):
            combine(step, target, (1.0, target), (-alpha, direction))
        p, s, q, t = new
        old = kept(dwarf, old, Direction(p, s, q, t, eta))
        if dwarf.is_last(i + 1):
            break
        if dwarf.replace and (i + 1) % dwarf.replace == 0:
            residual(step, "r")
            _prepare(step)
            _replace(step, old)
    finish(step, i + 1 if dwarf.rtol == 0 else i, "r")
    return 1


def _prepare(step: Step) -> None:
    """Compute z = M r and w = A z."""
    precondition(step, "r", "m")
    operate(step, "m", "w")
    combine(step, "z", (1.0, "m"))


def _replace(step: Step, directions: Sequence[Direction]) -> None:
    """Compute s = A p, q = M s and t = A q of all directions."""
    for direction in directions:
        combine(step, WHOLE, (1.0, direction.p))
        operate(step, WHOLE, direction.s)
        precondition(step, direction.s, "m")
        combine(step, direction.q, (1.0, "m"))
        operate(step, "m", direction.t)


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


STRATEGIES: dict[str, Callable[[Step, int], int]] = {"classic": classic, "pipelined": pipelined}


@dataclass(frozen=True)
class Helmholtz(HelmholtzRequest):
    """A request for the dwarf; `on` ranks it runs, on a machine of the simulator it is simulated."""

    strategies: ClassVar = STRATEGIES

    def on(self, comm: MPI.Intracomm, *, record: str = "totals") -> HelmholtzRun:
        """The dwarf at its first step, on as many ranks as it was made for. Collective.

        `record`: as of `tradewind.mpi.plan`; "events" for a time line. Raises InputError; PlanError.
        """
        return HelmholtzRun(self, comm, record)

    def computation(self, label: str, calls: Sequence[Call], during: _core.Schedule | None = None) -> Compute:
        """See the base class; computations between two calls are one step."""
        flops = moved = 0.0
        for call in calls:
            share = call.times(self) / (1 if call.points == "own" else call.points[1])
            done, size = call.cost(self)
            flops += share * done
            moved += share * size
        point_s = self.point_s * moved / (POINT_VALUES * self.element_bytes)
        done = 0.0 if point_s else flops
        kernel = rate_name(self.kind, self.precision)
        return Compute(label, 0.0, done, copied(moved), self.layout, during, point_s=point_s, kernel=kernel)
