"""One area, two solvers: gravity waves by tridiagonal systems (HIRLAM) and by Fourier coefficients (AROME).

    mpiexec -n 2 python examples/20_limited_area.py

Both take the same steps of the same waves. Where derivatives are differences in both, they have one solution; with
exact derivatives they differ by what the differences lose. Prints how far apart they are, and what each has sent.
"""

import numpy as np
from mpi4py import MPI

from tradewind.dwarfs.bifourier import Bifourier
from tradewind.dwarfs.hirlam import Hirlam

STEPS = 20
comm = MPI.COMM_WORLD
area = {"ranks": comm.size, "grid": (64, 48, 1), "step_s": 60.0, "spacing_m": 10000.0}  # one layer: one vertical mode


def geopotential(dwarf: Hirlam | Bifourier) -> np.ndarray | None:
    """Take some steps, and return the geopotential [y][x] on rank 0."""
    run = dwarf.on(comm)
    run.reset()
    run.advance(STEPS)
    sent = comm.allreduce(run.bytes_sent)
    if comm.rank == 0:
        print(f"{dwarf.name}: {sent / STEPS / 1e3:.0f} kB per step")
    whole = run.gathered()
    return None if whole is None else whole[2]


lines = geopotential(Hirlam(**area))
same = geopotential(Bifourier(**area, extension=0, symbols="differences"))
exact = geopotential(Bifourier(**area, extension=0))
if lines is not None:
    print(f"differences in both: {np.abs(lines - same).max():.0e} apart")
    print(f"exact derivatives in one: {np.abs(lines - exact).max():.0e} apart")
    assert np.abs(lines - same).max() < 1e-12
    assert np.abs(lines - exact).max() < 0.1
