"""Advection on an octahedral mesh: its finite volumes, a partition, and MPDATA on all ranks.

mpiexec -n 2 python examples/17_mpdata.py
"""

import math

import numpy as np
from mpi4py import MPI

from tradewind.dwarfs.mpdata import Mpdata
from tradewind.layout.dual_meshes import octahedral
from tradewind.layout.mesh_part import part_of
from tradewind.layout.mesh_rows import rows_of
from tradewind.layout.partition import own_nodes

comm = MPI.COMM_WORLD

# The median dual of O16: a volume for each node, a face for each edge.
mesh = octahedral(16)
assert math.isclose(mesh.volume.sum(), 4 * math.pi * mesh.radius**2, rel_tol=1e-14)

# A rank's part of it, made from the rows around its nodes alone: the same bits.
rows = rows_of("O16")
for order in ("bands", "curve"):
    mine = [part_of(rows, own_nodes(rows, 12, order, rank)) for rank in range(12)]
    around = [len(part.halo) for part in mine]
    assert all(np.array_equal(part.dual.volume, mesh.volume[part.own]) for part in mine)
    if comm.rank == 0:
        print(f"{mesh.nodes} nodes on 12 ranks by {order}: halos of {min(around)} to {max(around)} nodes")

# A bell goes over the poles, with a limiter: two passes, three exchanges per step.
dwarf = Mpdata(comm.size, "O16", levels=4, alpha=math.pi / 2, limiter=True, strategy="renumbered", partition="curve")
run = dwarf.on(comm)
before, start = run.diagnose(), run.gathered()
run.advance(20)
after, end = run.diagnose(), run.gathered()
assert math.isclose(after.mass, before.mass, rel_tol=1e-13)
assert before.minimum - 1e-9 <= after.minimum
assert after.maximum <= before.maximum + 1e-9
if comm.rank == 0:
    assert np.array_equal(end, dwarf.reference(start, 20))  # NumPy on the whole mesh: the same bits
    print(f"maximum {before.maximum:.1f} -> {after.maximum:.1f}, error l2 {after.l2:.3f}, {run.messages} messages")
