"""Plans that are poked between start and wait bring the expected result by every transport."""

from functools import cache

import poke_cases
import pytest

from tradewind import _core

pytest.importorskip("mpi4py.MPI")

from tradewind import launch


@cache
def outcomes(ranks):
    return launch.run(ranks, "poke_cases:run", None, timeout_s=240)


def cases(ranks):
    names = [
        f"{name} {transport} {packing}"
        for name, schedule in poke_cases.schedules(ranks).items()
        for transport, packing in poke_cases.methods()
        if not _core.transport_refusal(schedule, transport, packing)
    ]
    return [*names, "native", "two at once", "out of turn"]


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_every_transport_has_been_poked(ranks):
    assert set(outcomes(ranks)) == set(cases(ranks))
    assert {transport for transport, _ in poke_cases.methods()} == set(poke_cases.GOES_ON)


@pytest.mark.parametrize(("ranks", "name"), [(ranks, name) for ranks in (1, 2, 3) for name in cases(ranks)])
def test_poked_plans_bring_the_right_result(ranks, name):
    assert outcomes(ranks)[name] == ""
