"""The algorithms that are worth trying for an exchange, with radices that make sense."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.method.method import NODE_FAMILIES
from tradewind.workload.exchange import Exchange

MAX_RECURSIVE = 32
"""Up to this radix every recursive-k and recursive-near-k is tried: as far as Zheng & Marguinaud (2018) went in
Fig. 10c."""


@dataclass(frozen=True)
class Candidate:
    """An algorithm to try, and the family that it belongs to: ring-4 and ring-8 are of the family ring-k."""

    algorithm: str
    family: str


@dataclass(frozen=True)
class LeftOut:
    """An algorithm that is not tried, or not to its end."""

    algorithm: str
    reason: str
    loggp_s: float | None = None
    """Its time without congestion, where that was found out."""


def candidates(
    exchange: Exchange, names: Sequence[str] | None = None, ranks_per_node: int = 1
) -> tuple[list[Candidate], list[LeftOut]]:
    """Return the algorithms to try, and those that this exchange does not allow.

    `names`: algorithms ("ring-4") and families ("ring-k"); None: all families of the pattern. Of a family these
    radices are tried: recursive-k and recursive-near-k all up to 32, two-level-k and leaders-k the ranks per node (none
    where that is 1), others powers of two. Raises InputError where a name is unknown or an algorithm that was named is
    not allowed.
    """
    families = {entry.name: entry for entry in _core.algorithms() if entry.pattern == exchange.core_pattern}
    chosen: list[Candidate] = []
    left_out: list[LeftOut] = []
    for name in dict.fromkeys(names or families):
        if name not in families or not families[name].has_radix:
            members = [name]
        else:
            members = [f"{name[:-1]}{radix}" for radix in _radices(exchange, families[name], ranks_per_node)]
            if not members:
                left_out.append(LeftOut(name, "no radix of it is worth trying: one rank per node, or too few ranks"))
        for member in members:
            reason = _refusal(exchange, member)
            if reason is None:
                chosen.append(Candidate(member, name if name in families else f"{member.rpartition('-')[0]}-k"))
            elif names is not None:
                raise InputError(reason)
            else:
                left_out.append(LeftOut(member, reason))
    return list(dict.fromkeys(chosen)), left_out


def _refusal(exchange: Exchange, algorithm: str) -> str | None:
    try:
        replace(exchange, algorithm=algorithm)
    except InputError as error:
        return str(error)
    return None


def _radices(exchange: Exchange, entry: _core.AlgorithmEntry, ranks_per_node: int) -> Iterable[int]:
    ranges = [entry.radices(schedule.pattern) for schedule in exchange.schedules().values()]
    minimum, maximum = max(r[0] for r in ranges), min(r[1] for r in ranges)
    maximum = min(maximum, max(minimum, exchange.ranks))  # one rank allows any radix
    if entry.name in NODE_FAMILIES:
        return [ranks_per_node] if 1 < ranks_per_node <= maximum else []
    if entry.name == "recursive-k":
        return range(minimum, min(maximum, MAX_RECURSIVE) + 1)
    if entry.name == "recursive-near-k":  # where nothing folds it is recursive-k
        return [k for k in range(minimum, min(maximum, MAX_RECURSIVE) + 1) if not _is_power(exchange.ranks, k)]
    return _powers_of_two(minimum, maximum)


def _is_power(number: int, of: int) -> bool:
    while number % of == 0:
        number //= of
    return number == 1


def _powers_of_two(minimum: int, maximum: int) -> Iterator[int]:
    """1, 2, 4, ...; not the largest radix if there are others: it does everything at once, which has its own name."""
    power = 1
    while power <= maximum:
        if power >= minimum and (power < maximum or maximum == minimum):
            yield power
        power *= 2
