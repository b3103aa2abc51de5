"""Plans and points take arrays of other libraries, and refuse those of a device on all ranks alike."""

from __future__ import annotations

import pytest

pytest.importorskip("mpi4py.MPI")

from tradewind import launch


def test_plans_move_what_lies_in_arrays_of_other_libraries():
    moved = launch.run(2, "foreign_arrays:moved", None, timeout_s=240)
    assert len(moved) == 4
    assert all(moved.values()), moved


def test_every_place_that_takes_arrays_refuses_a_device_and_all_ranks_hear_of_it():
    refused = launch.run(2, "foreign_arrays:refused", None, timeout_s=240)
    assert len(refused) == 10
    for name, cases in refused.items():
        for (other, own), device in zip(cases, ("oneAPI 1", "CUDA"), strict=True):
            text = f"lies in the memory of a device, {device}: arrays in the host's memory are allowed here"
            if device == "CUDA" and name in ("plan", "one of two fields", "target", "tune"):
                text = "on a device that cannot be seen: no driver of this process knows its address"
            assert own.startswith("InputError: "), (name, own)
            assert text in own, (name, own)
            assert other == own or other.startswith("PlanError: rank 1 cannot"), (name, other)
            assert text in other, (name, other)
