"""A halo exchange on MPI ranks: every rank ends with the points around its own.

mpiexec -n 2 python examples/01_halo.py
"""

import numpy as np
from mpi4py import MPI

import tradewind as tw

WIDTH = 2

comm = MPI.COMM_WORLD
grid = tw.Grid(nx=12, ny=8, nz=3)
block = tw.Blocks(grid, split=(comm.size, 1))
halo = tw.Halo(block, width=WIDTH, periodic=("x", "y"))

# Each point holds its own number, x + 100 y + 10000 z; the halo holds nothing yet.
(x0, y0, z0), (x1, y1, z1) = block.box(comm.rank)
z, y, x = np.meshgrid(np.arange(z0, z1), np.arange(y0, y1), np.arange(x0, x1), indexing="ij")
field = np.full(halo.source_shape(comm.rank), -1.0)  # [z][y][x]
field[:, WIDTH:-WIDTH, WIDTH:-WIDTH] = x + 100 * y + 10000 * z

swap = halo.schedule("sweep").plan(comm, field)
swap()

# The corner at the lower left is the corner at the upper right of the periodic grid.
z, y, x = np.meshgrid(
    np.arange(z0, z1),
    np.arange(y0 - WIDTH, y1 + WIDTH) % 8,
    np.arange(x0 - WIDTH, x1 + WIDTH) % 12,
    indexing="ij",
)
assert (field == x + 100 * y + 10000 * z).all()
print(f"rank {comm.rank} sent {swap.messages} messages, {swap.bytes_sent} bytes, and has its halo")
