"""The transform on MPI ranks against the one in one process, which is held against other codes."""

from __future__ import annotations

import pytest

pytest.importorskip("mpi4py.MPI")

from tradewind import launch

pytestmark = pytest.mark.ranks


@pytest.mark.parametrize(
    ("ranks", "methods"),
    [
        (2, "mixed"),
        (3, "default"),
        (2, "winds"),
        (2, "single"),
        (3, "split"),
        *(
            pytest.param(*more, marks=pytest.mark.slow)
            for more in ((1, "default"), (4, "mixed"), (4, "nodes"), (4, "split"), (4, "split by levels"))
        ),
    ],
)
def test_each_part_is_that_of_one_process(ranks, methods):
    found = launch.run(ranks, "distributed_cases:run", methods, timeout_s=240)
    assert len(found) == (17 if methods in ("winds", "split", "single") else 8)
    bound = 100 * 2.0**-24 if methods == "single" else 1e-13
    assert {what: value for what, value in found.items() if not value <= bound} == {}
