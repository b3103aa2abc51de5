"""Reductions among messages: MPI_Allreduce, and the messages of an algorithm of ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.recognition.exchange import DTYPE_BYTES, Exchange, element_bytes, expected_of
from tradewind.recognition.streams import Stream, code_of, collective_peer

SMALL = 1024
"""Bytes up to which messages among ranks that are all alike are a reduction rather than a halo or a transposition."""
MAX_RADIX = 16


def calls_of_all(stream: Stream, cursors: Sequence[int]) -> Iterator[Exchange]:
    """Yield the MPI_Allreduce that all ranks call next."""
    heads = {sent.codes[at] if at < len(sent) else None for sent, at in zip(stream.sent, cursors, strict=True)}
    if len(heads) != 1 or len(stream.groups) != 1:
        return
    sent, at = stream.sent[0], cursors[0]
    if at >= len(sent) or int(sent.peers[at]) != collective_peer("allreduce"):
        return
    size = int(sent.sizes[at])
    element = element_bytes([size])
    if element is None:
        return
    count = size // element
    table = {"allreduce": count, "dtype": DTYPE_BYTES[element]}
    expected = [[[code_of(collective_peer("allreduce"), size)]]] * len(stream.sent)
    yield Exchange("allreduce", table, f"MPI_Allreduce of {size} bytes", expected)


def algorithms(stream: Stream, cursors: Sequence[int], names: Sequence[str]) -> Iterator[Exchange]:
    """Yield reductions by messages, by one of these algorithms, with which what all ranks send next may begin."""
    ranks = len(stream.sent)
    sent, at = stream.sent[0], cursors[0]
    if ranks < 2 or at >= len(sent) or int(sent.peers[at]) < 0:
        return
    size = int(sent.sizes[at])
    element = element_bytes([size])
    if element is None:
        return
    numbers = size // element
    for count in (numbers, 2 * numbers, ranks * numbers):
        for name in names:
            made = _made(ranks, count, name, element)
            if made is not None and made[0] == numbers:
                yield made[1]


def recursive(ranks: int) -> list[str]:
    """Return the algorithms by which all messages are alike, as those of a halo or of a transposition may be."""
    return [*(f"recursive-{k}" for k in range(2, min(ranks, MAX_RADIX) + 1)), "ring"]


def unmistakable() -> list[str]:
    """Return the algorithms whose messages no other pattern has."""
    names = [each.name for each in _core.algorithms() if each.pattern == "allreduce" and not each.has_radix]
    return [name for name in names if name != "ring"]


@lru_cache(maxsize=256)
def _made(ranks: int, count: int, name: str, element: int) -> tuple[int, Exchange] | None:
    """Return what the first rank sends first, in numbers, and the reduction; None where these ranks do not have it."""
    try:
        schedule = _core.make_schedule(_core.AllReduce(ranks, count), name)
    except InputError:
        return None
    first = [m.count for stage in range(schedule.stages) for m in schedule.sends(0, stage) if m.count]
    if not first:
        return None
    table = {"allreduce": count, "algorithm": name, "dtype": DTYPE_BYTES[element]}
    about = f"allreduce of {count * element} bytes by {name}"
    return first[0], Exchange("allreduce", table, about, expected_of(schedule, element))
