"""Steps that are done once in several repetitions of the steps of a group, written out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from tradewind.base.errors import InputError
from tradewind.workload.steps import Compute, Exchanged, GroupStep

MAX_STEPS = 100_000
"""Steps that are written out of one group."""


def unrolled(steps: Sequence[tuple[int, GroupStep]], repeat: int) -> tuple[list[GroupStep], int]:
    """Return the steps of a period after which all is done again, and how often the period is repeated.

    `steps`: with each the number of repetitions of which the last one does it. Of several repetitions each step has the
    number in its name. Raises InputError where `repeat` repetitions are no whole periods.
    """
    period = math.lcm(*(every for every, _ in steps))
    if period == 1:
        return [step for _, step in steps], repeat
    if repeat % period:
        raise InputError(
            f"repeat {repeat}: a multiple of {period} is allowed, after which all steps with `every` recur"
        )
    if period * len(steps) > MAX_STEPS:
        raise InputError(
            f"every: {period} repetitions of {len(steps)} steps: at most {MAX_STEPS} steps are written out"
        )
    found = [
        named(step, f" {number}") for number in range(1, period + 1) for every, step in steps if number % every == 0
    ]
    return found, repeat // period


def named(step: GroupStep, more: str) -> GroupStep:
    """Return a step with more at the end of its name."""
    if isinstance(step, Compute):
        return replace(step, name=step.name + more)
    assert not isinstance(step, Exchanged)  # files make steps with labels of them
    return replace(step, label=step.label + more)
