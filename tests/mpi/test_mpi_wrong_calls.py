"""Whatever is wrong with a collective call on one rank is an error on all ranks, and none is left waiting."""

from __future__ import annotations

import re

import pytest
from slow_tests import slow

pytest.importorskip("mpi4py.MPI")

from tradewind import launch

STRIDES = [6, *slow(1)]
"""Each argument is tried with a sixth of the wrong values, or with all."""


@pytest.fixture(scope="module", params=STRIDES)
def outcomes(request, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("wrong"))  # a tuning file may have any name
        return launch.run(2, "wrong_arguments:run", request.param, timeout_s=240)


def test_an_error_of_one_rank_is_raised_on_all(outcomes):
    calls, not_called = outcomes
    for name, each in calls.items():
        assert _errors_on_all(name, each) > 3, name
    assert not_called == []


def _errors_on_all(name, calls):
    """Return how many of the calls raised; checks that each did so on both ranks, or on none."""
    raised = 0
    for call, at_fault, met in calls:
        what = f"{name}: {call}"
        own, other = met[at_fault], met[1 - at_fault]
        assert bool(own) == bool(other), f"{what} on rank {at_fault}: {met}"
        if not own:
            continue
        raised += 1
        # InputError: all refuse what rank 0 chooses for all; PlanError: another rank has, or the ranks' plans differ.
        kind, _, text = own.partition(": ")
        if kind == "PlanError" and other.startswith("InputError: "):  # the owner of a point refuses it
            assert other.removeprefix("InputError: ") in own, f"{what} on rank {at_fault}: {met}"
            continue
        assert other == own or other.startswith("PlanError: "), f"{what} on rank {at_fault}: {met}"
        if other != own and kind != "PlanError":
            tasks = "make this plan|begin this recording|go on"
            assert re.match(f"PlanError: rank {at_fault} cannot ({tasks}): ", other), f"{what}: {met}"
            assert text.encode(errors="backslashreplace").decode().splitlines()[0] in other, f"{what}: {met}"
    return raised


def test_a_rank_without_memory_is_heard_of():
    found = launch.run(2, "wrong_arguments:starved", [0, 1, 2, 9], timeout_s=240)
    for met in found[:3]:
        assert met[0].startswith("PlanError: ")
        assert met[1].startswith("PlanError: rank 0 cannot make this plan: ")
    assert found[3] == ["", ""]
