"""Solves the Poisson equation by Krylov methods of PETSc, pipelined ones among them; halos are persistent requests."""

import petsc4py

petsc4py.init()
from petsc4py import PETSc  # noqa: E402

POINTS = 24
grid = PETSc.DMDA().create((POINTS, POINTS), stencil_width=1)
matrix = grid.createMatrix()
(x0, x1), (y0, y1) = grid.getRanges()
row, column = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
for y in range(y0, y1):
    for x in range(x0, x1):
        row.index = (x, y)
        matrix.setValueStencil(row, row, 4.0)
        for i, j in ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)):
            if 0 <= i < POINTS and 0 <= j < POINTS:
                column.index = (i, j)
                matrix.setValueStencil(row, column, -1.0)
matrix.assemble()
right, found = matrix.createVecs()
right.set(1.0)
for kind in ("gcr", "pipegcr", "fgmres", "pipefgmres"):
    solver = PETSc.KSP().create(grid.comm)
    solver.setOperators(matrix)
    solver.setType(kind)
    solver.getPC().setType("jacobi")
    solver.setTolerances(rtol=1e-6)
    solver.solve(right, found)
