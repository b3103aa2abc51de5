"""A model whose output is written, and whose input is read ahead, by a server beside it.

    mpiexec -n 3 python examples/25_field_server.py

The last rank is the server where there are two ranks or more. Fields go there from latitude bands of an octahedral
grid. Prints how long the model waited, and that what was written comes back as input.
"""

import tempfile
from pathlib import Path

import numpy as np
from mpi4py import MPI

import tradewind as tw
from tradewind.fieldserver.plan.geometry import Gaussian
from tradewind.fieldserver.plan.plan_file import load_plan

PLAN = """
folder = "{folder}"
durable = false

[[sink]]
name = "history"
format = "netcdf"
path = "{{step:02}}.nc"

[[rule]]
sink = "history"
every = 2
"""

comm = MPI.COMM_WORLD
folder = Path(comm.bcast(tempfile.mkdtemp() if comm.rank == 0 else None))
plan = load_plan("plan.toml", PLAN.format(folder=folder))

with tw.FieldServer(plan, comm, servers=min(1, comm.size - 1)) as server:
    if server.comm is not None:
        rank, ranks = server.comm.rank, server.comm.size
        grid = tw.ReducedGrid.octahedral(16, nz=4)
        layout = tw.Bands(grid, ranks)
        server.define("t", layout, Gaussian.octahedral(16))
        field = np.random.default_rng(rank).random(layout.shape(rank))
        for step in range(5):
            server.write("t", field, step)
            server.end_step(step)
            field += 1.0
        server.finish()
        inputs = [folder / f"{step:02}.nc" for step in (0, 2, 4)]
        server.prefetch(inputs)
        back = np.empty_like(field)
        for path, lag in zip(inputs, (5, 3, 1), strict=True):
            server.read("t", back, path)
            assert np.allclose(back + lag, field, rtol=0, atol=1e-12)

if server.figures:
    share, servers = server.figures["blocked_share"], server.figures["servers"]
    print(f"servers: {servers}; the model waited {100 * share:.0f} % of the time; what was written came back as input")
