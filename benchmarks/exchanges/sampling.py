"""Samples of contenders in turn, so that whatever else the machine does falls on all of them alike."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Sequence
from functools import partial

from tradewind import _mpi
from tradewind.base.errors import VerificationError
from tradewind.mpi import MPI, Plan

Call = Callable[[], object]
Contender = Callable[[], float]
"""Takes a sample: seconds a call on this rank."""
Samples = dict[str, list[float]]
GIVE_UP = 20
"""Times as slow as what it stands beside."""


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

    Each round has another order, the same on all ranks: what one leaves in caches and queues counts for the next.
    """
    names = list(contenders)
    samples: Samples = {name: [] for name in names}
    for number in range(-warmup, rounds):
        for name in random.Random(number).sample(names, len(names)):
            seconds = comm.allreduce(contenders[name](), MPI.MAX)
            if number >= 0:
                samples[name].append(seconds)
    return samples


def beside(
    comm: MPI.Intracomm, names: tuple[str, str], contenders: tuple[Contender, Contender], rounds: int
) -> tuple[str, float]:
    """A line about the first of two, and its median. It is given up where it is far slower. Collective."""
    first_s, other_s = comm.allreduce((contenders[0](), contenders[1]()), larger_of_each)
    if first_s > GIVE_UP * other_s:  # once more: something else may have run
        first_s = min(first_s, comm.allreduce(contenders[0](), MPI.MAX))
    if first_s > GIVE_UP * other_s:
        return f"  {names[0]}: given up, {first_s / other_s:.0f} x {names[1]}", first_s
    samples = contest(comm, dict(zip(names, contenders, strict=True)), rounds)
    return line(f"  {names[0]}", samples, *names), statistics.median(samples[names[0]])


def larger_of_each(a: tuple[float, float], b: tuple[float, float]) -> tuple[float, float]:
    return max(a[0], b[0]), max(a[1], b[1])


def best(samples: Samples, names: Sequence[str]) -> str:
    """The one with the minimum median."""
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
    return f"median {1e3 * statistics.median(samples):.3f} ms, minimum {1e3 * min(samples):.3f} ms"


def _goal(value: float, at_most: float | None, at_least: float | None) -> str:
    if at_most is not None:
        return f"; goal: at most {at_most:g}" + (" (missed)" if value > at_most else "")
    if at_least is not None:
        return f"; goal: at least {at_least:g}" + (" (missed)" if value < at_least else "")
    return ""


def parts(comm: MPI.Intracomm, what: str, plans: Sequence[Plan], call: Call, repeat: int) -> str:
    """Where the time of plans that record goes, as shares of the rank that spends the most; the rest is Python's."""
    calls(comm, call, repeat)()
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
    """Raises VerificationError on all ranks where one of them has a wrong result. Collective."""
    if not comm.allreduce(right, MPI.LAND):
        raise VerificationError(f"{what}: something else arrives than the expected result")
