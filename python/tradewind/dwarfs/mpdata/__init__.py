"""MPDATA, advection of tracers that stays positive, on the finite volumes of an octahedral or a flat mesh.

    dq/dt = -div(v q)

Smolarkiewicz's scheme: a pass of the upwind scheme, then one or more with velocities, or fluxes, that undo the error of
the one before. A node needs its neighbours, so that each pass needs values of other ranks: in the variant of Kuehnlein
& Smolarkiewicz 2017 (doi:10.1016/j.jcp.2016.12.054) first the divergence of the upwind fluxes, then the tracer. The
formulas stand in `src/kernel/mpdata/mpdata.hpp`, the strategies below.

mpiexec -n 2 python -c "
from mpi4py import MPI
from tradewind.dwarfs.mpdata import Mpdata
run = Mpdata(ranks=2, grid='O24', strategy='renumbered').on(MPI.COMM_WORLD)
run.advance(64)
print(run.diagnose())"
"""

from __future__ import annotations

from tradewind.dwarfs.mpdata.loops import LOOPS, divergence, sweep, tracer
from tradewind.dwarfs.mpdata.request import Mpdata
from tradewind.dwarfs.mpdata.run import MpdataRun

__all__ = ["LOOPS", "Mpdata", "MpdataRun", "divergence", "sweep", "tracer"]
