"""Halo exchanges as a model would write them with mpi4py and NumPy: along x, then along y with the corners."""

from __future__ import annotations

from typing import Any

import numpy as np

from exchanges.raw_transposition import Slices, subarray
from tradewind.mpi import MPI

Array = Any
X, Y = 2, 1  # axes of an array [z][y][x]


def strips(shape: tuple[int, ...], axis: int, width: int) -> list[tuple[Slices, Slices]]:
    """Return, for the lower and the upper side, the points sent there and those that arrive from there.

    Along x the rows of the rank itself, along y whole ones.
    """
    n = shape[axis]
    inside = slice(width, shape[Y] - width) if axis == X else slice(0, shape[Y])

    def strip(begin: int) -> Slices:
        box = [slice(0, shape[0]), inside, slice(0, shape[X])]
        box[axis] = slice(begin, begin + width)
        return tuple(box)

    return [(strip(width), strip(0)), (strip(n - 2 * width), strip(n - width))]


class Raw:
    """A periodic halo of one dense array [z][y][x] on a grid of ranks. A rank that is its own neighbour copies."""

    def __init__(self, comm: MPI.Intracomm, split: tuple[int, int], width: int, array: Array) -> None:
        self.comm, self.array = comm, array
        px, py = split
        i, j = comm.Get_rank() % px, comm.Get_rank() // px
        lower, upper = (lambda a, n: (a - 1) % n), (lambda a, n: (a + 1) % n)
        peers = {X: [f(i, px) + px * j for f in (lower, upper)], Y: [i + px * f(j, py) for f in (lower, upper)]}
        self.phases = [self.phase(strips(array.shape, axis, width), peers[axis], axis) for axis in (X, Y)]

    def phase(self, sides: list[tuple[Slices, Slices]], peers: list[int], axis: int) -> Any:
        if peers[0] == self.comm.Get_rank():
            (low, low_halo), (high, high_halo) = ((self.array[a], self.array[b]) for a, b in sides)
            return Wrapped(((high_halo, low), (low_halo, high)))
        return self.messages(sides, peers)

    def messages(self, sides: list[tuple[Slices, Slices]], peers: list[int]) -> Any:
        raise NotImplementedError

    def __call__(self) -> None:
        for phase in self.phases:
            phase()


class Wrapped:
    """Copies within the rank."""

    def __init__(self, copies: tuple[tuple[Array, Array], ...]) -> None:
        self.copies = copies

    def __call__(self) -> None:
        for to, source in self.copies:
            to[...] = source


class PackedPhase:
    """Both sides packed by NumPy into buffers that are kept. A message is numbered by the side that it leaves."""

    def __init__(self, comm: MPI.Intracomm, array: Array, sides: list[tuple[Slices, Slices]], peers: list[int]) -> None:
        self.comm, self.peers = comm, peers
        self.out = [(array[sent], np.empty(array[sent].shape)) for sent, _ in sides]
        self.into = [(array[halo], np.empty(array[halo].shape)) for _, halo in sides]

    def __call__(self) -> None:
        requests = [
            self.comm.Irecv(buffer, peer, 1 - side)
            for side, (peer, (_, buffer)) in enumerate(zip(self.peers, self.into, strict=True))
        ]
        for side, (peer, (view, buffer)) in enumerate(zip(self.peers, self.out, strict=True)):
            buffer[...] = view
            requests.append(self.comm.Isend(buffer, peer, side))
        MPI.Request.Waitall(requests)
        for view, buffer in self.into:
            view[...] = buffer


class Packed(Raw):
    """Packed by NumPy, isend and irecv."""

    def messages(self, sides: list[tuple[Slices, Slices]], peers: list[int]) -> Any:
        return PackedPhase(self.comm, self.array, sides, peers)


class DerivedPhase:
    """Both sides by subarray types, which MPI packs."""

    def __init__(self, comm: MPI.Intracomm, array: Array, sides: list[tuple[Slices, Slices]], peers: list[int]) -> None:
        self.comm, self.peers = comm, peers
        self.out = [[array, 1, subarray(array, sent)] for sent, _ in sides]
        self.into = [[array, 1, subarray(array, halo)] for _, halo in sides]

    def __call__(self) -> None:
        requests = [
            self.comm.Irecv(halo, peer, 1 - side)
            for side, (peer, halo) in enumerate(zip(self.peers, self.into, strict=True))
        ]
        requests += [
            self.comm.Isend(sent, peer, side)
            for side, (peer, sent) in enumerate(zip(self.peers, self.out, strict=True))
        ]
        MPI.Request.Waitall(requests)


class Derived(Raw):
    """Subarray types, isend and irecv."""

    def messages(self, sides: list[tuple[Slices, Slices]], peers: list[int]) -> Any:
        return DerivedPhase(self.comm, self.array, sides, peers)


PEERS = {"packed isend-irecv": Packed, "isend-irecv of subarrays": Derived}
