"""From blocks to latitude bands to whole fields on one server rank, and bands of a reduced grid on 10,000 ranks.

    mpiexec -n 4 python examples/16_layouts.py
    TRADEWIND_TRANSPOSE=burst,put-notify,direct mpiexec -n 4 python examples/16_layouts.py

A model computes in rows of a grid, and a server takes its fields whole. Handing a field over is a transposition like
any other: it has a schedule, is chosen by the environment, is verified and simulated. Prints what was sent.
"""

import numpy as np
from mpi4py import MPI

import tradewind as tw

NX, NY, NZ = 40, 24, 6  # six fields of 40 x 24 points

comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size
grid = tw.Grid(NX, NY, NZ)

rows = tw.Blocks(grid, (1, ranks))  # whole rows, all fields
bands = tw.Bands(grid, ranks)  # equal numbers of points: ranks share rows
whole = tw.Whole(grid, ranks, servers=1)  # the last rank gets every field whole; the others own nothing
numbers = np.arange(NX * NY * NZ, dtype=float).reshape(NZ, NY, NX)

(_, y0, _), (_, y1, _) = rows.box(rank)
field = numbers[:, y0:y1].copy()
in_bands = np.zeros((NZ, bands.shape(rank)[2]))
on_server = np.zeros(whole.shape(rank))

tw.Transpose(rows, bands).plan(comm, field, in_bands)()
to_server = tw.Transpose(bands, whole)
plan = to_server.plan(comm, in_bands, on_server)
plan()
assert on_server.size == 0 or (on_server == numbers).all()

# The adjoint brings them back: each point has one owner before and one after.
back = np.zeros_like(in_bands)
to_server.adjoint().plan(comm, on_server, back)()
assert (back == in_bands).all()

sent = comm.allreduce(plan.messages)
if rank == 0:
    proof = to_server.schedule().verify()
    print(f"{to_server.describe()}: {sent} messages, {proof['bytes']} bytes, verified: {proof['ok']}")
    # Bands of equal numbers of points on the octahedral grid O1280, then whole rows by two sets of levels.
    large = tw.ReducedGrid.octahedral(1280, nz=10)
    pair = tw.Bands(large, 10_000), tw.Bands(large, 10_000, shared=False, level_sets=2)
    simulated = tw.Transpose(*pair).schedule("burst").simulate("dragonfly-MM")
    print(f"O1280 on 10000 ranks: {simulated['messages']} messages in {1e6 * simulated['time_s']:.0f} us")
