"""HIRLAM's redistribution 2D -> FFT -> TRI and back on MPI ranks, within rows and columns of ranks and between all.

    mpiexec -n 4 python examples/14_redistribution.py
    TRADEWIND_TRANSPOSE=burst,put-fence,datatype mpiexec -n 4 python examples/14_redistribution.py

Whole lines of longitude are needed for Fourier transforms, whole lines of latitude for tridiagonal systems. How the
points travel is chosen by the environment: ALGORITHM,TRANSPORT,PACKING. Prints, for both ways, which method was
used, how many messages the ranks sent, and that everything came back to the bit.
"""

from itertools import pairwise

import numpy as np
from mpi4py import MPI

import tradewind as tw

NX, NY, NZ = 60, 56, 12

comm = MPI.COMM_WORLD
along_y = max(n for n in range(1, int(comm.size**0.5) + 1) if comm.size % n == 0)
along_x = comm.size // along_y
grid = tw.Grid(nx=NX, ny=NY, nz=NZ)

# A layout by the directions that the two coordinates of a rank divide. Between all ranks, the first has all of them.
twod = tw.Blocks(grid, (along_x, along_y), "xy")
within = (tw.Blocks(grid, (along_x, along_y), "zy"), tw.Blocks(grid, (along_x, along_y), "zx"))
between_all = (tw.Blocks(grid, (comm.size, 1), "zy"), tw.Blocks(grid, (comm.size, 1), "xy"))


def there_and_back(name: str, fft: tw.Blocks, tri: tw.Blocks) -> None:
    """2D -> FFT -> TRI -> FFT -> 2D, with a plan a step."""
    path = (twod, fft, tri, fft, twod)
    fields = [np.zeros(layout.shape(comm.rank)) for layout in path]
    fields[0][...] = np.random.default_rng(comm.rank).random(fields[0].shape)
    patterns = [tw.Transpose(before, after) for before, after in pairwise(path)]
    plans = [
        pattern.plan(comm, before, after) for pattern, (before, after) in zip(patterns, pairwise(fields), strict=True)
    ]
    for plan in plans:
        plan()
    assert fields[1].shape[2] == NX  # lines of longitude are whole
    assert fields[2].shape[1] == NY  # lines of latitude are whole
    assert (fields[-1] == fields[0]).all()
    sent = comm.allreduce(sum(plan.messages for plan in plans))
    if comm.rank == 0:
        print(f"{name}, {plans[0].transport}, {plans[0].packing}: {sent} messages, and all is back to the bit")


there_and_back(f"within rows of {along_x} and columns of {along_y}", *within)
there_and_back(f"between all {comm.size}", *between_all)
