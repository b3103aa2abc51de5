"""Which grid and width a halo has, by the sizes of its messages.

Sizes alone leave freedoms: `levels`, numbers that travel per point and that no rank divides, may be levels or fields,
and twice the points in each direction with twice the width are the same messages. A grid that is known, by another
exchange or by the user, is tried first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from tradewind.recognition.exchange import divisors, largest_prime
from tradewind.workload.box_halo import ALL_AROUND, BoxHalo, Direction, Parts, even_parts

WIDEST = 64
"""Widths that are tried."""
GUESSED = "the width relative to the grid is not in the messages: the roundest grid was taken; name yours with --grid"
UNNAMED = "the grid of --grid does not have these messages: another one was taken"
UNSEEN = "points along {} are not in the messages: as many as along the others were taken; name yours with --grid"


@dataclass
class Known:
    """Grids that are known."""

    grid: tuple[int, int, int] | None = None
    """That of the user."""
    parts: list[Parts] = field(default_factory=list)
    """Those of exchanges that were recognised before."""

    def of(self, split: tuple[int, int, int]) -> Iterator[Parts]:
        """Yield the parts of known grids for ranks along x, y, z."""
        if self.grid is not None:
            x, y, z = (even_parts(n, p) if p > 1 else (n,) for n, p in zip(self.grid, split, strict=True))
            yield x, y, ((1,) if split[2] == 1 else z)
            return
        for parts in self.parts:
            if tuple(map(len, parts)) == split:
                yield parts


@dataclass(frozen=True)
class Fit:
    """A grid that gives all sizes."""

    parts: Parts
    width: int
    levels: int
    notes: tuple[str, ...] = ()

    @property
    def is_even(self) -> bool:
        """Whether points are divided as a program file does it: the first parts have one more where it does not
        divide evenly."""
        return all(even_parts(sum(parts), len(parts)) == parts for parts in self.parts)


@dataclass(frozen=True)
class Sizes:
    """The sizes of an exchange of boxes, of which `box` has the ranks and neighbors, but not yet the points."""

    box: BoxHalo
    sizes: Sequence[Mapping[Direction, int]]
    """[rank]: bytes by direction."""
    element: int
    sweep: bool

    @property
    def axes(self) -> list[int]:
        """The axes that ranks divide."""
        return [axis for axis in range(3) if self.box.split[axis] > 1]

    @property
    def moves(self) -> list[int]:
        """The axes along which messages go."""
        return [axis for axis in self.axes if any(d[axis] for d in self.box.toward)]

    @property
    def goes_across(self) -> bool:
        """Whether some messages go along several axes at once."""
        return any(sum(map(abs, d)) > 1 for d in self.box.toward)

    def all_of(self, wanted: Callable[[Direction], bool]) -> Iterator[tuple[int, int]]:
        """Yield rank and numbers, elements of a message, for all directions of a kind."""
        for rank, sizes in enumerate(self.sizes):
            for direction, size in sizes.items():
                if wanted(direction):
                    yield rank, size // self.element

    def first(self, wanted: Callable[[Direction], bool]) -> int | None:
        """Return the numbers of the first message of a kind."""
        return next((numbers for _, numbers in self.all_of(wanted)), None)

    def is_fit(self, fit: Fit) -> bool:
        """Return whether a grid gives all sizes to the byte."""
        if any(min(parts) < fit.width for parts, split in zip(fit.parts, self.box.split, strict=True) if split > 1):
            return False
        if self.goes_across and all(set(fit.parts[axis]) == {fit.width} for axis in self.moves):
            return False  # messages to all that are alike: an all-to-all
        box = replace(self.box, parts=fit.parts, width=fit.width, sweep=self.sweep)
        for rank, sizes in enumerate(self.sizes):
            made = {ALL_AROUND[n]: points for stage in box.sends(rank) for _, points, n in stage}
            if {d: points * fit.levels * self.element for d, points in made.items()} != sizes:
                return False
        return True


def fitting(sizes: Sizes, known: Known) -> Fit | None:
    """Return the grid and the width of messages; None where no grid gives all of them."""
    for parts in known.of(sizes.box.split):
        for fit in _with_parts(sizes, parts, known.grid):
            if sizes.is_fit(fit):
                return fit
    found = None
    for fit in _swept(sizes) if sizes.sweep else _direct(sizes):
        if sizes.is_fit(fit) and (found is None or fit.is_even):
            found = fit
            if fit.is_even:
                break
    if found is None or known.grid is None:
        return found
    return replace(found, notes=(*found.notes, UNNAMED))


def _with_parts(sizes: Sizes, parts: Parts, grid: tuple[int, int, int] | None) -> Iterator[Fit]:
    """Yield fits of a known grid; those whose levels are a multiple of the grid's first."""
    rank = next(rank for rank, each in enumerate(sizes.sizes) if each)
    found = []
    for width in range(1, min(WIDEST, *(min(p) for p in parts if len(p) > 1)) + 1):
        box = replace(sizes.box, parts=parts, width=width, sweep=sizes.sweep)
        _, points, number = next(message for stage in box.sends(rank) for message in stage)
        size = sizes.sizes[rank].get(ALL_AROUND[number])
        if size is not None and size % (points * sizes.element) == 0:
            found.append(Fit(parts, width, size // (points * sizes.element)))
    nz = grid[2] if grid is not None and sizes.box.split[2] == 1 else 1
    yield from sorted(found, key=lambda fit: fit.levels % nz != 0)


def _parts_of(sizes: Sizes, by_axis: Mapping[int, Sequence[int]]) -> Parts:
    x, y, z = (tuple(by_axis.get(axis, (1,) * sizes.box.split[axis])) for axis in range(3))
    return x, y, z


def _ratios(sizes: Sizes, axis: int, over: Callable[[Direction], bool], divisor: int) -> list[Fraction] | None:
    """Return numbers of messages over a divisor for each coordinate along an axis; None where one is missing."""
    found: dict[int, Fraction] = {}
    for rank, numbers in sizes.all_of(over):
        found.setdefault(sizes.box.place(rank)[axis], Fraction(numbers, divisor))
    parts = sizes.box.split[axis]
    return [found[at] for at in range(parts)] if len(found) == parts else None


def _moved(direction: Direction, axes: Sequence[int]) -> bool:
    """Whether a direction goes along exactly these axes."""
    return all((direction[axis] != 0) == (axis in axes) for axis in range(3))


def _direct(sizes: Sizes) -> Iterator[Fit]:
    """Yield fits of messages that are all sent at once."""
    moves = sizes.moves
    others = [axis for axis in sizes.axes if axis not in moves]
    if len(moves) == 1:
        yield from _along_one(sizes, moves[0], others)
        return
    corner = sizes.first(lambda d: _moved(d, moves))
    if len(moves) == 3 and corner is None and sizes.first(lambda d: _moved(d, (0, 1))) is None:
        yield from _faces_of_three(sizes)
        return
    if corner is not None:
        ratios = {a: _ratios(sizes, a, _all_but(moves, a), corner) for a in moves}
        yield from _widths(sizes, ratios, corner, len(moves))
        return
    if len(moves) == 2:  # faces alone: the width is 1
        for levels in divisors(math.gcd(*(n for _, n in sizes.all_of(lambda d: True))), 1 << 16):
            by_axis = {a: _ratios(sizes, a, _all_but(moves, a), levels) for a in moves}
            yield from _widths(sizes, by_axis, levels, 0)
        return
    yield from _faces_and_edges(sizes)


def _all_but(moves: Sequence[int], axis: int) -> Callable[[Direction], bool]:
    rest = [each for each in moves if each != axis]
    return lambda d: _moved(d, rest)


def _widths(sizes: Sizes, ratios: Mapping[int, Sequence[Fraction] | None], numbers: int, power: int) -> Iterator[Fit]:
    """Yield fits for points over the width: the smallest width with which all are whole. `numbers`: those of the
    message that goes along `power` axes at once."""
    given = {axis: each for axis, each in ratios.items() if each is not None}
    if len(given) < len(ratios):
        return
    for width in range(1, WIDEST + 1):
        points = {axis: [ratio * width for ratio in each] for axis, each in given.items()}
        if numbers % width**power == 0 and all(p.denominator == 1 for each in points.values() for p in each):
            whole = {axis: [int(p) for p in each] for axis, each in points.items()}
            yield Fit(_parts_of(sizes, whole), width, numbers // width**power)
            return


def _along_one(sizes: Sizes, axis: int, others: Sequence[int]) -> Iterator[Fit]:
    """Yield fits of messages along one axis, whose points no message has."""
    numbers = sizes.first(lambda d: d[axis] != 0)
    assert numbers is not None
    letters = "xyz"
    by_axis: dict[int, Sequence[int]] = {}
    levels = numbers
    if others:
        ratios = _ratios(sizes, others[0], lambda d: d[axis] != 0, 1)
        if ratios is None:
            return
        by_axis[others[0]], levels = [int(each) for each in ratios], 1
    side = max(1, numbers if others else _near_root(numbers))
    if not others:
        levels = numbers
    by_axis[axis] = [side] * sizes.box.split[axis]
    yield Fit(_parts_of(sizes, by_axis), 1, levels, (UNSEEN.format(letters[axis]),))


def _near_root(number: int) -> int:
    """Return the divisor of a number that is nearest to its root."""
    return min(divisors(number), key=lambda each: abs(math.log(each * each / number)))


def _faces_of_three(sizes: Sizes) -> Iterator[Fit]:
    """Yield fits of the six faces of boxes: the product of width and levels must make all three sides whole."""
    rank = next((r for r, each in enumerate(sizes.sizes) if all(any(d[a] for d in each) for a in range(3))), None)
    if rank is None:
        return
    faces = [next(s // sizes.element for d, s in sizes.sizes[rank].items() if d[a]) for a in range(3)]
    place = sizes.box.place(rank)
    for levels in divisors(math.gcd(*(n for _, n in sizes.all_of(lambda d: True)))):
        sides = []
        for axis in range(3):
            across = math.prod(faces[a] for a in range(3) if a != axis)
            square, rest = divmod(across, faces[axis] * levels)
            side = math.isqrt(square)
            if rest or side * side != square or side == 0:
                break
            sides.append(side)
        if len(sides) < 3:
            continue
        by_axis: dict[int, list[int]] = {}
        for axis in range(3):
            face = next(a for a in range(3) if a != axis)
            third = 3 - axis - face
            found: dict[int, Fraction] = {place[axis]: Fraction(sides[axis])}
            for r, numbers in sizes.all_of(lambda d, face=face: d[face] != 0):  # type: ignore[misc]
                if sizes.box.place(r)[third] == place[third]:
                    found.setdefault(sizes.box.place(r)[axis], Fraction(numbers, levels * sides[third]))
            parts = sizes.box.split[axis]
            if len(found) < parts or any(each.denominator != 1 for each in found.values()):
                break
            by_axis[axis] = [int(found[at]) for at in range(parts)]
        if len(by_axis) == 3:
            yield Fit(_parts_of(sizes, by_axis), 1, levels)


def _faces_and_edges(sizes: Sizes) -> Iterator[Fit]:
    """Yield fits of faces and edges without corners: a face over an edge is a side over the width."""
    found: dict[int, dict[int, Fraction]] = {0: {}, 1: {}, 2: {}}
    numbers = width_two = 0
    for rank, each in enumerate(sizes.sizes):
        place = sizes.box.place(rank)
        for direction, size in each.items():
            axes = [axis for axis in range(3) if direction[axis]]
            if len(axes) != 2:
                continue
            for axis, other in (axes, axes[::-1]):
                face = next((s for d, s in each.items() if _moved(d, [other])), None)
                if face is not None:
                    found[axis].setdefault(place[axis], Fraction(face, size))
            numbers, width_two = size // sizes.element, 3 - sum(axes)
            reference = place
    if not numbers:
        return
    if any(len(found[axis]) < sizes.box.split[axis] for axis in range(3)):
        return
    ratios = {axis: [found[axis][at] for at in range(sizes.box.split[axis])] for axis in range(3)}
    corner = Fraction(numbers) / ratios[width_two][reference[width_two]]
    if corner.denominator == 1:
        yield from _widths(sizes, ratios, int(corner), 3)


def _swept(sizes: Sizes) -> Iterator[Fit]:
    """Yield fits of messages along one direction after another, those with the roundest grid first."""
    solved = _swept_in_plane(sizes) if len(sizes.moves) == 2 else _swept_boxes(sizes)
    by_roundness = sorted(solved, key=_roundness)
    best: Fit | None = None
    for fit in (fit for fit in by_roundness if sizes.is_fit(fit)):
        if best is None:
            best = fit
        elif _corner(sizes, fit) != _corner(sizes, best):
            yield replace(best, notes=(GUESSED,))
            return
    if best is not None:
        yield best


def _roundness(fit: Fit) -> tuple[bool, int, int]:
    return not fit.is_even, max(largest_prime(sum(parts)) for parts in fit.parts), fit.width


def _corner(sizes: Sizes, fit: Fit) -> int:
    """Return the numbers in a corner of the halo, in which fits may differ that are not the same messages elsewhere."""
    return int(fit.width ** len(sizes.moves)) * fit.levels


def _swept_in_plane(sizes: Sizes) -> Iterator[Fit]:
    first, second = sizes.moves
    along, across = (list(sizes.all_of(lambda d, a=a: d[a] != 0)) for a in (first, second))  # type: ignore[misc]
    for levels in divisors(math.gcd(*(n for _, n in (*along, *across))), 1 << 16):
        for width in range(1, WIDEST + 1):
            factor = levels * width
            if any(numbers % factor for _, numbers in (*along, *across)):
                continue
            by_axis: dict[int, dict[int, int]] = {first: {}, second: {}}
            for rank, numbers in along:
                by_axis[second][sizes.box.place(rank)[second]] = numbers // factor
            for rank, numbers in across:
                at = sizes.box.place(rank)[first]
                by_axis[first][at] = numbers // factor - width * _sides(sizes.box, first, at)
            fit = _complete(sizes, by_axis, width, levels)
            if fit is not None:
                yield fit


def _swept_boxes(sizes: Sizes) -> Iterator[Fit]:
    """Yield fits for three directions: sides of one rank by a quadratic equation, the others by its sizes."""
    rank = next((r for r, each in enumerate(sizes.sizes) if all(any(d[a] for d in each) for a in range(3))), None)
    if rank is None:
        return
    sx, sy, sz = (next(s // sizes.element for d, s in sizes.sizes[rank].items() if d[a]) for a in range(3))
    place = sizes.box.place(rank)
    sides = [_sides(sizes.box, axis, place[axis]) for axis in range(3)]
    for levels in divisors(math.gcd(*(n for _, n in sizes.all_of(lambda d: True))), 1 << 16):
        for width in range(1, WIDEST + 1):
            q = levels * width
            a, b = q * sx / sy, q * sides[1] * width
            wide = round((-b + math.sqrt(b * b + 4 * a * sz)) / (2 * a))
            nx, ny = wide - width * sides[0], round(sx * wide / sy)
            if nx < width or ny < width or sy % (q * wide):
                continue
            nz = sy // (q * wide)
            by_axis: dict[int, dict[int, int]] = {0: {}, 1: {}, 2: {}}
            for r, numbers in sizes.all_of(lambda d: d[0] != 0):
                there = sizes.box.place(r)
                if there[2] == place[2]:
                    by_axis[1][there[1]] = numbers // (q * nz)
                if there[1] == place[1]:
                    by_axis[2][there[2]] = numbers // (q * ny)
            for r, numbers in sizes.all_of(lambda d: d[1] != 0):
                there = sizes.box.place(r)
                if there[2] == place[2]:
                    by_axis[0][there[0]] = numbers // (q * nz) - width * _sides(sizes.box, 0, there[0])
            fit = _complete(sizes, by_axis, width, levels)
            if fit is not None:
                yield fit


def _sides(box: BoxHalo, axis: int, at: int) -> int:
    """Return on how many sides along an axis a part goes on."""
    return 2 if box.periodic[axis] else (at > 0) + (at < box.split[axis] - 1)


def _complete(sizes: Sizes, by_axis: Mapping[int, Mapping[int, int]], width: int, levels: int) -> Fit | None:
    """Return a fit where each part along each axis has points, as many as the width or more."""
    made = {}
    for axis, found in by_axis.items():
        parts = sizes.box.split[axis]
        if len(found) < parts or min(found.values()) < width:
            return None
        made[axis] = [found[at] for at in range(parts)]
    return Fit(_parts_of(sizes, made), width, levels)
