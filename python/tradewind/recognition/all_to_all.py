"""Transpositions among messages: every rank of a row, of a column, or of all ranks sends to every other one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tradewind import _core
from tradewind.base.extents import extents_text
from tradewind.layout.names import blocks
from tradewind.recognition.box_sizes import UNNAMED, Known
from tradewind.recognition.exchange import DTYPE_BYTES, Exchange, divisors, element_bytes, expected_of
from tradewind.recognition.streams import Stream
from tradewind.workload.box_halo import even_parts

ROWS, COLUMNS = "xy-zy", "zy-zx"
"""Transpositions within rows of ranks, whose first coordinate varies, and within columns."""
ANY_GRID = "the grid is not in the messages, but the number of its points is: the one nearest to a cube was taken"
TOO_MANY = 1 << 14
"""Ranks of a group of which all messages are looked at."""


@dataclass(frozen=True)
class _Matrix:
    """The messages within one group: [sender][receiver] numbers, none to itself."""

    numbers: Mapping[tuple[int, int], int]
    members: int

    def source_shares(self) -> list[Fraction] | None:
        """Return how much each sender sends to one receiver, over the first; None where it depends on the receiver."""
        return self._shares(lambda i, k: self.numbers[i, k])

    def target_shares(self) -> list[Fraction] | None:
        """Return how much each receiver receives of one sender, over the first."""
        return self._shares(lambda i, k: self.numbers[k, i])

    def _shares(self, number: Callable[[int, int], int]) -> list[Fraction] | None:
        found = [Fraction(1)]
        for i in range(1, self.members):
            ratios = {Fraction(number(i, k), number(0, k)) for k in range(self.members) if k not in (0, i)}
            if len(ratios) != 1:
                return None
            found += ratios
        return found


def transpositions(stream: Stream, cursors: Sequence[int], known: Known) -> Iterator[Exchange]:
    """Yield the transpositions with which what all ranks send from their cursors on may begin."""
    ranks = len(stream.sent)
    for parts in (each for each in range(ranks, 1, -1) if ranks % each == 0):
        if parts > TOO_MANY:
            continue
        for rows in (True, False):
            if parts == ranks and not rows:
                continue
            split = (parts, ranks // parts) if rows else (ranks // parts, parts)
            numbers = _numbers(stream, cursors, split, rows)
            if numbers is not None:
                yield from _fitted(numbers, split, rows, known)


def _group(rank: int, split: tuple[int, int], rows: bool) -> range:
    """Return the ranks of the row or column of a rank."""
    width = split[0]
    return (
        range(rank - rank % width, rank - rank % width + width)
        if rows
        else range(rank % width, math.prod(split), width)
    )


def _numbers(
    stream: Stream, cursors: Sequence[int], split: tuple[int, int], rows: bool
) -> list[Mapping[int, int]] | None:
    """Return the bytes that each rank sends next to each other rank of its group; None where it sends elsewhere."""
    found: list[Mapping[int, int]] = []
    for rank, (sent, at) in enumerate(zip(stream.sent, cursors, strict=True)):
        group = _group(rank, split, rows)
        end = at + len(group) - 1
        peers = sent.peers[at:end].tolist()
        if end > len(sent) or len(set(peers)) < len(peers) or any(p not in group or p == rank for p in peers):
            return None
        found.append(dict(zip(peers, sent.sizes[at:end].tolist(), strict=True)))
    return found


def _fitted(
    numbers: Sequence[Mapping[int, int]], split: tuple[int, int], rows: bool, known: Known
) -> Iterator[Exchange]:
    element = element_bytes(size for each in numbers for size in each.values())
    if element is None:
        return
    grids = _grids(numbers, split, rows, element, known)
    path = ROWS if rows else COLUMNS
    for grid, fields, notes in grids:
        before, after = path.split("-")
        if any(p > grid["xyz".index(a)] for name in (before, after) for a, p in zip(name, split, strict=True)):
            continue
        core = _core.Grid(*grid)
        pattern = _core.Transpose(blocks(core, split, before), blocks(core, split, after))
        expected = expected_of(_core.make_schedule(pattern, "burst"), fields * element)
        if all(
            stage == sorted(peer * (1 << 44) + size for peer, size in each.items())
            for (stage,), each in zip(expected, numbers, strict=True)
        ):
            table: dict[str, object] = {
                "path": path,
                "grid": extents_text(grid),
                "split": extents_text(split),
                "algorithm": "burst",
            }
            table |= {"fields": fields, "dtype": DTYPE_BYTES[element]}
            where = "all ranks" if math.prod(split) == split[not rows] else "rows" if rows else "columns"
            about = f"transposition within {where} of {extents_text(split)} ranks; grid {extents_text(grid)}"
            about += f", {fields} fields" if fields > 1 else ""
            yield Exchange("transposition", table, about, expected, notes)
            return


Grid = tuple[int, int, int]


def _grids(
    numbers: Sequence[Mapping[int, int]], split: tuple[int, int], rows: bool, element: int, known: Known
) -> Iterator[tuple[Grid, int, tuple[str, ...]]]:
    """Yield grids with fields that may have these messages."""
    total = _total(numbers, split, rows, element)
    if known.grid is not None:
        points = math.prod(known.grid)
        for guess in (total, *_nearby(numbers, element, known.grid, split, rows)):
            if guess is not None and guess % points == 0:
                yield known.grid, guess // points, ()
        free = _grids(numbers, split, rows, element, Known(parts=known.parts))
        yield from ((grid, fields, (*notes, UNNAMED)) for grid, fields, notes in free)
        return
    if total is None:
        yield from _of_pairs(numbers, split, rows, element)
        return
    for x, y, z in known.parts:
        nx, ny = sum(x), sum(y)
        if len(z) == 1 and (len(x), len(y)) == split and total % (nx * ny) == 0:
            yield (nx, ny, total // (nx * ny)), 1, ()
    if len({size for each in numbers for size in each.values()}) == 1:
        yield from _even(total, split, rows)
        return
    yield from _uneven(numbers, split, rows, element, total)


def _nearby(
    numbers: Sequence[Mapping[int, int]], element: int, grid: Grid, split: tuple[int, int], rows: bool
) -> Iterator[int]:
    """Yield the points of a known grid times the fields that the first message allows."""
    before, after = (ROWS if rows else COLUMNS).split("-")
    core = _core.Grid(*grid)
    pattern = _core.Transpose(blocks(core, split, before), blocks(core, split, after))
    message = next(iter(_core.make_schedule(pattern, "burst").sends(0, 0)), None)
    if message is not None and message.count and message.peer in numbers[0]:
        fields, rest = divmod(numbers[0][message.peer] // element, message.count)
        if rest == 0:
            yield fields * math.prod(grid)


def _matrix(numbers: Sequence[Mapping[int, int]], group: Sequence[int], element: int) -> _Matrix:
    return _Matrix(
        {(i, k): numbers[a][b] // element for i, a in enumerate(group) for k, b in enumerate(group) if a != b},
        len(group),
    )


def _total(numbers: Sequence[Mapping[int, int]], split: tuple[int, int], rows: bool, element: int) -> int | None:
    """Return the numbers of all points and fields: what is sent, and what each rank keeps; None if that is open."""
    kept = Fraction(0)
    for first in range(math.prod(split)):
        group = _group(first, split, rows)
        if group[0] != first:
            continue
        matrix = _matrix(numbers, group, element)
        if matrix.members == 2:
            if matrix.numbers[0, 1] != matrix.numbers[1, 0]:
                return None
            kept += 2 * matrix.numbers[0, 1]
            continue
        for i in range(matrix.members):
            k, other = (i + 1) % matrix.members, (i + 2) % matrix.members
            kept += Fraction(matrix.numbers[i, k] * matrix.numbers[other, i], matrix.numbers[other, k])
    if kept.denominator != 1:
        return None
    return int(kept) + sum(size // element for each in numbers for size in each.values())


def _even(total: int, split: tuple[int, int], rows: bool) -> Iterator[tuple[Grid, int, tuple[str, ...]]]:
    """Yield the grid nearest to a cube that all layouts divide evenly."""
    px, py = split
    step_x, step_y, step_z = (math.lcm(px, 1 if rows else py), py, px)
    if not rows:
        step_x = math.lcm(px, py)
    rest, remainder = divmod(total, step_x * step_y * step_z)
    if remainder:
        return
    best = min(
        ((step_x * a, step_y * b, step_z * (rest // a // b)) for a in divisors(rest) for b in divisors(rest // a)),
        key=lambda grid: max(grid) / min(grid),
    )
    yield best, 1, (ANY_GRID,)


def _uneven(
    numbers: Sequence[Mapping[int, int]], split: tuple[int, int], rows: bool, element: int, total: int
) -> Iterator[tuple[Grid, int, tuple[str, ...]]]:
    """Yield grids whose uneven parts have the shares of the messages, those nearest to a cube first."""
    group = _group(0, split, rows)
    matrix = _matrix(numbers, group, element)
    sources, targets = matrix.source_shares(), matrix.target_shares()
    if matrix.members == 2 or sources is None or targets is None:
        return
    # How much each group moves: the parts of the direction that stays divided.
    sums = []
    for first in range(math.prod(split)):
        members = _group(first, split, rows)
        if members[0] == first:
            sums.append(sum(numbers[members[0]].values()))
    shares = [Fraction(each, sums[0]) for each in sums]
    axes = (0, 2, 1) if rows else (1, 0, 2)  # divided before, after, and throughout
    fitting = [
        [n for n in divisors(total) if n >= len(wanted) and _has_shares(n, wanted)]
        for wanted in (sources, targets, shares)
    ]
    found = []
    for a in fitting[0]:
        for b in fitting[1]:
            for c in fitting[2]:
                if total % (a * b * c) == 0:
                    grid = [0, 0, 0]
                    for axis, points in zip(axes, (a, b, c), strict=True):
                        grid[axis] = points
                    found.append(((grid[0], grid[1], grid[2]), total // (a * b * c)))
    found.sort(key=lambda each: (each[1], max(each[0]) / min(each[0])))
    for likely, fields in found[:100]:
        yield likely, fields, ()


def _has_shares(points: int, shares: Sequence[Fraction]) -> bool:
    parts = even_parts(points, len(shares))
    return all(Fraction(part, parts[0]) == share for part, share in zip(parts, shares, strict=True))


def _of_pairs(
    numbers: Sequence[Mapping[int, int]], split: tuple[int, int], rows: bool, element: int
) -> Iterator[tuple[Grid, int, tuple[str, ...]]]:
    """Yield grids for groups of two whose messages differ by the point that one part has more than the other."""
    others, parts, longer = [], set(), set()
    for first in range(math.prod(split)):
        group = _group(first, split, rows)
        if group[0] == first:
            there, back = (numbers[a][b] // element for a, b in ((group[0], group[1]), (group[1], group[0])))
            more = abs(there - back)
            if more == 0 or min(there, back) % more:
                return
            others.append(2 * more)  # points of the other two directions in this group
            parts.add(min(there, back) // more)
            longer.add(there > back)
    if len(parts) > 1 or len(longer) > 1:
        return
    before, after, stays = (0, 2, 1) if rows else (1, 0, 2)
    axis, even = (before, after) if longer == {True} else (after, before)
    common = math.gcd(*others)
    for side in sorted(divisors(common), key=lambda n: abs(math.log(n * n / sum(others)))):
        if side % 2 == 0:
            grid = [0, 0, 0]
            grid[axis], grid[even], grid[stays] = 2 * parts.copy().pop() + 1, side, sum(others) // side
            yield (grid[0], grid[1], grid[2]), 1, (ANY_GRID,)
