"""Without an MPI, what needs one says what to install."""

import importlib.util

import pytest

from tradewind.base.errors import MissingMPIError
from tradewind.launch import bench
from tradewind.workload.exchange import Exchange


def test_bench_without_mpi4py_says_what_to_install(monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "mpi4py" else found(name, *rest)
    )
    with pytest.raises(MissingMPIError, match=r"tradewind\[mpich\]"):
        bench(Exchange("halo", 2, grid=(8, 8, 2), width=1), ["sweep"], ["isend-irecv"], ["buffer"], repeat=1)
