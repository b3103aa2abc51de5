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


def laplacian(out: np.ndarray, y: slice, x: slice) -> None:
    """Of the points [y][x], counted in the array with its halo."""

    def at(dy: int, dx: int) -> np.ndarray:
        return field[:, y.start + dy : y.stop + dy, x.start + dx : x.stop + dx]

    out[:, y, x] = at(-1, 0) + at(1, 0) + at(0, -1) + at(0, 1) - 4 * at(0, 0)


swap = halo.schedule("direct").plan(comm, field)
ny, nx = field.shape[1:]
overlapped, plain = np.zeros_like(field), np.zeros_like(field)

swap.start()
laplacian(overlapped, slice(2, ny - 2), slice(2, nx - 2))  # reads no halo
swap.wait()
for y, x in (
    (slice(1, 2), slice(1, nx - 1)),
    (slice(ny - 2, ny - 1), slice(1, nx - 1)),
    (slice(2, ny - 2), slice(1, 2)),
    (slice(2, ny - 2), slice(nx - 2, nx - 1)),
):
    laplacian(overlapped, y, x)

laplacian(plain, slice(1, ny - 1), slice(1, nx - 1))
assert (overlapped == plain).all()
print(f"rank {comm.rank}: the interior was computed while {swap.bytes_sent} bytes were on their way")
