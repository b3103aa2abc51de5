"""Semi-Lagrangian advection over the poles: columns fetched on demand, and what a wide halo would cost.

mpiexec -n 2 python examples/23_semi_lagrangian.py
"""

import math

import numpy as np
from mpi4py import MPI

from tradewind.base.errors import InputError
from tradewind.dwarfs.semi_lagrangian import SemiLagrangian

comm = MPI.COMM_WORLD

# A bell goes over the poles in long steps: the air comes from 4 rows away, near a pole from half around the world.
over_poles = {"grid": (64, 32, 4), "geometry": "sphere", "alpha": math.pi / 2, "courant": 4.0, "tracer": "bell"}
try:
    SemiLagrangian(comm.size, **over_poles)
except InputError as error:
    if comm.rank == 0:
        print(f"a wide halo: {error}")

dwarf = SemiLagrangian(comm.size, tracers=3, limiter=True, strategy="on-demand", **over_poles)
run = dwarf.on(comm)
before, start = run.diagnose(), run.gathered()
run.advance(4)
after, end = run.diagnose(), run.gathered()
assert before.minimum <= after.minimum
assert after.maximum <= before.maximum
if comm.rank == 0:
    assert not dwarf.difference(end, dwarf.reference(start, 4))  # NumPy on the whole grid
    print(f"maximum {before.maximum:.0f} -> {after.maximum:.0f}, error l2 {after.l2:.3f}, {run.messages} messages")

# On a plane a halo is possible. Both ways end with the same bits.
fields = []
for strategy in ("wide", "on-demand"):
    plane = SemiLagrangian(comm.size, grid=(64, 48, 4), courant=5.5, flow="swirl", tracers=3, strategy=strategy)
    run = plane.on(comm)
    run.advance(3)
    fields.append(run.gathered())
    sent = comm.reduce(run.bytes_sent)
    if comm.rank == 0:
        print(f"{strategy}: {sent} bytes in 3 steps")
if comm.rank == 0:
    assert np.array_equal(*fields)
