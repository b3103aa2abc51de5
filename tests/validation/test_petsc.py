"""PETSc needs as many iterations as the dwarf; where petsc4py of Debian is not installed, a note is printed."""

import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("mpi4py.MPI")

import scipy.sparse
from slow_tests import slow
from validation.petsc import __main__ as petsc

from tradewind.base.errors import InputError
from tradewind.dwarfs.helmholtz import Helmholtz


@pytest.mark.slow
@pytest.mark.ranks
@pytest.mark.parametrize("name", petsc.PROBLEMS)
def test_iterations_are_those_of_petsc(name):
    try:
        python = petsc.find()
    except InputError as error:
        pytest.skip(str(error))
    assert petsc.row(name, petsc.PROBLEMS[name], python)["ok"]


@pytest.mark.parametrize(("more", "code"), [([], 2), *slow((["--if-installed"], 0))])
def test_a_python_without_petsc_is_skipped_with_a_word(tmp_path, more, code):
    with pytest.raises(InputError, match="petsc4py is not there: on Debian,  apt install python3-petsc4py"):
        petsc.find(sys.executable)
    with pytest.raises(InputError, match="petsc4py is not there"):
        petsc.find(str(tmp_path / "python"))
    command = [sys.executable, "-m", "validation.petsc", "--python", sys.executable]
    done = subprocess.run([*command, *more], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.startswith("skipped: petsc4py is not there")) == (code, True)


def test_the_problem_that_is_written_is_that_of_the_dwarf(tmp_path):
    dwarf = Helmholtz(ranks=1, grid=(5, 4, 6))
    right = np.random.default_rng(1).normal(size=(6, 4, 5))
    petsc.written(dwarf, right, 0 * right, tmp_path / "problem.npz")
    problem = np.load(tmp_path / "problem.npz")
    made = {
        name: scipy.sparse.csr_matrix(
            tuple(problem[f"{name}_{part}"] for part in ("values", "columns", "rows"))
        ).toarray()
        for name in ("operator", "preconditioner")
    }
    same = made["preconditioner"] != 0
    assert np.allclose(made["preconditioner"][same], made["operator"][same], rtol=1e-12, atol=0)
    assert same.sum() == 3 * 6 * 20 - 2 * 20
    assert (problem["right"] == right.reshape(-1)).all()
