"""Loops in a sequence: the time step that is repeated, and loops within it, as those of a solver."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEWEST = 3
"""Repetitions within a step from which on they are a loop of their own."""
WHOLE = 1000
"""Length up to which a sequence, of which no loop holds half the weight, is taken as it is."""
LONGEST = 4096
"""The longest body of a loop that is looked for."""


@dataclass
class Leaf:
    """One place of a loop's body: the numbers of what stands there, in each repetition."""

    places: list[int]


@dataclass
class Loop:
    """A body that is repeated; `repeats`: the number of repetitions, each time that the loop itself comes."""

    body: list[Leaf | Loop]
    repeats: list[int] = field(default_factory=list)

    @property
    def mean(self) -> float:
        """Repetitions, in the mean."""
        return sum(self.repeats) / len(self.repeats)

    def leaves(self) -> Iterator[Leaf]:
        """Yield the places in order."""
        for each in self.body:
            if isinstance(each, Leaf):
                yield each
            else:
                yield from each.leaves()


def main_loop(sequence: Sequence[Hashable], weights: Sequence[int]) -> tuple[Loop, int, int]:
    """Return the loop that holds the most of a sequence by weight, with its loops inside, and its begin and end there.

    Without a loop it is the whole sequence, once.
    """
    numbers, weighed = _numbered(sequence), np.asarray(weights, np.int64)
    begin, period, repeats, covered = _longest_run(numbers, weighed)
    # A loop inside may come a different number of times in each step: then steps are alike once it is one thing.
    inner, tokens = _collapsed(numbers, [Leaf([i]) for i in range(len(numbers))])
    sums = [int(weighed[_places(each)].sum()) for each in tokens]
    first, length, times, held = _longest_run(inner, np.array(sums, np.int64))
    best = max(covered, held)
    if best == 0 or (2 * best < weighed.sum() and len(numbers) <= WHOLE):
        return Loop(_nested(numbers, [Leaf([i]) for i in range(len(numbers))]), [1]), 0, len(numbers)
    # The heaviest repetition is what a loop does not spare.
    heaviest = max(sum(sums[first + r * length : first + (r + 1) * length]) for r in range(times))
    if held - heaviest > covered - covered // repeats:
        inside = tokens[first : first + length * times]
        start = _places(inside[0])[0]
        size = sum(len(_places(each)) for each in inside)
        return Loop(_merged(inside, length, times), [times]), start, start + size
    columns = [Leaf([begin + p + r * period for r in range(repeats)]) for p in range(period)]
    body = _nested(numbers[begin : begin + period], columns)
    return Loop(body, [repeats]), begin, begin + period * repeats


def _numbered(sequence: Sequence[Hashable]) -> NDArray[np.int64]:
    known: dict[Hashable, int] = {}
    return np.array([known.setdefault(each, len(known)) for each in sequence], np.int64)


def _longest_run(numbers: NDArray[np.int64], weights: NDArray[np.int64]) -> tuple[int, int, int, int]:
    """Return begin, period, repetitions and weight of the run whose repetitions after the first weigh most; of equal
    ones that of the shortest period. Without one the whole, once, weighs nothing."""
    best, most = (0, len(numbers), 1, 0), 0
    sums = np.concatenate([[0], np.cumsum(weights)])
    for period in range(1, min(len(numbers) // 2, LONGEST) + 1):
        begins, lengths = _same(numbers, period)
        repeats = lengths // period
        again = np.where(repeats > 1, sums[begins + repeats * period] - sums[begins + period], 0)
        if len(again) and again.max() > most:
            at, most = int(np.argmax(again)), int(again.max())
            begin, times = int(begins[at]), int(repeats[at])
            best = (begin, period, times, int(sums[begin + times * period] - sums[begin]))
        if most + sums[-1] // 2 > sums[-1] and best[3] == sums[-1]:
            break
    return best


def _same(numbers: NDArray[np.int64], period: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return begins and lengths of what recurs after a period, the first time included."""
    same = numbers[period:] == numbers[:-period]
    edges = np.flatnonzero(np.diff(np.concatenate([[False], same, [False]]).astype(np.int8)))
    return edges[::2], edges[1::2] - edges[::2] + period


def _nested(numbers: NDArray[np.int64], leaves: list[Leaf]) -> list[Leaf | Loop]:
    """Return a body with loops in place of what comes several times in a row."""
    begin, period, repeats, _ = _longest_run(numbers, np.ones(len(numbers), np.int64))
    if repeats < FEWEST:
        return list(leaves)
    end = begin + period * repeats
    columns = [
        Leaf([place for r in range(repeats) for place in leaves[begin + p + r * period].places]) for p in range(period)
    ]
    times = len(leaves[begin].places)
    inside = Loop(_nested(numbers[begin : begin + period], columns), [repeats] * times)
    return [
        *_nested(numbers[:begin], leaves[:begin]),
        inside,
        *_nested(numbers[end:], leaves[end:]),
    ]


Token = Leaf | Loop


def _collapsed(numbers: NDArray[np.int64], tokens: Sequence[Token]) -> tuple[NDArray[np.int64], list[Token]]:
    """Return the sequence with each loop of the body that repeats most often in a row as one token, however often."""
    best: tuple[int, tuple[int, ...]] = (0, ())
    for period in range(1, min(len(numbers) // 2, 64) + 1):
        runs = _runs(numbers, period)
        if not runs:
            continue
        bodies: Counter[tuple[int, ...]] = Counter()
        for begin, repeats in runs:
            bodies[tuple(numbers[begin : begin + period].tolist())] += period * (repeats - 1)
        body, saved = bodies.most_common(1)[0]
        if saved > best[0]:
            best = (saved, body)
    if not best[0]:
        return numbers, list(tokens)
    body, made, kept = best[1], [], []
    new, at = int(numbers.max()) + 1, 0
    period = len(body)
    while at < len(numbers):
        repeats = 0
        while tuple(numbers[at + repeats * period : at + (repeats + 1) * period].tolist()) == body:
            repeats += 1
        if repeats == 0:
            made.append(int(numbers[at]))
            kept.append(tokens[at])
            at += 1
            continue
        inside: list[Token] = list(_merged(tokens[at:], period, repeats))
        kept.append(Loop(inside, [repeats]))
        made.append(new)
        at += period * repeats
    return np.array(made, np.int64), kept


def _runs(numbers: NDArray[np.int64], period: int) -> list[tuple[int, int]]:
    """Return begin and repetitions of all that recurs after a period."""
    runs = zip(*_same(numbers, period), strict=True)
    return [(int(begin), int(length) // period) for begin, length in runs if length // period > 1]


def _merged(tokens: Sequence[Token], period: int, repeats: int) -> list[Token]:
    """Return the body of a loop over tokens: each place with those of all repetitions."""
    body: list[Token] = []
    for p in range(period):
        same = [tokens[p + r * period] for r in range(repeats)]
        body.append(_union(same))
    return body


def _union(tokens: Sequence[Token]) -> Token:
    leaves = [each for each in tokens if isinstance(each, Leaf)]
    if leaves:
        return Leaf([place for each in leaves for place in each.places])
    loops = [each for each in tokens if isinstance(each, Loop)]
    body = [_union([loop.body[p] for loop in loops]) for p in range(len(loops[0].body))]
    return Loop(body, [n for loop in loops for n in loop.repeats])


def _places(token: Token) -> list[int]:
    """Return the places of a token, in order."""
    if isinstance(token, Leaf):
        return token.places
    return sorted(place for each in token.body for place in _places(each))
