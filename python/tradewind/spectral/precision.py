"""Single and double precision: the element types of a transform's arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tradewind.base.errors import InputError
from tradewind.base.names import unknown


@dataclass(frozen=True)
class Precision:
    """Element types of grid points and of coefficients, by NumPy's names and as types."""

    real: str
    complex: str

    @property
    def real_type(self) -> np.dtype[Any]:
        """Element type of grid points and Legendre functions."""
        return np.dtype(self.real)

    @property
    def complex_type(self) -> np.dtype[Any]:
        """Element type of Fourier and spectral coefficients."""
        return np.dtype(self.complex)


SINGLE, DOUBLE = Precision("f4", "c8"), Precision("f8", "c16")
PRECISIONS = {each.real: each for each in (SINGLE, DOUBLE)}
"""By the element type of grid points."""


def precision_named(name: str) -> Precision:
    """Return a precision by the element type of grid points. Raises InputError for another one."""
    if not isinstance(name, str) or name not in PRECISIONS:
        raise InputError(unknown("precision of a transform", name, PRECISIONS))
    return PRECISIONS[name]


def precision_of(*values: Any) -> Precision:
    """Return the precision in which arrays are transformed: single where all are of floats, else double."""
    single = {SINGLE.real_type, SINGLE.complex_type}
    return SINGLE if all(getattr(each, "dtype", None) in single for each in values) else DOUBLE
