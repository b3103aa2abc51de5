"""The transpositions of a spectral model on MPI ranks: from x/y blocks to whole lines along x, and back.

mpiexec -n 2 python examples/02_transpose.py
"""

import numpy as np
from mpi4py import MPI

import tradewind as tw

comm = MPI.COMM_WORLD
split = (comm.size, 1)
grid = tw.Grid(nx=30, ny=20, nz=8)
blocks = tw.Blocks(grid, split=split)
pencils = tw.Pencils(grid, along="x", split=split)

# Two fields travel together in each message.
wind = [np.random.default_rng(comm.rank + 10 * i).random(blocks.shape(comm.rank)) for i in range(2)]
lines = [np.empty(pencils.shape(comm.rank)) for _ in wind]
again = [np.empty_like(field) for field in wind]

there = tw.Transpose(blocks, pencils).schedule("ring-1").plan(comm, wind, lines)
back = tw.Transpose(pencils, blocks).schedule("ring-1").plan(comm, lines, again)

there()
assert all(field.shape[2] == 30 for field in lines)  # every line along x is whole: a Fourier transform can run
back()
assert all((a == b).all() for a, b in zip(wind, again, strict=True))
print(f"rank {comm.rank}: blocks {wind[0].shape}, pencils {lines[0].shape}, and back to the bit")
