"""The Legendre stage of a rank whose wavenumbers are whole or in pieces, and the partial sums of these."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tradewind.base.errors import InputError
from tradewind.spectral.legendre import Legendre
from tradewind.spectral.on_device import DeviceLegendre
from tradewind.spectral.operators import EARTH_RADIUS_M
from tradewind.spectral.precision import DOUBLE, Precision
from tradewind.spectral.winds import WindOperators

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tradewind.spectral.pieces import Piece, Pieces

    Complexes = NDArray[np.complexfloating[Any, Any]]


class _Stage(NamedTuple):
    """Wavenumbers that follow each other, all whole or all in pieces, and their places in the arrays."""

    legendre: Any
    """A `Legendre`, or a `DeviceLegendre`."""
    split: bool
    rows: slice
    degrees: slice
    """In `spectral`, or of pieces in partial sums."""
    winds: WindOperators | None


class _Share(NamedTuple):
    """A piece: where its own degrees lie in spectral space and in its partial sums; and those of the other pieces."""

    spectral: slice
    own: slice
    others: list[tuple[slice, slice]]
    """Degrees of each other piece of the wavenumber, in the partial sums and in what is sent."""
    received: list[slice]
    """Sums of each other piece for these degrees, in what is received."""


class LegendreStages:
    """The Legendre transforms of a rank's pieces of wavenumbers, see `Pieces`.

    Arrays are those of `DistributedTransform`: `wavenumbers`, `spectral`, and beside them ``complex128 [m, n][field]``

    - partial sums: of each piece all degrees of its wavenumber, `partial_sums` numbers of each field
    - sent: of each piece those degrees that other pieces of the wavenumber own, by piece
    - received: of each piece its own degrees, from each other piece

    Forth, partial sums are sent and added; back, degrees of `spectral` go the same way the other way, so one is the
    transpose of the other. `winds`: the number of variables, of which the first two are winds on the side of the rows
    (see `WindOperators`), on a sphere of this `radius`. Raises InputError where memory does not suffice for tables.
    """

    def __init__(
        self,
        pieces: Pieces,
        own: Sequence[Piece],
        *,
        tables: bool,
        threads: int,
        winds: int | None = None,
        radius: float = EARTH_RADIUS_M,
        precision: Precision = DOUBLE,
    ) -> None:
        truncation = pieces.truncation
        computed = truncation if winds is None else truncation.extended()
        self._stages: list[_Stage] = []
        self._shares: list[_Share] = []
        rows, spectral, partial, sent, received = 0, 0, 0, 0, 0
        for split, group in groupby(own, key=lambda piece: piece.parts > 1):
            run = list(group)
            wavenumbers = np.array([piece.m for piece in run], np.int64)
            legendre = Legendre(
                computed,
                wavenumbers,
                latitudes_of=[(piece.begin, piece.end) for piece in run],
                tables=tables,
                threads=threads,
                precision=precision,
            )
            end, degrees = rows + int(legendre.fourier_start[-1]), int(truncation.degrees_of(wavenumbers).sum())
            first = partial if split else spectral
            operators = None if winds is None else WindOperators(truncation, wavenumbers, winds, radius=radius)
            self._stages.append(_Stage(legendre, split, slice(rows, end), slice(first, first + degrees), operators))
            rows = end
            if not split:
                spectral += degrees
                continue
            for piece in run:
                mine = pieces.degrees_of(piece)
                others, incoming = [], []
                for other in pieces.by_m[piece.m]:
                    if other is piece:
                        continue
                    theirs = pieces.degrees_of(other)
                    place = slice(partial + theirs.start - piece.m, partial + theirs.stop - piece.m)
                    others.append((place, slice(sent, sent + len(theirs))))
                    incoming.append(slice(received, received + len(mine)))
                    sent, received = sent + len(theirs), received + len(mine)
                place = slice(partial + mine.start - piece.m, partial + mine.stop - piece.m)
                self._shares.append(_Share(slice(spectral, spectral + len(mine)), place, others, incoming))
                spectral += len(mine)
                partial += truncation.top + 1 - piece.m
        self.partial_sums = partial

    def move_to(self, module: Any) -> None:
        """Let the transforms take arrays that an array module allocates, see `spectral.on_device`.

        Raises InputError for winds, and for stages without tables.
        """
        if any(stage.winds is not None for stage in self._stages):
            raise InputError("winds: on a device a transform without them is allowed")
        self._stages = [stage._replace(legendre=DeviceLegendre(stage.legendre, module)) for stage in self._stages]

    @property
    def table_bytes(self) -> int:
        """Memory of the tables of Legendre functions."""
        return sum(stage.legendre.functions.table_bytes for stage in self._stages)

    def to_spectral(
        self,
        wavenumbers: Complexes,
        spectral: Complexes,
        partial: Complexes,
        *,
        adjoint: bool = False,
        gradient: bool = False,
    ) -> None:
        """Compute spectral coefficients of whole wavenumbers, and the partial sums of pieces.

        `adjoint`: as the transpose of `to_fourier`, which differs from its reverse where there are winds. `gradient`:
        winds are the gradient of their first variable, see `to_fourier`; always as its transpose.
        """
        for stage in self._stages:
            out = (partial if stage.split else spectral)[stage.degrees]
            if stage.winds is None:
                stage.legendre.to_spectral(wavenumbers[stage.rows], out)
            else:
                wide = stage.legendre.to_spectral(wavenumbers[stage.rows])
                if gradient:
                    stage.winds.from_gradient(wide, out)
                else:
                    stage.winds.from_winds(wide, out, adjoint=adjoint)

    def to_fourier(
        self,
        spectral: Complexes,
        wavenumbers: Complexes,
        partial: Complexes,
        *,
        adjoint: bool = False,
        gradient: bool = False,
    ) -> None:
        """Compute the rows of all pieces; `partial` holds all degrees of split wavenumbers.

        `adjoint`: as the transpose of `to_spectral`. `gradient`: of the first variable of each level, in place of the
        wind.
        """
        for stage in self._stages:
            source = (partial if stage.split else spectral)[stage.degrees]
            if stage.winds is not None:
                winds = stage.winds
                source = winds.to_gradient(source) if gradient else winds.to_winds(source, adjoint=adjoint)
            stage.legendre.to_fourier(source, wavenumbers[stage.rows])

    def take_apart(self, partial: Complexes, spectral: Complexes, sent: Complexes) -> None:
        """Copy partial sums to where they are added: this rank's own degrees, and those of others."""
        for share in self._shares:
            spectral[share.spectral] = partial[share.own]
            for place, to in share.others:
                sent[to] = partial[place]

    def add(self, received: Complexes, spectral: Complexes) -> None:
        """Add the partial sums of others, in the order of the pieces."""
        for share in self._shares:
            for place in share.received:
                spectral[share.spectral] += received[place]

    def spread(self, spectral: Complexes, received: Complexes) -> None:
        """Copy this rank's degrees of split wavenumbers for each of the other pieces."""
        for share in self._shares:
            for place in share.received:
                received[place] = spectral[share.spectral]

    def put_together(self, sent: Complexes, spectral: Complexes, partial: Complexes) -> None:
        """Copy all degrees of split wavenumbers together: this rank's own, and those of others."""
        for share in self._shares:
            partial[share.own] = spectral[share.spectral]
            for place, source in share.others:
                partial[place] = sent[source]
