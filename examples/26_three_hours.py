"""Three hours of a model that reads an input file and writes three output files in each, and the time line of the run.

    mpiexec -n 3 python examples/26_three_hours.py          # the last rank is a server
    mpiexec -n 2 python examples/26_three_hours.py 0        # the same in the time loop

The order is that of HIRLAM's file server (2004), with its letters and numbers. The model has the first two files read
ahead (A), receives them (B), takes a step (C), sends what belongs into three files (D), asks to store that and to read
the next file, and goes on (E). It asks for that file when it needs it (F), takes the next step (G), sends output (H).
The server reads the first file (1) and the second (2), sends both (3), collects output (4), writes it (5), then reads
the next file (6), sends it (7), collects output (8). Draws three-hours.svg.
"""

import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
from mpi4py import MPI

import tradewind as tw
from tradewind import timeline
from tradewind.fieldserver.plan.geometry import Gaussian
from tradewind.fieldserver.plan.plan_file import load_plan

HOURS, STEPS_PER_HOUR, N, LEVELS, STEP_S = 3, 4, 128, 6, 0.15
SINK = """
[[sink]]
name = "{name}"
format = "netcdf"
path = "{name}-{{step}}.nc"
compression = {compression}
"""
RULE = "\n[[rule]]\nsink = {sinks}\n"


def plan(folder: Path, names: list[str], compression: int) -> tw.fieldserver.plan.plan_file.OutputPlan:
    """Return a plan that writes each hour to several files."""
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
        for hour in range(HOURS + 1):
            source.write("t", 280 + np.random.default_rng(hour).random(shape), hour)
            source.end_step(hour)
inputs = [folder / "input" / f"input-{hour}.nc" for hour in range(HOURS + 1)]
comm.Barrier()

steps = []
with tw.FieldServer(plan(folder / "output", ["surface", "model", "pressure"], 1), comm, servers=servers) as server:
    if server.comm is not None:
        layout = define(server, server.comm.size)
        before, after = (np.empty(layout.shape(server.comm.rank)) for _ in range(2))
        server.prefetch(inputs[:2])
        server.read("t", before, inputs[0])
        server.read("t", after, inputs[1])
        for step in range(HOURS * STEPS_PER_HOUR):
            hour, of_hour = divmod(step, STEPS_PER_HOUR)
            begin = perf_counter()
            work(before)
            steps.append((f"step {step}", begin, perf_counter()))
            if of_hour == 0:
                server.write("t", before, hour)
                server.end_step(hour)
                if hour + 2 <= HOURS:
                    server.prefetch(inputs[hour + 2 : hour + 3])
            if of_hour == STEPS_PER_HOUR - 1 and hour + 2 <= HOURS:
                server.read("t", after, inputs[hour + 2])

line = server.time_line(f"three hours, {servers} servers", steps)
if line is not None:
    if servers:
        first, second, third, *_ = map(str, inputs)
        model = {"A": "prefetch", "B": "read t", "C": "step", "D": "write", "E": "end step"}
        timeline.mark(line, 0, {**model, "F": "read t", "G": "step", "H": "write"})
        serving = {"1": f"read {first}", "2": f"read {second}", "3": f"send t of {second}", "4": "collect"}
        timeline.mark(line, comm.size - 1, {**serving, "5": "write"})
        # A model that asks before the output is written has its file read at once: so these may begin before 5.
        timeline.mark(line, comm.size - 1, {"6": f"read {third}", "7": f"send t of {third}", "8": "collect"})
    timeline.save(line, Path("three-hours.svg"))
if server.figures:
    print(
        f"{server.figures['total_s']:.2f} s, of which the model waited {server.figures['blocked_s']:.2f} s; "
        "time line: three-hours.svg"
    )
