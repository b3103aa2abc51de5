"""An unstructured mesh: its halo in one array, points on demand, and what is added back.

mpiexec -n 2 python examples/13_fetch.py
"""

import numpy as np
from mpi4py import MPI

import tradewind as tw

comm = MPI.COMM_WORLD

# A ring of cells, numbered at random as a mesh generator would. Each rank owns a stretch of it.
cells = 1000
numbers = np.random.default_rng(7).permutation(cells)
begin, end = cells * comm.rank // comm.size, cells * (comm.rank + 1) // comm.size
own, halo = numbers[begin:end], numbers[[begin - 1, end % cells]]
halo = np.setdiff1d(halo, own)  # alone, a rank is its own neighbour

# Own points that no other rank needs, the rim, the halo: three runs of one array.
order = tw.renumbered(comm, own, halo)
points = tw.Points(comm, order.own)
swap = points.halo(order.halo)
field = np.zeros((5, swap.source_shape(comm.rank)[2]))  # five levels of each
field[:, : points.count] = order.own
swap.plan(comm, field)()
assert np.array_equal(field[2], np.concatenate([order.own, order.halo]))

# Points that an interpolation needs just now, wherever they lie.
wanted = np.random.default_rng(comm.rank).integers(0, cells, 200)
fetch = points.fetch(wanted)
found = np.zeros((5, wanted.size))
fetch.plan(comm, field[:, : points.count], found)()
assert np.array_equal(found, np.broadcast_to(wanted, found.shape))

# The adjoint adds each of them to the cell that it came from: here a count of how often each was wanted.
count = np.zeros(points.count)
fetch.adjoint().plan(comm, np.ones(wanted.size), count)()
assert comm.allreduce(count.sum()) == 200 * comm.size
rim = len(order.own) - order.interior
print(f"rank {comm.rank}: {points.count} cells, {rim} in the rim; one was wanted {count.max():.0f} times")
