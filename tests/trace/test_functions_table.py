"""The table of MPI functions: what the recorder is made of, what it exports, and what readers of traces know."""

import runpy
import subprocess
from pathlib import Path

import pytest

from tradewind.launch.record import library
from tradewind.trace.calls import NUMBERS

ROOT = Path(__file__).parents[2]
SCRIPT = runpy.run_path(str(ROOT / "cmake/recorder_wrappers.py"))
FUNCTIONS = list(SCRIPT["functions_of"]((ROOT / "src/recorder/functions.table").read_text()))


def test_readers_know_what_is_recorded():
    counted = {f"MPI_{each.name}" for each in FUNCTIONS if each.handler in ("Count", "TypeFree")}
    events = {f"MPI_{each.name}" for each in FUNCTIONS} - counted
    assert events == set(NUMBERS)


def test_forms_of_a_function():
    of_alltoallv = {each.symbol: each.arguments[-2:] for each in FUNCTIONS if "ltoallv" in each.name}
    assert of_alltoallv["MPI_Alltoallv"] == ["recvtype", "comm"]
    assert of_alltoallv["MPI_Ialltoallv_c"] == ["comm", "request"]
    assert of_alltoallv["MPI_Ineighbor_alltoallv"] == ["comm", "request"]
    assert of_alltoallv["MPI_Neighbor_alltoallv_init_c"] == ["info", "request"]


def test_counts_that_are_an_int_without_large_counts():
    """MPI_Win_create has a size of 64 bits in both forms, and MPI_Alltoallv lists."""
    narrowed = {each.symbol: [each.arguments[n] for n in each.narrowed] for each in FUNCTIONS}
    assert narrowed["MPI_Put_c"] == ["count", "target_size"]
    assert narrowed["MPI_Win_create_c"] == ["unit"]
    assert narrowed["MPI_Alltoallv_c"] == narrowed["MPI_Send"] == []


def test_the_library_exports_these_functions_and_nothing_else():
    """Anything else, as of its C++ library, would replace what a program has of the same name; dlclose is meant to."""
    symbols = subprocess.run(["nm", "-D", "--defined-only", library()], capture_output=True, text=True, check=True)
    names = {line.split()[-1] for line in symbols.stdout.splitlines()}
    assert names == {f"{letter}{each.symbol}" for each in FUNCTIONS for letter in ("", "P")} | {"dlclose"}


def test_a_line_that_is_wrong():
    with pytest.raises(ValueError, match="line 2: 'Send buf count'"):
        list(SCRIPT["functions_of"]("[Send]\nSend buf count\n"))
