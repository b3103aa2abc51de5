"""Diffuses heat by Devito on a grid that MPI ranks share."""

from devito import Eq, Grid, Operator, TimeFunction, configuration, solve

configuration["mpi"] = True
configuration["log-level"] = "WARNING"
grid = Grid(shape=(32, 32))
heat = TimeFunction(name="heat", grid=grid, space_order=4)
heat.data[:] = 0
heat.data[0, 12:20, 12:20] = 1
step = Operator([Eq(heat.forward, solve(Eq(heat.dt, heat.laplace), heat.forward))])
step.apply(time_M=20, dt=1e-4)
