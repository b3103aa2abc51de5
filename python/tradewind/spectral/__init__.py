"""The spherical-harmonics transform: Gaussian grids, truncations, and the two stages between grid and spectral space.

Memory layouts, fields innermost but for grid points; `F` fields (variables times levels) are transformed together.

- Grid points: ``float64 [F][point]``, rows from north to south, each from the Greenwich meridian to the east.
- Fourier coefficients: ``complex128 [m, row][F]``: for each wavenumber the rows that keep it, from north to south.
- Spectral coefficients: ``complex128 [m, n][F]``: for each wavenumber its degrees n = m..T.

`Fourier` works on any rows, `Legendre` on any wavenumbers; what lies between them is what ranks exchange.
`Distribution` has the owners of all data on many ranks, and `DistributedTransform` carries the transform out on them.
"""

from tradewind.spectral.distributed import DistributedTransform
from tradewind.spectral.distribution import Distribution
from tradewind.spectral.fourier import Fourier
from tradewind.spectral.grid import GaussianGrid
from tradewind.spectral.legendre import Legendre
from tradewind.spectral.transform import SpectralTransform
from tradewind.spectral.truncation import Truncation

__all__ = [
    "DistributedTransform",
    "Distribution",
    "Fourier",
    "GaussianGrid",
    "Legendre",
    "SpectralTransform",
    "Truncation",
]
