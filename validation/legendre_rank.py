"""Numerical ranks of blocks of Legendre functions: what a fast Legendre transform by butterflies would save.

``python -m validation.legendre_rank [DEGREE ...]``, T1279 and T3999 unless named; the second takes some minutes. A
butterfly (O'Neil, Woolfe & Rokhlin 2010; Wedi, Hamrud & Mozdzynski 2013) compresses a matrix, here P(n, m) of the even
n - m of a wavenumber, level by level: blocks of all latitudes and 64 degrees, of half of the latitudes and 128 degrees,
and so on. What it costs follows from the ranks of these blocks: "numbers" are those of its factors, as a share of the
numbers of the matrix, which are those of a matrix product.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from tradewind.spectral import Truncation
from tradewind.spectral.functions import LegendreFunctions

Array = Any
DEGREES = (1279, 3999)
LEAF = 64
"""Degrees of the smallest blocks."""
SAMPLES = 4
"""Blocks of each level whose ranks are computed."""
TOLERANCES = (1e-12, 1e-7)
"""Singular values below these, relative to the largest one of the whole matrix, do not count."""


def even_functions(truncation: Truncation, m: int) -> Array:
    """Return P(n, m) of even n - m, [latitude][degree]."""
    return np.ascontiguousarray(LegendreFunctions(truncation, [m]).of(0, truncation.top)[0].T)


def level_ranks(matrix: Array, level: int, tolerance: float, norm: float) -> float:
    """Return the mean rank of some blocks of a level: 1 / 2^level of the latitudes, 2^level times `LEAF` degrees."""
    rows = np.array_split(np.arange(matrix.shape[0]), 2**level)
    columns = np.array_split(np.arange(matrix.shape[1]), max(1, round(matrix.shape[1] / (LEAF * 2**level))))
    blocks = [(some, others) for some in rows for others in columns]
    chosen = [blocks[k] for k in np.unique(np.linspace(0, len(blocks) - 1, SAMPLES).astype(int))]
    ranks = [
        int((np.linalg.svd(matrix[np.ix_(some, others)], compute_uv=False) > tolerance * norm).sum())
        for some, others in chosen
    ]
    return float(np.mean(ranks))


def butterfly_share(matrix: Array, ranks: list[float]) -> float:
    """Return the numbers of a butterfly's factors as a share of those of the matrix, from the ranks of its levels.

    A block of rank r is interpolated from r of the columns of what it is made of (r identities are free): its own
    degrees at the first level, the columns of two blocks of the level before afterwards; the last level has the
    columns themselves at its latitudes.
    """
    latitudes, degrees = matrix.shape
    numbers = 0.0
    for level, rank in enumerate(ranks):
        columns = max(1, round(degrees / (LEAF * 2**level)))
        made_of = degrees / columns if level == 0 else 2 * ranks[level - 1]
        numbers += 2**level * columns * rank * max(0.0, made_of - rank)
    numbers += ranks[-1] * latitudes * max(1, round(degrees / (LEAF * 2 ** (len(ranks) - 1))))
    return float(numbers / (latitudes * degrees))


def best_share(matrix: Array, tolerance: float) -> tuple[float, list[float]]:
    """Return the smallest share over the number of levels, and the ranks of the levels."""
    norm = float(np.linalg.norm(matrix, 2))
    levels = max(1, 1 + int(np.log2(max(1, matrix.shape[1] / LEAF))))
    ranks = [level_ranks(matrix, level, tolerance, norm) for level in range(levels)]
    return min(butterfly_share(matrix, ranks[:count]) for count in range(1, levels + 1)), ranks


def main() -> None:
    """Print the ranks and shares of four wavenumbers of each truncation."""
    for degree in map(int, sys.argv[1:]) if sys.argv[1:] else DEGREES:
        truncation = Truncation(f"O{degree + 1}")
        for m in (0, degree // 4, degree // 2, 3 * degree // 4):
            matrix = even_functions(truncation, m)
            print(f"TCo{degree}, m = {m}: {matrix.shape[0]} latitudes x {matrix.shape[1]} degrees", flush=True)
            for tolerance in TOLERANCES:
                share, ranks = best_share(matrix, tolerance)
                shown = " ".join(f"{rank:.0f}" for rank in ranks)
                print(f"  to {tolerance:.0e}: ranks by level {shown}; numbers {share:.2f} of the matrix", flush=True)


if __name__ == "__main__":
    main()
