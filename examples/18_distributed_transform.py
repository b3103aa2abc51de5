"""The spherical-harmonics transform on several ranks: a field loses its small scales, and the adjoint is exact.

mpiexec -n 4 python examples/18_distributed_transform.py
"""

import numpy as np
from mpi4py import MPI

import tradewind as tw
from tradewind.spectral import Distribution, Truncation

comm = MPI.COMM_WORLD
distribution = Distribution(Truncation("O32"), comm.size, levels=4)
transform = tw.DistributedTransform(distribution, comm, methods={"wavenumbers": {"algorithm": "pairwise"}})

# Each rank fills its own band of grid points; no rank ever has the whole field.
own = transform.own_points()
random = np.random.default_rng(own.start)
transform.points[:] = random.normal(size=transform.points.shape)
noise = comm.allreduce((transform.points**2).sum())

transform.to_spectral()
m, n = transform.own_coefficients()
transform.spectral *= np.exp(-((n / 8) ** 4))[:, None]
smooth = comm.allreduce((transform.to_grid() ** 2).sum())

# <A x, y> = <x, A* y> for the inverse transform A, real and imaginary parts as numbers of their own.
x = random.normal(size=transform.spectral.shape) + 1j * random.normal(size=transform.spectral.shape)
y = random.normal(size=transform.points.shape)
transform.spectral[:] = x
left = comm.allreduce((transform.to_grid() * y).sum())
transform.points[:] = y
adjoint = transform.to_grid_adjoint("plain")
right = comm.allreduce((x.real * adjoint.real + x.imag * adjoint.imag).sum())

if comm.rank == 0:
    print(f"{comm.size} ranks, {distribution.sets} x {distribution.level_sets}")
    print(f"variance left: {100 * smooth / noise:.1f} %")
    print("the adjoint is exact:", abs(left - right) < 1e-12 * abs(left))
    for name, value in distribution.imbalances().items():
        print(f"{name}: the largest load is {value:.2f} of the mean")
