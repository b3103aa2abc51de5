"""Plans that are poked between start and wait bring the expected result by every transport."""

import poke_cases
import pytest
from slow_tests import slow

from tradewind import _core

pytest.importorskip("mpi4py.MPI")

from tradewind import launch


def cases(ranks):
    names = [
        f"{name} {transport} {packing}"
        for name, schedule in poke_cases.schedules(ranks).items()
        for transport, packing in poke_cases.methods()
        if not _core.transport_refusal(schedule, transport, packing)
    ]
    return [*names, "native", "two at once", "out of turn"]


@pytest.mark.parametrize("ranks", [1, 2, *slow(3)])
def test_poked_plans_bring_the_right_result_by_every_transport(ranks):
    outcomes = launch.run(ranks, "poke_cases:run", None, timeout_s=240)
    assert set(outcomes) == set(cases(ranks))
    assert {name: problem for name, problem in outcomes.items() if problem} == {}
    assert {transport for transport, _ in poke_cases.methods()} == set(poke_cases.GOES_ON)
