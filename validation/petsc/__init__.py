"""Iterations of the dwarf helmholtz beside those of PETSc's solvers."""
