"""A time line of a real run: what a model's ranks do when, written down by the model itself.

    mpiexec -n 2 python examples/11_time_line.py

Open run.pftrace at https://ui.perfetto.dev, or run.svg in a browser.
"""

import time
from pathlib import Path

import numpy as np
from mpi4py import MPI

import tradewind as tw
from tradewind import timeline

comm = MPI.COMM_WORLD
halo = tw.Halo(tw.Blocks(tw.Grid(nx=256, ny=256, nz=20), split=(comm.size, 1)), width=2, periodic=("x", "y"))
field = np.random.default_rng(comm.rank).random(halo.source_shape(comm.rank))
swap = halo.schedule("sweep").plan(comm, field)

events = []  # (name, stage, peer, bytes, begin, end); -1 where there is no stage or peer


def timed(name, work, size=0):
    begin = time.perf_counter()
    work()
    events.append((name, -1, -1, size, begin, time.perf_counter()))


comm.Barrier()
for _ in range(3):
    timed("exchange", swap, swap.bytes_sent)
    timed("physics", lambda: np.sqrt(field, out=field))
    if comm.rank == 0:  # the others wait for it in the next exchange
        timed("more physics", lambda: np.exp(field))

line = timeline.gather(comm, events, f"a model on {comm.size} ranks")  # compares the clocks of all ranks
if line is not None:  # on rank 0
    for name in ("run.pftrace", "run.svg"):
        timeline.save(line, Path(name))
    for track in line.tracks:
        longest_ns = max(span.end_ns - span.begin_ns for span in track.rows[0].events if span.name == "exchange")
        print(f"{track.name} {track.note}: longest exchange {1e-6 * longest_ns:.2f} ms")
