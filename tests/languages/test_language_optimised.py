"""A Fortran program that is compiled for speed sees the changes of an exchange."""

from __future__ import annotations

import pytest
from tradewind_header import FORTRAN, ROOT

MODULE = [FORTRAN / f"{name}.f90" for name in ("interfaces", "fields", "arrays", "points", "field_server", "tradewind")]
"""In the order in which they use each other."""
PROGRAM = ROOT / "tests" / "languages" / "programs" / "visible.F90"
MPI = FORTRAN / "mpi_f08"


def test_fortran_sees_what_has_arrived(on_ranks):
    """Every pattern, wherever the arrays are declared."""
    assert on_ranks(2, "visible_fortran").stdout == "all right\n"


@pytest.mark.slow
@pytest.mark.parametrize("flags", ["-O3 -flto", "-O3 -flto -fipa-pta --param early-inlining-insns=10000", "-Ofast"])
def test_fortran_compiled_together_with_the_module(
    flags, prefix, fortran_compiler, mpi_compiler, launch, tmp_path, call
):
    """Where the compiler sees into the module, and makes one procedure of the program's and those of the module."""
    for i, source in enumerate([*MODULE, MPI / "mpi_f08.f90", PROGRAM]):
        words = ("-w", f"-J{tmp_path}", f"-I{FORTRAN}", f"-I{PROGRAM.parent}")
        call(fortran_compiler, *flags.split(), *words, "-c", source, "-o", tmp_path / f"{i}.o")
    call(mpi_compiler, "-c", MPI / "mpi_f08.c", "-o", tmp_path / "mpi_f08.o")
    objects = [tmp_path / "mpi_f08.o", *tmp_path.glob("[0-9].o")]
    libraries = (f"-L{prefix}/lib", "-ltradewind", f"-Wl,-rpath,{prefix}/lib", "-lgfortran", "-lm")
    call(mpi_compiler, *flags.split(), *objects, *libraries, "-o", tmp_path / "visible")
    assert launch(2, tmp_path / "visible").stdout == "all right\n"
