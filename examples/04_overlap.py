"""A halo exchange that goes on while the interior is computed.

mpiexec -n 2 python examples/04_overlap.py
"""

import numpy as np
from mpi4py import MPI

import tradewind as tw

comm = MPI.COMM_WORLD
grid = tw.Grid(nx=64, ny=64, nz=4)
halo = tw.Halo(tw.Blocks(grid, split=(comm.size, 1)), width=1, periodic=("x", "y"))
field = np.random.default_rng(comm.rank).random(halo.source_shape(comm.rank))


def laplacian(out: np.ndarray, region: tuple[slice, slice, slice]) -> None:
    """Compute the points of a region (z, y, x), counted in the array with its halo."""
    z, y, x = region

    def at(dy: int, dx: int) -> np.ndarray:
        return field[z, y.start + dy : y.stop + dy, x.start + dx : x.stop + dx]

    out[region] = at(-1, 0) + at(1, 0) + at(0, -1) + at(0, 1) - 4 * at(0, 0)


swap = halo.schedule("direct").plan(comm, field)
overlapped, plain = np.zeros_like(field), np.zeros_like(field)

swap.start()
laplacian(overlapped, halo.interior(comm.rank, reach=1))  # reads no halo
swap.wait()
for strip in halo.rim(comm.rank, reach=1):
    laplacian(overlapped, strip)

laplacian(plain, halo.widened(comm.rank))  # all that the rank owns
assert (overlapped == plain).all()
print(f"rank {comm.rank}: the interior was computed while {swap.bytes_sent} bytes were on their way")
