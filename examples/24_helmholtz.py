"""A Helmholtz problem by GCR, classic and pipelined: iterations, messages, and the same solution.

    mpiexec -n 2 python examples/24_helmholtz.py

Prints what each solver sends; checks that both end alike, and with the bits of one rank, as exact sums let them.
"""

import numpy as np
from mpi4py import MPI

from tradewind.dwarfs.helmholtz import Helmholtz

comm = MPI.COMM_WORLD
solutions = []
for strategy in ("classic", "pipelined"):
    dwarf = Helmholtz(comm.size, (32, 24, 8), strategy=strategy, sums="exact")
    run = dwarf.on(comm)
    run.advance(2)
    whole, diagnosis = run.gathered(), run.diagnose()
    solutions.append(whole)
    if comm.rank == 0:
        print(
            f"{strategy}: {diagnosis.iterations} iterations, residual {diagnosis.residual:.1e}, "
            f"{run.messages} messages and {run.pokes} pokes of a rank"
        )

if comm.rank == 0:
    classic, pipelined = solutions
    apart = np.abs(classic - pipelined).max() / np.abs(classic).max()
    print(f"the solutions are {apart:.0e} apart")
    assert apart < 1e-8

# Where rounding is the same on any number of ranks, so are the bits of the solution.
alone = Helmholtz(1, (32, 24, 8), sums="exact").on(MPI.COMM_SELF)
alone.advance(2)
if comm.rank == 0:
    assert (alone.gathered() == solutions[0]).all()
    print("the same bits as on one rank")
