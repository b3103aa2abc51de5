"""Samples of contenders in turn, so that whatever else the machine does falls on all of them alike."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from functools import partial

from tradewind import _mpi
from tradewind.errors import VerificationError
from tradewind.mpi import MPI, Plan

Call = Callable[[], object]
Contender = Callable[[], float]
"""Takes a sample: seconds a call on this rank."""
Samples = dict[str, list[float]]


def _repeated(comm: MPI.Intracomm, call: Call, repeat: int) -> float:
    comm.Barrier()
    begin = MPI.Wtime()
    for _ in range(repeat):
        call()
    return (MPI.Wtime() - begin) / repeat


def calls(comm: MPI.Intracomm, call: Call, repeat: int = 1) -> Contender:
    """So many calls in a row, as a time loop makes them."""
    return partial(_repeated, comm, call, repeat)


def copies(comm: MPI.Intracomm, plans: Sequence[Plan]) -> Contender:
    """The memory traffic of plans on each rank alone, without a message."""
    return lambda: _mpi.measure(comm.py2f(), [(plan, 1) for plan in plans], 0, 1, True)[0][0]


def contest(comm: MPI.Intracomm, contenders: dict[str, Contender], rounds: int, warmup: int = 2) -> Samples:
    """One sample of each contender a round, the slowest rank's. Collective.

    Each round begins with another contender, since what a call leaves in the caches counts for the next one.
    """
    names = list(contenders)
    samples: Samples = {name: [] for name in names}
    for number in range(-warmup, rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            seconds = comm.allreduce(contenders[name](), MPI.MAX)
            if number >= 0:
                samples[name].append(seconds)
    return samples


def best(samples: Samples, names: Sequence[str]) -> str:
    """The one with the least median."""
    return min(names, key=lambda name: statistics.median(samples[name]))


def line(
    what: str, samples: Samples, name: str, to: str, *, at_most: float | None = None, at_least: float | None = None
) -> str:
    """A figure: the time of one contender over that of another, round by round, and the goal."""
    ratios = [a / b for a, b in zip(samples[name], samples[to], strict=True)]
    middle = statistics.median(ratios)
    low, _, high = statistics.quantiles(ratios, n=4)
    text = f"{what}: {middle:.2f} x {to} (middle half {low:.2f} to {high:.2f} of {len(ratios)}), {took(samples[name])}"
    return text + _goal(middle, at_most, at_least)


def took(samples: Sequence[float]) -> str:
    return f"median {1e3 * statistics.median(samples):.3f} ms, least {1e3 * min(samples):.3f} ms"


def _goal(value: float, at_most: float | None, at_least: float | None) -> str:
    if at_most is not None:
        return f"; goal: at most {at_most:g}" + (" (missed)" if value > at_most else "")
    if at_least is not None:
        return f"; goal: at least {at_least:g}" + (" (missed)" if value < at_least else "")
    return ""


def parts(comm: MPI.Intracomm, what: str, plans: Sequence[Plan], call: Call, repeat: int) -> str:
    """Where the time of plans that record goes, as shares of the rank that spends most; the rest is Python's."""
    seconds = calls(comm, call, repeat)()
    for plan in plans:
        plan.clear()
    seconds = calls(comm, call, repeat)() * repeat
    spent = {name: sum(plan.seconds[name] for plan in plans) for name in plans[0].seconds}
    total, spent = comm.allreduce((seconds, spent), max_first)
    shares = [f"{name} {100 * s / total:.0f} %" for name, s in spent.items() if s > 0]
    return f"{what} ({1e3 * total / repeat:.3f} ms): {', '.join(shares)}"


def max_first(a: tuple[float, dict[str, float]], b: tuple[float, dict[str, float]]) -> tuple[float, dict[str, float]]:
    return max(a, b, key=lambda pair: pair[0])


def require(comm: MPI.Intracomm, what: str, right: bool) -> None:
    """Raises VerificationError on all ranks where one of them has a wrong answer. Collective."""
    if not comm.allreduce(right, MPI.LAND):
        raise VerificationError(f"{what}: something else arrives than the right answer")
