"""Whatever is wrong with a collective call on one rank, all ranks hear of it, and none is left waiting."""

from __future__ import annotations

import re

import pytest
from slow_tests import slow

pytest.importorskip("mpi4py.MPI")

import wrong_calls

from tradewind import launch

STRIDES = [4, *slow(1)]
"""Each argument is tried with a quarter of the wrong values, or with all."""


@pytest.fixture(scope="module", params=STRIDES)
def outcomes(request, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("wrong"))  # a tuning file may have any name
        return launch.run(2, "wrong_calls:run", request.param, timeout_s=240)


@pytest.mark.parametrize("name", wrong_calls.NAMES)
def test_all_ranks_hear_of_an_error(outcomes, name):
    raised = 0
    for what, at_fault, met in outcomes[name]:
        own, other = met[at_fault], met[1 - at_fault]
        assert bool(own) == bool(other), f"{what} on rank {at_fault}: {met}"
        if not own:
            continue
        raised += 1
        # InputError: all refuse what rank 0 chooses for all; PlanError: it was heard of, or the ranks' plans differ.
        kind, _, text = own.partition(": ")
        if kind == "PlanError" and other.startswith("InputError: "):  # the owner of a point refuses it
            assert other.removeprefix("InputError: ") in own, f"{what} on rank {at_fault}: {met}"
            continue
        assert other == own or other.startswith("PlanError: "), f"{what} on rank {at_fault}: {met}"
        if other != own and kind != "PlanError":
            assert re.match(f"PlanError: rank {at_fault} cannot (make this plan|go on): ", other), f"{what}: {met}"
            assert text.splitlines()[0] in other, f"{what}: {met}"
    assert raised > 3


def test_a_rank_without_memory_is_heard_of():
    found = launch.run(2, "wrong_calls:starved", [0, 1, 2, 9], timeout_s=240)
    for met in found[:3]:
        assert met[0].startswith("PlanError: ")
        assert met[1].startswith("PlanError: rank 0 cannot make this plan: ")
    assert found[3] == ["", ""]
