"""Points that elements share: their sums, their multiplicity, and what two algorithms send for it.

mpiexec -n 2 python examples/21_gather_scatter.py
"""

import numpy as np
from mpi4py import MPI

import tradewind as tw

comm = MPI.COMM_WORLD

# 3 x 2 x 2 elements of 5 points per direction on each rank; the ranks lie along x.
brick = tw.BrickGatherScatter((3, 2, 2), 5, (comm.size, 1, 1))
ids = brick.ids(comm.rank)

# The multiplicity of a point: how many elements have it.
copies = np.ones(ids.size)
brick.plan(comm, copies)()
assert set(np.unique(copies)) <= {1, 2, 4, 8}

# The average of a field over the copies of each point, here of noise.
noise = np.random.default_rng(comm.rank).standard_normal(ids.size)
field = noise.copy()
swap = brick.plan(comm, field, algorithm="cartesian")
swap.start()
swap.wait()
field /= copies
assert abs(comm.allreduce(float(np.sum(field))) - comm.allreduce(float(np.sum(noise)))) < 1e-9

# The same without the form: any ids will do, and the bits are the same.
again = noise.copy()
tw.GatherScatter(ids, "add", comm).plan(comm, again)()
assert np.array_equal(again / copies, field)

# Two components of each point, one next to the other, and the largest of each.
both = np.stack([noise, -noise], axis=1)
tw.BrickGatherScatter((3, 2, 2), 5, (comm.size, 1, 1), operation="max").plan(comm, both, axis=0)()
assert (both[:, 0] >= noise).all()

if comm.rank == 0:
    for algorithm in ("pairwise", "cartesian"):
        large = tw.BrickGatherScatter((3, 2, 2), 5, (8, 8, 8)).schedule(algorithm)
        result = large.verify()
        print(f"512 ranks, {algorithm}: {result['messages']} messages, {result['bytes']} bytes")
