"""Which spherical harmonics a transform keeps, which of its wavenumbers each row has, and where they lie in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from tradewind.base.errors import InputError, quoted
from tradewind.base.extents import MAX_EXTENT, whole_number
from tradewind.spectral.grid import GaussianGrid

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Numbers = NDArray[np.int64]

# Largest degree on a grid with `half` latitudes in a hemisphere: of products of two (quadratic) or three (cubic) fields
# no harmonic is aliased, of fields themselves none is lost (linear).
DEGREES: dict[str, Callable[[int], int]] = {
    "linear": lambda half: 2 * half - 1,
    "quadratic": lambda half: max(4 * half // 3 - 1, 0),
    "cubic": lambda half: half - 1,
}


class Truncation:
    """The triangular truncation of a Gaussian grid: degrees n up to `degree`, wavenumbers m up to n.

    `grid`: a `GaussianGrid` or its name. `degree`: the largest degree T; the rule's own unless given. `rule`:
    ``"linear"`` (T = 2 N - 1 on a grid with N latitudes in a hemisphere), ``"quadratic"`` (4 N / 3 - 1) or ``"cubic"``
    (N - 1); what the degree asks for unless given, and cubic for an octahedral, linear for any other grid where the
    degree is not given either. `top`: the degree at which each wavenumber ends, T unless given; fields that are derived
    from others, as winds are from vorticity, need T + 1.

    Near the poles a row keeps only the wavenumbers that its points can hold, and that are not negligible there, as
    ecTrans has it. With L points at latitude phi, but never fewer than the row before it:

    - linear, and all full grids: (L - 1) / 2
    - quadratic: (L - 1) / (2 + cos^2 phi), from the degree at which products are not aliased down
    - cubic: (L - 1) / (2 + cos^2 phi) - 1

    `kept` [row]: the number of wavenumbers of a row, those below this number. `row_begin`, `row_end` [m]: the rows that
    keep m are row_begin[m]..row_end[m] - 1. `start` [m + 1]: the coefficient (m, n) is entry ``start[m] + n - m`` of
    ``complex128 [m, n][field]``; `coefficients` of them in all.

    Raises InputError where the grid cannot hold the truncation.
    """

    def __init__(
        self, grid: GaussianGrid | str, degree: int | None = None, rule: str | None = None, *, top: int | None = None
    ) -> None:
        self.grid = grid if isinstance(grid, GaussianGrid) else GaussianGrid(grid)
        if rule is not None and (not isinstance(rule, str) or rule not in DEGREES):
            raise InputError(f"unknown rule {quoted(rule)} of a truncation: {', '.join(DEGREES)} are allowed")
        self.degree = self._degree(degree, rule)
        self.rule = rule or self._rule()
        self.top = self.degree if top is None else whole_number("largest degree", top, 0, MAX_EXTENT)
        if self.top < self.degree:
            raise InputError(f"truncation: degrees to {self.top} are fewer than wavenumbers to {self.degree}")
        self.kept: Numbers = _kept(self.grid, self.degree, self.rule)
        north = self.kept[: self.grid.half]
        self.row_begin: Numbers = np.searchsorted(north, np.arange(1, self.degree + 2))
        self.row_end: Numbers = len(self.kept) - self.row_begin
        self.start: Numbers = np.concatenate([[0], np.cumsum(self.degrees_of(np.arange(self.degree + 1)))])
        self.coefficients = int(self.start[-1])

    def __repr__(self) -> str:
        return f"Truncation({self.grid.name!r}, {self.degree}, {self.rule!r})"

    @property
    def wavenumbers(self) -> Numbers:
        """All wavenumbers, 0..T."""
        return np.arange(self.degree + 1)

    @property
    def table_bytes(self) -> int:
        """Memory of tables of the Legendre functions of all wavenumbers, at most: negligible ones are left out."""
        latitudes = self.grid.half - self.row_begin
        return 8 * int((latitudes * self.degrees_of(self.wavenumbers)).sum())

    def degrees_of(self, m: ArrayLike) -> Numbers:
        """Return how many degrees wavenumbers have."""
        return self.top + 1 - np.asarray(m, dtype=np.int64)

    def extended(self) -> Truncation:
        """Return the same with one more degree for each wavenumber, as winds have them."""
        return Truncation(self.grid, self.degree, self.rule, top=self.degree + 1)

    def index(self, m: int, n: int) -> int:
        """Return where the coefficient (m, n) lies. Raises InputError for one that is not kept."""
        m, n = whole_number("m", m), whole_number("n", n)
        if not (0 <= m <= self.degree and m <= n <= self.top):
            raise InputError(f"coefficient m = {m}, n = {n}: 0 <= m <= {self.degree}, m <= n <= {self.top} are allowed")
        return int(self.start[m]) + n - m

    def _degree(self, degree: int | None, rule: str | None) -> int:
        half = self.grid.half
        most = DEGREES[rule or "linear"](half)
        if degree is None:
            return most if rule else DEGREES["cubic" if self.grid.name.startswith("O") else "linear"](half)
        degree = whole_number("degree of a truncation", degree)
        if not 0 <= degree <= most:
            raise InputError(
                f"truncation T{degree} on grid {self.grid.name}: T0..T{most} are allowed "
                f"(its {2 * half} latitudes hold no more{f' by the {rule} rule' if rule else ''})"
            )
        return degree

    def _rule(self) -> str:
        """The strictest rule that the degree allows, as ecTrans chooses it."""
        half = self.grid.half
        if self.degree >= DEGREES["linear"](half) or self.grid.is_full:
            return "linear"
        return "quadratic" if self.degree >= DEGREES["quadratic"](half) else "cubic"


def _kept(grid: GaussianGrid, degree: int, rule: str) -> Numbers:
    """Return the number of wavenumbers of each row, from 0 on."""
    half = grid.half
    rows, cos2 = grid.rows[:half], grid.cosines[:half] ** 2
    if rule == "linear" or grid.is_full:
        largest = (rows - 1) // 2
    elif rule == "quadratic":
        largest = np.floor((rows - 1) / (2 + 3 * (2 * half - 1 - degree) // (2 * half) * cos2)).astype(np.int64)
    else:
        largest = np.floor((rows - 1) / (2 + cos2)).astype(np.int64) - 1
    north = np.maximum.accumulate(np.minimum(np.maximum(largest, 0), degree)) + 1
    if north[-1] <= degree:
        raise InputError(
            f"truncation T{degree} on grid {grid.name}: its longest rows hold wavenumbers up to {north[-1] - 1} by the "
            f"{rule} rule, T0..T{north[-1] - 1} are allowed"
        )
    return np.concatenate([north, north[::-1]])
