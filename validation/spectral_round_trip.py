"""Round-trip errors of the spherical-harmonics transform over grid and truncation rule.

``python -m validation.spectral_round_trip`` prints the table of docs/dwarfs/spherical_harmonics.md: white noise, all
coefficients with mean square 2 (1 for m = 0), goes to the grid and comes back. Grids may be named behind it.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from tradewind.base.errors import InputError
from tradewind.spectral import SpectralTransform, Truncation
from tradewind.spectral.truncation import DEGREES

GRIDS = ("F80", "O80", "O160", "O320", "O640")
NEGLIGIBLE = 1e-6
"""Error of a coefficient above which it is not kept by the grid."""


@dataclass(frozen=True)
class Row:
    """A line of the table. `lost`: share of the coefficients that do not come back."""

    truncation: Truncation
    rms: float
    maximum: float
    lost: float

    def text(self) -> str:
        """Return the line in Markdown."""
        truncation = self.truncation
        return (
            f"| {truncation.grid.name} | {truncation.rule} | {truncation.degree} | {self.rms:.0e} | {self.maximum:.0e} "
            f"| {100 * self.lost:.1f} % |"
        )


def round_trip(name: str, rule: str) -> Row:
    """Return the errors of one transform to the grid and back. Raises InputError for an invalid grid."""
    transform = SpectralTransform(name, rule=rule, tables=False)
    truncation = transform.truncation
    random = np.random.default_rng(1)
    spectral = random.normal(size=truncation.coefficients) + 1j * random.normal(size=truncation.coefficients)
    spectral[: truncation.degree + 1].imag = 0
    error = np.abs(transform.to_spectral(transform.to_grid(spectral)) - spectral)
    rms = float(np.sqrt((error**2).mean() / (np.abs(spectral) ** 2).mean()))
    return Row(truncation, rms, float(error.max()), float((error > NEGLIGIBLE).mean()))


def table(names: tuple[str, ...]) -> list[str]:
    """Return the lines of the table."""
    lines = ["| grid | rule | T | relative rms | maximum | lost |", "| --- | --- | --- | --- | --- | --- |"]
    return [*lines, *(round_trip(name, rule).text() for name in names for rule in DEGREES)]


def main() -> int:
    """Print the table; 2 for an invalid grid."""
    try:
        print("\n".join(table(tuple(sys.argv[1:]) or GRIDS)))
    except InputError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
