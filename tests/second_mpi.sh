#!/bin/sh
# Builds a copy of the checkout against a second MPI library, Debian's Open MPI, in an environment of its own, and runs
# the tests of everything that calls MPI there. What does not depend on the library runs with the first alone: the
# numerics of the dwarfs (one dwarf stands for all), and what commands and programs make of measured times.
# usage: tests/second_mpi.sh [build|run]   (default: one after the other)
# MPI_C_COMPILER names another MPI's compiler wrapper; the mpiexec beside it is taken.
set -eu
repository=$(cd "$(dirname "$0")/.." && pwd)
case "${1:-}" in
    "" | build | run) what=${1:-both} ;;
    *) echo "second_mpi.sh: unknown word '$1' (build, run, or nothing for both)" >&2 && exit 2 ;;
esac
folder=$repository/build/second-mpi
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

if [ "$what" != run ]; then
    # A copy has its build and its environment where the checkout has its own, so that ccache (with CCACHE_BASEDIR at the
    # checkout) finds all that does not include mpi.h compiled. Files that are gone by now must not stay.
    mkdir -p "$folder"
    find "$folder" -mindepth 1 -maxdepth 1 ! -name .venv ! -name build -exec rm -rf {} +
    tar -C "$repository" --exclude=./build --exclude=./.venv --exclude=./.git --exclude=./results --exclude=./site \
        -cf - . | tar -C "$folder" -xf -
    make -C "$folder" --no-print-directory -s MPI_C_COMPILER="$compiler" EXTRAS=mpi,output .venv/installed
    "$folder/.venv/bin/pip" install -q 'netCDF4>=1.7' 'cfgrib>=0.9.15' 'pytest>=8.2' 'hypothesis>=6.100'
    if [ "$what" = build ]; then exit; fi
fi
cd "$folder"
.venv/bin/python -c 'from tradewind import mpi; print("second MPI:", mpi.MPI.Get_library_version().split(",")[0])'
export TRADEWIND_MPIEXEC="$(dirname "$(command -v "$compiler")")/mpiexec"
exec tests/again.sh .venv/bin/python -m pytest -q tests/mpi tests/launch tests/dwarfs/diffusion/test_diffusion.py tests/languages \
    --ignore-glob='*/test_bench*.py' --ignore-glob='*/test_tune.py' --ignore-glob='*/test_calibrate_files.py' \
    --ignore-glob='*/test_language_tuning.py' --ignore-glob='*/test_language_optimised.py'
