"""Halos among messages: neighbors on a Cartesian grid of ranks, and the width and the grid that the sizes allow.

A guess (ranks along each direction, periodic or not, which neighbors) is kept only if all ranks send to these neighbors
and no others; then if one grid and one width give all sizes to the byte.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, pairwise, product

from tradewind.base.extents import extents_text
from tradewind.recognition.box_sizes import Known, Sizes, fitting
from tradewind.recognition.elements import gather_scatter
from tradewind.recognition.exchange import DTYPE_BYTES, Exchange, element_bytes
from tradewind.recognition.streams import Sent, Stream, code_of
from tradewind.workload.box_halo import ALL_AROUND, BoxHalo, Direction, Parts, direction_text, even_parts

Dims = tuple[int, int, int]
OF_TWO = "between two ranks along a direction it may be a transposition as well: record on three or more"
UNLIKE = "points are divided among the ranks otherwise than in the file, which divides as evenly as it goes"


@lru_cache(maxsize=16)
def grids_of_ranks(ranks: int, dims: tuple[int, ...] = ()) -> list[Dims]:
    """Return ranks along x, y, z: those of a Cartesian topology first, whose last direction is the fastest, then all
    factors of the number of ranks, those along fewer directions first."""
    given = [each for each in reversed(dims) if each > 1]
    first = [_three(given)] if math.prod(dims) == ranks and len(given) <= 3 else []
    pairs = product([each for each in range(1, ranks + 1) if ranks % each == 0], repeat=2)
    found = {_three([n for n in (a, b, ranks // (a * b)) if n > 1]) for a, b in pairs if ranks % (a * b) == 0}
    return [*first, *sorted(found - {*first}, key=lambda each: (sum(n > 1 for n in each), max(each), each))]


def _three(extents: Sequence[int]) -> Dims:
    x, y, z = [*extents, 1, 1, 1][:3]
    return x, y, z


def neighborhoods(dims: Dims) -> list[tuple[Direction, ...]]:
    """Return sets of directions to which ranks may send, the largest first."""
    axes = [axis for axis in range(3) if dims[axis] > 1]
    found: list[tuple[Direction, ...]] = []
    for count in range(len(axes), 0, -1):
        for chosen in combinations(axes, count):
            inside = [d for d in ALL_AROUND if all(d[axis] == 0 or axis in chosen for axis in range(3))]
            for moves in range(count, 0, -1):
                found.append(tuple(d for d in inside if sum(map(abs, d)) <= moves))
            if all(dims[axis] > 2 for axis in chosen):  # between two ranks both ways are one
                found += [tuple(d for d in inside if sum(map(abs, d)) == 1 and sum(d) == sign) for sign in (-1, 1)]
    return sorted(dict.fromkeys(found), key=len, reverse=True)


def halos(stream: Stream, cursors: Sequence[int], known: Known) -> Iterator[Exchange]:
    """Yield the halos with which what all ranks send from their cursors on may begin, those of most messages first."""
    ranks = len(stream.sent)
    sample = tuple(sorted({0, 1 % ranks, ranks // 3, ranks // 2, (2 * ranks) // 3, ranks - 1}))
    guesses = [
        guess.box
        for dims in grids_of_ranks(ranks, stream.dims)
        if _are_near(stream, cursors, dims, sample)
        for guess in _guesses(dims, sample)
        if all(_next(stream.sent[rank], cursors[rank], len(peers)) == peers for rank, peers in guess.peers)
    ]
    # Messages that are posted together are most often one exchange.
    guesses.sort(key=lambda box: (not _at_once(stream, cursors, box, sample), -len(box.toward)))
    for box in guesses:
        sizes = _sizes(stream, cursors, box)
        if sizes is not None:
            yield from _fitted(box, sizes, _in_turn(stream, cursors, box), known)


def _next(sent: Sent, at: int, count: int) -> list[int]:
    """Return the receivers of the next messages, ascending."""
    return sorted(sent.peers[at : at + count].tolist())


@dataclass(frozen=True)
class _Guess:
    box: BoxHalo
    peers: tuple[tuple[int, list[int]], ...]
    """Some ranks, and the ranks to which they send, ascending."""


@lru_cache(maxsize=256)
def _guesses(dims: Dims, sample: tuple[int, ...]) -> list[_Guess]:
    """Return what ranks along x, y, z may send to, periodic or not."""
    found = []
    for around in product((True, False), repeat=3):
        if any(periodic and parts == 1 for periodic, parts in zip(around, dims, strict=True)):
            continue
        for toward in neighborhoods(dims):
            box = BoxHalo(_ones(dims), 1, (around[0], around[1], around[2]), toward)
            near = [(rank, sorted(p for d in toward if (p := box.neighbor(rank, d)) is not None)) for rank in sample]
            found.append(_Guess(box, tuple(near)))
    return found


def _ones(dims: Dims) -> Parts:
    x, y, z = ((1,) * parts for parts in dims)
    return x, y, z


@lru_cache(maxsize=4096)
def _around(dims: Dims, rank: int) -> frozenset[int]:
    box = BoxHalo(_ones(dims), 1, (True, True, True))
    return frozenset(peer for peer, *_ in box.sends(rank)[0])


def _are_near(stream: Stream, cursors: Sequence[int], dims: Dims, sample: Sequence[int]) -> bool:
    """Return whether the next receivers of some ranks are their neighbors; a collective call has no receiver."""
    return all(
        (peer := int(stream.sent[rank].peers[cursors[rank]])) < 0 or peer in _around(dims, rank)
        for rank in sample
        if cursors[rank] < len(stream.sent[rank])
    )


def _sends_to(sent: Sent, at: int, box: BoxHalo, rank: int) -> Mapping[Direction, int] | None:
    """Return the size for each direction, if a rank sends next to exactly the neighbors of a box."""
    toward = [(box.neighbor(rank, direction), direction) for direction in box.toward]
    wanted = [(peer, direction) for peer, direction in toward if peer is not None]
    end = at + len(wanted)
    if end > len(sent):
        return None
    by_peer: dict[int, list[int]] = {}
    for peer, size in zip(sent.peers[at:end].tolist(), sent.sizes[at:end].tolist(), strict=True):
        by_peer.setdefault(peer, []).append(size)
    found = {}
    for peer, direction in wanted:
        if not by_peer.get(peer):
            return None
        found[direction] = by_peer[peer].pop(0)
    return found


def _at_once(stream: Stream, cursors: Sequence[int], box: BoxHalo, sample: Sequence[int]) -> bool:
    """Return whether each of some ranks posts all its messages before it waits, and no others with them."""
    for rank in sample:
        sent, at = stream.sent[rank], cursors[rank]
        end = at + sum(box.neighbor(rank, direction) is not None for direction in box.toward)
        phases = sent.phases[at : end + 1]
        if end > at and (phases[end - at - 1] != phases[0] or (end < len(sent) and phases[-1] == phases[0])):
            return False
    return True


def _sizes(stream: Stream, cursors: Sequence[int], box: BoxHalo) -> list[Mapping[Direction, int]] | None:
    found = []
    for rank, sent in enumerate(stream.sent):
        sizes = _sends_to(sent, cursors[rank], box, rank)
        if sizes is None:
            return None
        found.append(sizes)
    return found if any(found) else None


def _in_turn(stream: Stream, cursors: Sequence[int], box: BoxHalo) -> bool:
    """Return whether ranks send along one direction after another, each when the one before has come."""
    axes = [axis for axis in range(3) if box.split[axis] > 1]
    if len(axes) < 2 or any(sum(map(abs, d)) != 1 for d in box.toward) or len(box.toward) != 2 * len(axes):
        return False
    some = False
    for rank, sent in enumerate(stream.sent):
        phases: list[set[int]] = []
        at = cursors[rank]
        for axis in axes:
            peers = sum(box.neighbor(rank, d) is not None for d in box.toward if d[axis])
            wanted = sorted(p for d in box.toward if d[axis] and (p := box.neighbor(rank, d)) is not None)
            if sorted(sent.peers[at : at + peers].tolist()) != wanted:
                return False
            phases.append(set(sent.phases[at : at + peers].tolist()))
            at += peers
        filled = [each for each in phases if each]
        if any(max(one) >= min(other) for one, other in pairwise(filled)):
            return False
        some = some or len(filled) > 1
    return some


def _fitted(box: BoxHalo, sizes: Sequence[Mapping[Direction, int]], in_turn: bool, known: Known) -> Iterator[Exchange]:
    """Yield the exchange whose messages have these sizes."""
    element = element_bytes(size for each in sizes for size in each.values())
    if element is None:
        return
    for sweep in (True, False) if in_turn else (False,):
        found = fitting(Sizes(box, sizes, element, sweep), known)
        if found is not None:
            yield _exchange(
                replace(box, parts=found.parts, width=found.width, sweep=sweep), found.levels, element, found.notes
            )
            return


def _exchange(box: BoxHalo, levels: int, element: int, notes: tuple[str, ...]) -> Exchange:
    """Return the exchange of a box; `levels`: numbers per point, which no rank divides."""
    expected = [
        [sorted(code_of(peer, points * levels * element) for peer, points, _ in stage) for stage in box.sends(rank)]
        for rank in range(box.ranks)
    ]
    if any(even_parts(sum(parts), len(parts)) != parts for parts in box.parts):
        notes = (*notes, UNLIKE)
    moves = [axis for axis in range(3) if any(direction[axis] for direction in box.toward)]
    if not box.sweep and max(sum(map(abs, d)) for d in box.toward) == 1 and all(box.split[a] == 2 for a in moves):
        notes = (*notes, OF_TWO)
    grid = [sum(parts) for parts in box.parts]
    plane = box.split[2] == 1
    if plane:
        grid[2] = levels
    around = "".join(letter for letter, periodic in zip("xyz", box.periodic, strict=True) if periodic)
    is_full = len(box.toward) == 3 ** sum(parts > 1 for parts in box.split) - 1
    toward = [direction_text(each) for each in box.toward]
    table: dict[str, object] = {"halo": box.width, "grid": extents_text(grid)}
    table["split"] = extents_text(box.split[:2] if plane else box.split)
    if around:
        table["periodic"] = around
    table |= {"algorithm": "sweep"} if box.sweep else {"algorithm": "direct"} if is_full else {"toward": toward}
    if not plane:
        table["fields"] = levels
    table["dtype"] = DTYPE_BYTES[element]
    sides = "one direction after another" if box.sweep else "all neighbors" if is_full else f"to {' '.join(toward)}"
    about = f"halo of width {box.width}, {sides}; {extents_text(box.split)} ranks"
    about += f", periodic in {around}" if around else ""
    about += f"; grid {extents_text(grid)}" + ("" if plane or levels == 1 else f", {levels} fields")
    halo = Exchange("halo", table, about, expected, notes, box)
    elements = gather_scatter(box, levels, element, halo) if is_full and not box.sweep else None
    return halo if elements is None else elements
