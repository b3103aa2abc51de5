"""Iterations of the dwarf's GCR beside those of PETSc: ``python -m validation.petsc [--python PATH] [--if-installed]``.

Both solve the first step of the dwarf, with its matrix (as SciPy has it), its preconditioner (the tridiagonal systems
of the columns, which PETSc solves by LU) and its first guess, to the same tolerance. PETSc's PIPEGCR keeps as many
directions and drops them alike (``-ksp_pipegcr_truncation_type standard``). The two may differ by 3 iterations.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from tradewind.base.errors import InputError, TradewindError
from tradewind.dwarfs.helmholtz import Helmholtz
from tradewind.dwarfs.helmholtz.operator import columns, stencil
from tradewind.dwarfs.helmholtz.reference import matrix
from validation.table import parser, print_rows

PYTHON = "/usr/bin/python3"
INSTALL = "petsc4py is not there: on Debian,  apt install python3-petsc4py"
ALLOWED = 3
PROBLEMS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "long steps": {"step_s": 20.0},
    "a high hill": {"hill_m": 5000.0, "step_s": 12.0},
    "one direction": {"directions": 1},
    "six directions": {"directions": 6, "step_s": 20.0},
}
GRID = (24, 20, 12)


def environment() -> dict[str, str]:
    """The environment, with the folder of Debian's PETSc: only its development package links that to /usr/lib/petsc."""
    installed = sorted(Path("/usr/lib/petscdir").glob("*/*-real"))
    return dict(os.environ) if not installed else {"PETSC_DIR": str(installed[-1]), **os.environ}


def find(python: str = PYTHON) -> str:
    """Return the Python that has petsc4py. Raises InputError where none has it."""
    try:
        done = subprocess.run(
            [python, "-c", "import petsc4py.PETSc"], capture_output=True, check=False, timeout=60, env=environment()
        )
    except OSError as error:
        raise InputError(f"{INSTALL} ({error})") from None
    if done.returncode:
        raise InputError(INSTALL)
    return python


def written(dwarf: Helmholtz, right: Any, guess: Any, path: Path) -> None:
    """Write the problem of a dwarf's first step."""
    air = dwarf.air
    nx, ny, _ = air.grid
    factors = columns(stencil(air, ((0, 0, 0), air.grid)))
    below, inverse, above = (factors[:, :, part].reshape(-1) for part in range(3))
    plane = nx * ny
    upper = above / inverse
    lower = below[plane:]
    here = 1 / inverse
    here[plane:] += lower * above[:-plane]
    preconditioner = scipy.sparse.diags([lower, here, upper[:-plane]], [-plane, 0, plane], format="csr")
    parts: dict[str, Any] = {}
    for name, made in (("operator", matrix(air).tocsr()), ("preconditioner", preconditioner)):
        parts |= {
            f"{name}_rows": made.indptr.astype(np.int32),
            f"{name}_columns": made.indices.astype(np.int32),
            f"{name}_values": made.data,
        }
    np.savez(path, **parts, right=right.reshape(-1), guess=guess.reshape(-1), rtol=dwarf.residual_bound)


def ours(options: dict[str, Any], strategy: str) -> tuple[int, Any, Any]:
    """Return the iterations of the first step, and its right-hand side and first guess."""
    from mpi4py import MPI

    run = Helmholtz(ranks=1, grid=GRID, strategy=strategy, **options).on(MPI.COMM_SELF)
    guess = run.x.own.copy()
    run.advance(1)
    return run.iterations, run.vector("b").own, guess


def row(name: str, options: dict[str, Any], python: str) -> dict[str, Any]:
    """Return the iterations of our solvers, and of PETSc's."""
    dwarf = Helmholtz(ranks=1, grid=GRID, **options)
    classic, right, guess = ours(options, "classic")
    pipelined, _, _ = ours(options, "pipelined")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "problem.npz"
        written(dwarf, right, guess, path)
        theirs = solved(path, "pipegcr", dwarf.directions, python)
        gmres = solved(path, "gmres", 200, python)
    return {
        "problem": name,
        "k": dwarf.directions,
        "classic": classic,
        "pipelined": pipelined,
        "PIPEGCR": theirs["iterations"],
        "its residual": f"{theirs['residual']:.1e}",
        "GMRES(200)": gmres["iterations"],
        "ok": max(abs(each - theirs["iterations"]) for each in (classic, pipelined)) <= ALLOWED,
    }


def solved(path: Path, kind: str, directions: int, python: str) -> Any:
    """Return the output of PETSc's solver of a type. Raises TradewindError where it fails."""
    command = [python, str(Path(__file__).parent / "solve.py"), str(path), kind, str(directions)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=environment())
    if done.returncode:
        raise TradewindError(f"PETSc: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout.splitlines()[-1])


def main() -> int:
    """Print the table; 1 where the solvers differ by more than `ALLOWED` iterations."""
    options = parser(__doc__)
    options.add_argument("--python", default=PYTHON, help="a Python that has petsc4py")
    options.add_argument("--if-installed", action="store_true", help="skip with a note where petsc4py is not there")
    asked = options.parse_args()
    try:
        python = find(asked.python)
    except InputError as error:
        print(f"skipped: {error}")
        return 0 if asked.if_installed else error.exit_code
    rows = [row(name, options, python) for name, options in PROBLEMS.items()]
    print_rows(rows, asked.json)
    return 0 if all(each["ok"] for each in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
