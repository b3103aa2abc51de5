"""Nekbone: conjugate gradients on spectral elements, the skeleton of Nek5000.

    A u = f,  A = -div grad + 0.1,  u = 0 on the boundary of a brick

An element is a deformed cube with nx1 Gauss-Lobatto-Legendre points in each direction, between which values are a
polynomial of degree nx1 - 1. A is computed in each element alone; then the values of a point that several elements
share are summed, which is the gather-scatter. In an iteration there is one of these, and three sums over all ranks of
one number (of pipelined conjugate gradients one sum, of two numbers, that is hidden behind the operator). The
strategies below are how these are done; the loops over points are in `src/kernel/element_operator.cpp` and
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

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from tradewind.dwarfs.nekbone.program import program
from tradewind.dwarfs.nekbone.request import NekboneRequest
from tradewind.dwarfs.nekbone.run import NekboneRun

if TYPE_CHECKING:
    from mpi4py import MPI

    from tradewind.dwarfs.nekbone.spectral_elements import Brick, Values
    from tradewind.workload.program import Program

# The time loop: an iteration each. The first three differ in their method alone, see METHODS of `request`.


def classic(run: NekboneRun, steps: int) -> int:
    """Apply the operator, then sum over elements, then go on."""
    squares = run.total(run.squares)
    run.turn(squares)
    run.apply(run.all_elements)
    run.gather_scatter()
    run.descend(run.total(run.energies))
    run.measure()
    return run.left(steps)


def overlap(run: NekboneRun, steps: int) -> int:
    """Apply the operator where others wait for it, send, and apply it elsewhere meanwhile."""
    squares = run.total(run.squares)
    run.turn(squares)
    run.apply(run.rim)
    run.start()
    run.apply(run.interior)
    run.sum_interior()
    run.wait()
    run.descend(run.total(run.energies))
    run.measure()
    return run.left(steps)


def pipelined(run: NekboneRun, steps: int) -> int:
    """Start the one sum of an iteration, and hide it behind operator and gather-scatter."""
    run.start_totals()
    run.apply_ahead()
    run.gather_scatter()
    run.descend_pipelined(*run.wait_totals())
    if run.dwarf.replace and run.steps % run.dwarf.replace == 0:
        run.replace()
    return run.left(steps)


STRATEGIES: dict[str, Callable[[NekboneRun, int], int]] = {
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

    def program(self) -> Program:
        """The program of an iteration."""
        return program(self)

    def on(
        self, comm: MPI.Intracomm, initial: Callable[[Brick], Values] | None = None, *, record: str = "totals"
    ) -> NekboneRun:
        """The dwarf before its first iteration, on as many ranks as it was made for. Collective.

        `initial`: the right-hand side [element][k][j][i] of a rank's elements in place of `side`. `record`: as of
        `tradewind.mpi.plan`. Raises InputError; PlanError.
        """
        return NekboneRun(self, comm, initial, record)
