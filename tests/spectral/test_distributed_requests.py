"""A distributed transform in one process: what it refuses, and that memory is asked for before it is taken."""

from types import SimpleNamespace

import psutil
import pytest

import tradewind as tw
from tradewind.base.errors import InputError
from tradewind.spectral import Distribution, Truncation

MPI = pytest.importorskip("mpi4py.MPI")
ONE = Distribution(Truncation("O8"), 1, levels=2)


def test_an_exchange_that_there_is_not_is_named():
    with pytest.raises(InputError, match=r"'row'.*did you mean 'rows'"):
        tw.DistributedTransform(ONE, MPI.COMM_SELF, methods={"row": {"algorithm": "bruck"}})


def test_a_distribution_for_other_ranks_is_refused():
    with pytest.raises(InputError, match="1 ranks, and a distribution for 2"):
        tw.DistributedTransform(Distribution(Truncation("O8"), 2), MPI.COMM_SELF)


def test_a_product_that_there_is_not_is_refused():
    with pytest.raises(InputError, match="product 'other' of an adjoint: plain and weighted are allowed"):
        tw.DistributedTransform(ONE, MPI.COMM_SELF).to_grid_adjoint("other")


def test_memory_that_is_not_there_is_said_before_it_is_taken(monkeypatch):
    needed = ONE.array_bytes(0) + ONE.table_bytes(0)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=needed - 1))
    with pytest.raises(InputError, match=r"rank 0 of a transform, with .* of Legendre functions, needs about"):
        tw.DistributedTransform(ONE, MPI.COMM_SELF)


def test_arrays_and_tables_are_no_more_than_stated():
    transform = tw.DistributedTransform(ONE, MPI.COMM_SELF)
    arrays = (
        transform.points,
        transform.rows,
        transform.fourier,
        transform.wavenumbers,
        transform.spectral,
        transform.columns,
    )
    assert sum(array.nbytes for array in arrays) == ONE.array_bytes(0)
    assert 0 < transform._stages.table_bytes <= ONE.table_bytes(0)
