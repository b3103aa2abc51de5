"""Workloads whose computations take longer on some ranks than on others."""

from __future__ import annotations

from dataclasses import replace

from tradewind.base.errors import InputError
from tradewind.base.imbalance import imbalance_of
from tradewind.workload.program import ProgramWorkload, with_computation
from tradewind.workload.workload import Workload


def imbalanced(workload: Workload, imbalance: str | None) -> Workload:
    """Return a workload whose computations have this imbalance, where they have none. Raises InputError."""
    if imbalance is None:
        return workload
    drawn = imbalance_of(imbalance)
    if not isinstance(workload, ProgramWorkload) or not workload.computes:
        raise InputError(f"compute imbalance {imbalance}: {workload.name} has no computation")
    return workload.with_steps(
        lambda step, _: with_computation(step, lambda made: replace(made, imbalance=made.imbalance or drawn))
    )
