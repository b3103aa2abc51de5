"""A halo of a tripolar ocean grid: across the fold vectors change their signs; a surface field shares the messages.

mpiexec -n 2 python examples/27_grids.py
"""

import numpy as np
from mpi4py import MPI

import tradewind as tw

comm = MPI.COMM_WORLD
levels, width = 4, 1

# Each rank finds its own halo; "ORCA2x31" has 180 x 148 points and its fold at T points.
halo = tw.MeshHalo("ORCA2x31", comm.size, width)
numbers, own = halo.ids(comm.rank)
rows, columns = halo.shape(comm.rank)

ocean = np.full((levels, rows, columns), np.nan)  # a component of a vector
ice = np.full((rows, columns), np.nan)  # a scalar of the surface
ocean.reshape(levels, -1)[:, own] = numbers + 0.1 * np.arange(levels)[:, None]
ice.reshape(-1)[own] = numbers

# Fields of 4 levels and of 1 in the same messages.
swap = halo.on(comm).plan(comm, [ocean.reshape(levels, -1), ice.reshape(-1)])
swap()

# Beyond the fold x and y point the other way.
list_of_halo = halo.of(comm.rank)
beyond = list_of_halo.place[list_of_halo.turns == 2]
ocean.reshape(levels, -1)[:, beyond] *= -1

received = ice.reshape(-1)[list_of_halo.place]
assert np.array_equal(np.abs(ocean.reshape(levels, -1)[0, list_of_halo.place]), received)
print(f"rank {comm.rank}: {own.size} points, {received.size} in the halo, {beyond.size} of them beyond the fold")
