"""A dwarf with its halo exchanged in three ways, and in one of your own.

mpiexec -n 2 python examples/10_diffusion.py

Prints where the time of 64 steps went. The field is the same, bit for bit.
"""

from mpi4py import MPI

from tradewind.dwarfs.diffusion import REACH, STRATEGIES, Diffusion, diffuse
from tradewind.dwarfs.frame.step import Step

comm = MPI.COMM_WORLD
STEPS = 64


def lower(halo, rank):
    """Half of the points that need no halo."""
    z, y, x = halo.interior(rank, REACH)
    return [(z, slice(y.start, (y.start + y.stop) // 2), x)]


def upper(halo, rank):
    """The other half."""
    z, y, x = halo.interior(rank, REACH)
    return [(z, slice((y.start + y.stop) // 2, y.stop), x)]


def half(step: Step, steps: int) -> int:
    """A strategy of your own: only half of the interior is computed while the halo is on its way."""
    step.start("halo")
    step.compute(diffuse, points=lower)
    step.wait("halo")
    step.compute(diffuse, points=upper)
    step.compute(diffuse, points="rim")
    step.finish()
    return 1


STRATEGIES["half"] = half

fields = set()
for strategy in STRATEGIES:
    run = Diffusion(comm.size, grid=(128, 128, 16), strategy=strategy, width=8 if strategy == "wide" else 2).on(comm)
    run.reset()
    run.advance(STEPS)
    fields.add(run.diagnose())
    seconds = run.seconds()
    if comm.rank == 0:
        parts = ", ".join(f"{part} {1e3 * seconds[part]:.1f}" for part in ("compute", "pack", "wait", "unpack"))
        print(f"{strategy:>10}: {run.messages} messages; ms: {parts}")

assert len(fields) == 1
if comm.rank == 0:
    print(f"all the same: {fields.pop()}")
