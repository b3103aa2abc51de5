"""The ranks that do the jobs of the tests: which failures they outlive, and that none brings messages into the next."""

from __future__ import annotations

import pytest

pytest.importorskip("mpi4py.MPI")

from tradewind.base.errors import InputError
from tradewind.launch import run


def test_ranks_that_all_refuse_a_job_do_the_next_one():
    first = run(2, "job_ends:process_numbers", None, timeout_s=240)
    for _ in range(2):
        with pytest.raises(InputError, match="refused by rank 0"):
            run(2, "job_ends:refused_by_all", None, timeout_s=240)
        assert run(2, "job_ends:process_numbers", None, timeout_s=240) == first


def test_ranks_of_which_one_waits_in_vain_are_ended():
    first = run(2, "job_ends:process_numbers", None, timeout_s=240)
    with pytest.raises(InputError, match="width -1"):
        run(2, "job_ends:refused", None, timeout_s=240)
    assert set(run(2, "job_ends:process_numbers", None, timeout_s=240)).isdisjoint(first)
