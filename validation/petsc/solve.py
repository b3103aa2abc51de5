"""Solve the problem of a file by PETSc: ``python3 solve.py problem.npz TYPE DIRECTIONS``, with petsc4py.

The file has the matrix and its preconditioner in rows of nonzeros, right-hand side, first guess and tolerance. Prints
iterations, and the norm of the residual over that of the right-hand side. Not part of the package: Debian's Python runs
it, which has petsc4py and needs not have Tradewind.
"""

import json
import sys
from typing import Any

import numpy as np
import petsc4py

petsc4py.init(["solve"])
from petsc4py import PETSc  # noqa: E402


def matrix(problem: Any, name: str) -> Any:
    """The matrix of a name."""
    count = len(problem["right"])
    rows, columns, values = (problem[f"{name}_{part}"] for part in ("rows", "columns", "values"))
    made = PETSc.Mat().createAIJ(size=(count, count), csr=(rows, columns, values), comm=PETSc.COMM_SELF)
    made.assemble()
    return made


def solve(problem: Any, kind: str, directions: int) -> dict[str, Any]:
    """Iterations and relative residual."""
    options = PETSc.Options()
    if kind == "pipegcr":
        options["ksp_pipegcr_mmax"] = directions
        options["ksp_pipegcr_truncation_type"] = "standard"
    solver = PETSc.KSP().create(PETSc.COMM_SELF)
    operator = matrix(problem, "operator")
    solver.setOperators(operator, matrix(problem, "preconditioner"))
    solver.setType(kind)
    solver.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)
    if kind == "gcr":
        solver.setGCRRestart(directions)
    elif kind != "pipegcr":
        solver.setGMRESRestart(directions)
        solver.setPCSide(PETSc.PC.Side.RIGHT)
    solver.getPC().setType("lu")
    solver.setTolerances(rtol=float(problem["rtol"]), atol=0.0, max_it=10000)
    solver.setInitialGuessNonzero(True)
    solver.setFromOptions()
    right, found = (
        PETSc.Vec().createWithArray(problem[name].copy(), comm=PETSc.COMM_SELF) for name in ("right", "guess")
    )
    solver.solve(right, found)
    apart = right.duplicate()
    operator.mult(found, apart)
    apart.aypx(-1.0, right)
    return {"iterations": solver.getIterationNumber(), "residual": apart.norm() / right.norm()}


if __name__ == "__main__":
    print(json.dumps(solve(np.load(sys.argv[1]), sys.argv[2], int(sys.argv[3]))))
