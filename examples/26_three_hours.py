"""Three hours of a model that reads an input file and writes three output files in each, and the time line of the run.

    mpiexec -n 3 python examples/26_three_hours.py          # the last rank is a server
    mpiexec -n 2 python examples/26_three_hours.py 0        # the same in the time loop

The order is that of HIRLAM's file server (2004): the model has the first two files read ahead, takes a step while the
server writes what it was given and then reads the next file, and gets that when it asks. Draws three-hours.svg.
"""

import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
from mpi4py import MPI

import tradewind as tw
from tradewind import trace
from tradewind.fieldserver.geometry import Gaussian
from tradewind.fieldserver.plan_file import load_plan

HOURS, N, LEVELS, STEP_S = 3, 128, 6, 0.25
SINK = """
[[sink]]
name = "{name}"
format = "netcdf"
path = "{name}-{{step}}.nc"
compression = {compression}
"""
RULE = "\n[[rule]]\nsink = {sinks}\n"


def plan(folder: Path, names: list[str], compression: int) -> tw.fieldserver.plan_file.OutputPlan:
    """Return a plan that writes each hour to so many files."""
    sinks = "".join(SINK.format(name=name, compression=compression) for name in names)
    return load_plan("plan.toml", f'folder = "{folder}"\ndurable = false\n{sinks}{RULE.format(sinks=names)}')


def define(server: tw.FieldServer, ranks: int) -> tw.Bands:
    """Say where the temperature lies on the ranks of a model."""
    layout = tw.Bands(tw.ReducedGrid.octahedral(N, nz=LEVELS), ranks)
    server.define("t", layout, Gaussian.octahedral(N))
    return layout


def work(field: np.ndarray) -> None:
    """Take a time step: some computing of a known time."""
    begin = perf_counter()
    while perf_counter() < begin + STEP_S:
        field += 1e-3 * np.sin(field)


comm = MPI.COMM_WORLD
servers = int(sys.argv[1]) if len(sys.argv) > 1 else min(1, comm.size - 1)
folder = Path(comm.bcast(tempfile.mkdtemp() if comm.rank == 0 else None))
if comm.rank == 0:  # somebody else has written the input
    with tw.FieldServer(plan(folder / "input", ["input"], 4), MPI.COMM_SELF, servers=0) as source:
        shape = define(source, 1).shape(0)
        for hour in range(HOURS):
            source.write("t", 280 + np.random.default_rng(hour).random(shape), hour)
            source.end_step(hour)
inputs = [folder / "input" / f"input-{hour}.nc" for hour in range(HOURS)]
comm.Barrier()

steps = []
with tw.FieldServer(plan(folder / "output", ["surface", "model", "pressure"], 1), comm, servers=servers) as server:
    if server.comm is not None:
        layout = define(server, server.comm.size)
        field = np.empty(layout.shape(server.comm.rank))
        server.prefetch(inputs[:2])
        for hour, path in enumerate(inputs):
            server.read("t", field, path)
            begin = perf_counter()
            work(field)
            steps.append(("step", begin, perf_counter()))
            server.write("t", field, hour)
            server.end_step(hour)
            if hour == 0:
                server.prefetch(inputs[2:])

line = server.time_line(f"three hours, {servers} servers", steps)
if line is not None:
    trace.save(line, Path("three-hours.svg"))
if server.figures:
    print(
        f"{server.figures['total_s']:.2f} s, of which the model waited {server.figures['blocked_s']:.2f} s; "
        "time line: three-hours.svg"
    )
