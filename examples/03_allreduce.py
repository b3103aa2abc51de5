"""The scalar products of an iterative solver on MPI ranks, by two algorithms.

mpiexec -n 2 python examples/03_allreduce.py
"""

import numpy as np
from mpi4py import MPI

import tradewind as tw

comm = MPI.COMM_WORLD
reduce = tw.AllReduce(comm.size, 3)
for algorithm in ("recursive-2", "ring"):
    values = np.array([1.0, comm.rank, comm.rank**2])
    reduce.schedule(algorithm).plan(comm, values)()
    ranks = np.arange(comm.size)
    assert (values == [comm.size, ranks.sum(), (ranks**2).sum()]).all()
    if comm.rank == 0:
        print(f"{algorithm}: {values} on every one of {comm.size} ranks")
