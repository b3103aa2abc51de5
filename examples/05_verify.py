"""Verifies schedules in one process, for rank counts that this machine does not have.

python examples/05_verify.py
"""

import tradewind as tw

grid = tw.Grid(nx=602, ny=568, nz=60)
halo = tw.Halo(tw.Blocks(grid, split=(12, 10)), width=60, periodic=("x", "y"))
for algorithm in ("sweep", "direct"):
    result = halo.schedule(algorithm).verify(transport="sendrecv")
    print(f"{algorithm}: {result['messages']} messages in {result['stages']} stages, right and free of deadlock")

# A wrong request is refused with a sentence.
try:
    tw.Blocks(grid, split=(12, 600))
except tw.InputError as error:
    print("refused:", error)
