"""Spectral elements: how fast the error falls with the degree, and what each strategy exchanges."""

from mpi4py import MPI

from tradewind.dwarfs.nekbone import STRATEGIES, Nekbone

# On one rank: a smooth solution on deformed elements.
for nx1 in (4, 6, 8):
    run = Nekbone(1, elements=(2, 2, 2), nx1=nx1, deformation=0.1, mass=True, side="wave").on(MPI.COMM_SELF)
    run.advance(150)
    print(f"nx1 {nx1}: largest error {run.error():.1e}, residual {run.diagnose().residual:.1e}")

# On 64 ranks of a network: an iteration by each strategy.
for strategy in STRATEGIES:
    dwarf = Nekbone(64, elements=(4, 4, 4), strategy=strategy)
    result = dwarf.simulate("beskow", routing="minimal")
    print(f"{strategy}: {1e6 * result['time_s']:.0f} us, {result['messages']} messages, {result['bytes'] / 1e6:.1f} MB")
