"""Nekbone: conjugate gradients on spectral elements, the skeleton of Nek5000.

    A u = f,  A = -div grad + 0.1,  u = 0 on the boundary of a brick

An element is a deformed cube with nx1 Gauss-Lobatto-Legendre points in each direction, between which values are a
polynomial of degree nx1 - 1. A is computed in each element alone; then the values of a point that several elements
share are summed, which is the gather-scatter. In an iteration there is one of these, and three sums over all ranks of
one number (of pipelined conjugate gradients one sum, of two numbers, that is hidden behind the operator). The
strategies below are how these are done; the loops over points are in `src/kernel/nekbone/element_operator.cpp` and
`conjugate_gradients.cpp`.

Source: Nekbone of Argonne National Laboratory; Ivanov et al. 2015, Evaluating new communication models in the Nek5000
code for exascale, EASC 2015.

mpiexec -n 2 python -c "
from mpi4py import MPI
from tradewind.dwarfs.nekbone import Nekbone
run = Nekbone(ranks=2, elements=(4, 4, 4), strategy='overlap').on(MPI.COMM_WORLD)
run.advance(100)
print(run.diagnose())"
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from tradewind.dwarfs.frame.dwarf import copied
from tradewind.dwarfs.nekbone.loops import (
    ENERGY,
    PRODUCT,
    SCALED,
    SQUARES,
    apply_ahead,
    apply_to_direction,
    gather_scatter,
    keep,
    multiply_whole,
    pair,
    sum_over_elements,
    sum_own,
    turn,
    update,
    update_pipelined,
    weigh,
)
from tradewind.dwarfs.nekbone.preconditioner import precondition
from tradewind.dwarfs.nekbone.request import NekboneRequest
from tradewind.dwarfs.nekbone.run import NekboneRun
from tradewind.dwarfs.nekbone.schwarz import unknowns
from tradewind.dwarfs.nekbone.spectral_elements import groups_by_id
from tradewind.workload.program import Compute

if TYPE_CHECKING:
    from mpi4py import MPI

    from tradewind import _core
    from tradewind.dwarfs.frame.step import Call, Step
    from tradewind.dwarfs.nekbone.spectral_elements import Part, Values

# The time loop: an iteration each. The first three differ in their method alone, see METHODS of `request`.


def classic(step: Step, steps: int) -> int:
    """Apply the operator, then sum over elements, then go on."""
    _begin(step)
    step.compute(apply_to_direction, points="all", label="operator")
    gather_scatter(step)
    return _end(step, steps)


def overlap(step: Step, steps: int) -> int:
    """Apply the operator where others wait for it, send, and apply it elsewhere meanwhile."""
    if not step.dwarf.in_parts:  # reproducible sums wait for all values
        return classic(step, steps)
    _begin(step)
    step.compute(apply_to_direction, points="rim", label="operator of the rim")
    step.start("exchange", label="start")
    step.compute(apply_to_direction, points="interior", label="operator")
    step.compute(sum_own, "w", points="shared", label="own sums")
    step.wait("exchange", "wait")
    if step.dwarf.mask == "nekbone":
        step.compute(weigh, points="all")
    return _end(step, steps)


def _begin(step: Step) -> None:
    """Sum r r over all ranks, with a preconditioner r z, for the new direction."""
    precondition(step)
    pair, label = (SQUARES, "sum of r r") if step.dwarf.preconditioner == "none" else (SCALED, "sum of r z")
    (squares,) = step.reduce("sum", [pair], label)
    step.compute(turn, squares)


def _end(step: Step, steps: int) -> int:
    """Go on to the next solution, and sum r r once more, as Nekbone does; where that is small enough, end."""
    (energy,) = step.reduce("sum", [ENERGY], "sum of p A p")
    step.compute(update, energy, points="all", label="update")
    step.finish(*step.reduce("sum", [SQUARES], "sum of r r, again"))
    return steps if step.ended(step.steps, []) else 1


def pipelined(step: Step, steps: int) -> int:
    """Start the one sum of an iteration, and hide it behind operator and gather-scatter."""
    replace = step.dwarf.replace
    number = f"{step.steps + 1} " if replace else ""
    step.start("sum", [SQUARES, PRODUCT], number and f"{number}start")
    step.compute(apply_ahead, points="all", label=f"{number}operator")
    sum_over_elements(step, number)
    step.wait("sum", number and f"{number}wait")
    squares, product = step.values("sum", [SQUARES, PRODUCT])
    step.compute(update_pipelined, squares, product, points="all", label=f"{number}update")
    step.finish(squares)
    if replace and step.steps % replace == 0:
        _replace(step)
    return steps if step.ended(step.steps, []) else 1


def _replace(step: Step) -> None:
    """Compute r = b - A x, w = A r, s = A p and z = A s anew, whose recurrences have gathered rounding errors.

    Residual replacement: Cools, Yetkin, Agullo, Giraud & Vanroose 2018, doi:10.1137/17M1117872, who do so where an
    estimate of the errors is large.
    """
    for vector, product in ("xr", "rw", "ps", "sz"):
        multiply_whole(step, vector, f"replaced {product}, ")
        step.compute(keep, product)
    step.compute(pair)


STRATEGIES: dict[str, Callable[[Step, int], int]] = {
    "pairwise": classic,
    "cartesian-blocking": classic,
    "cartesian": classic,
    "overlap": overlap,
    "pipelined": pipelined,
}


@dataclass(frozen=True)
class Nekbone(NekboneRequest):
    """A request for the dwarf; `on` ranks it runs, on a machine of the simulator it is simulated."""

    kind: ClassVar[str] = "nekbone"
    strategies: ClassVar = STRATEGIES

    def computation(self, label: str, calls: Sequence[Call], during: _core.Schedule | None = None) -> Compute:
        """Return the computation of one call of a loop, which every rank does."""
        (call,) = calls  # each has its label
        flops, moved = call.cost(self)
        points = call.times(self) * self._points(call.points)
        done, kernel = 0.0 if self.point_s else flops * points, call.name(self)
        return Compute(label, points * call.point_s(self), done, copied(moved * points), during=during, kernel=kernel)

    def _points(self, points: str) -> int:
        """Points of a rank; where it has a rim, of one in the middle of the brick; of lists, of the fullest one."""
        if points == "coarse":  # unknowns, all of which each rank solves for
            return unknowns(self.all_elements)
        if points == "shared":  # all copies of points that elements of a rank share
            return self._copies()
        everything = inside = self.fullest.count
        if self.listed:
            inside -= len(self.fullest.rim())
        else:
            assert self.brick is not None
            sides = zip(self.elements, self.brick, strict=True)
            inside = math.prod(count if ranks == 1 else max(0, count - 2) for count, ranks in sides)
        count = {"all": everything, "interior": inside, "rim": everything - inside}[points]
        return count * self.nx1**3

    def _copies(self) -> int:
        if self.listed:
            _, places = groups_by_id(self.fullest.ids())
            return len(places)
        inner = math.prod(count * (self.nx1 - 2) for count in self.elements)
        return math.prod(count * self.nx1 for count in self.elements) - inner

    def on(
        self, comm: MPI.Intracomm, initial: Callable[[Part], Values] | None = None, *, record: str = "totals"
    ) -> NekboneRun:
        """The dwarf before its first iteration, on as many ranks as it was made for. Collective.

        `initial`: the right-hand side [element][k][j][i] of a rank's elements in place of `side`. `record`: as of
        `tradewind.mpi.plan`. Raises InputError; PlanError.
        """
        return NekboneRun(self, comm, initial, record)
