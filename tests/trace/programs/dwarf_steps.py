"""Advances dwarfs by a round of steps, each between two barriers: of a JSON table of their options by name."""

import json
import sys

from mpi4py import MPI

from tradewind.dwarfs import from_plain

BARRIERS = MPI.COMM_WORLD.Dup()
for name, options in json.loads(sys.argv[1]).items():
    dwarf = from_plain(name, options)
    run = dwarf.on(MPI.COMM_WORLD)
    BARRIERS.Barrier()
    run.advance(dwarf.steps_per_round)
    BARRIERS.Barrier()
