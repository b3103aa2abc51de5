#!/bin/sh
# Builds Tradewind against a second MPI library, Debian's Open MPI, in an environment of its own, and runs the tests of
# everything that talks to MPI there. The numerics of the dwarfs know nothing of the library: one dwarf stands for all.
# usage: tests/second_mpi.sh [build|run] [FOLDER]   (default: one after the other, build/second-mpi)
# MPI_C_COMPILER names another MPI's compiler wrapper; the mpiexec beside it is taken.
set -eu
repository=$(cd "$(dirname "$0")/.." && pwd)
what=both
case "${1:-}" in build | run) what=$1 && shift ;; esac
folder=${1:-$repository/build/second-mpi}
compiler=${MPI_C_COMPILER:-/usr/bin/mpicc}

if [ ! -x "$compiler" ]; then
    if [ "$(id -u)" -ne 0 ]; then
        echo "second_mpi.sh: no $compiler; install it (apt-get install openmpi-bin libopenmpi-dev) or name another" \
            "in MPI_C_COMPILER" >&2
        exit 1
    fi
    apt-get update -qq
    apt-get install -y -qq openmpi-bin libopenmpi-dev
fi

if [ $what != run ]; then
    [ -x "$folder/venv/bin/python" ] || python3 -m venv "$folder/venv"
    # A build folder of its own: the ordinary one remembers the first MPI.
    "$folder/venv/bin/pip" install -q --no-compile "$repository[mpi,output]" 'netCDF4>=1.7' 'cfgrib>=0.9.15' 'pytest>=8.2' 'hypothesis>=6.100' \
        'cmake>=3.24' 'ninja>=1.11' \
        -Ccmake.define.MPI_C_COMPILER="$compiler" -Cbuild-dir="$folder/cmake"
    if [ $what = build ]; then exit; fi
fi
cd "$repository"
"$folder/venv/bin/python" -c 'from tradewind import mpi; print("second MPI:", mpi.MPI.Get_library_version().split(",")[0])'
export TRADEWIND_BUILD="$folder/cmake" TRADEWIND_MPIEXEC="$(dirname "$(command -v "$compiler")")/mpiexec"
# A wheel has the Fortran module as source, which the programs compile; pkg-config knows only a compiled one.
exec tests/again.sh "$folder/venv/bin/python" -m pytest -q tests/mpi tests/launch tests/dwarfs/test_diffusion.py tests/languages \
    --deselect tests/languages/test_language_installation.py::test_pkg_config_for_fortran
