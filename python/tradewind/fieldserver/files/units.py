"""Units of fields as UDUNITS has them, those of ecCodes among them, and how values of one become values of another."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from tradewind.base.errors import InputError

_SPELLINGS = {
    **dict.fromkeys(("(0 - 1)", "(-1 to 1)", "-", "proportion", "fraction", "numeric", "dimensionless"), "1"),
    **dict.fromkeys(("degree true", "degree n", "degree e"), "degree"),
    **dict.fromkeys(("m of water equivalent", "gpm"), "m"),
    **dict.fromkeys(("deg c", "c"), "degC"),
}
"""Units as ecCodes calls them, in small letters, which UDUNITS does not know, or takes for others."""
_PURE = ("1", "kg kg-1", "kg/kg", "m3 m-3")
"""Numbers without units, for which UDUNITS need not be loaded."""
_LARGE = 1e6


def of_eccodes(text: str) -> str:
    """Return the units of a parameter of GRIB as UDUNITS has them, where it knows them."""
    return _SPELLINGS.get(text.lower(), text).replace("**", "")


def conversion(given: str, wanted: str) -> tuple[float, float] | None:
    """Return scale and offset that make values in the wanted units of the given ones; None where there are none.

    Units that UDUNITS does not know, such as a code table, are taken for the others. Raises InputError.
    """
    if given == wanted or (given in _PURE and wanted in _PURE) or not (is_known(given) and is_known(wanted)):
        return 1.0, 0.0
    unit, other = _unit(given), _unit(wanted)
    if not unit.is_convertible(other):
        return None
    low, zero, high = (float(each) for each in unit.convert(np.array([-_LARGE, 0.0, _LARGE]), other))
    if not np.isclose(high - zero, zero - low):
        return None  # logarithms
    return float(f"{(high - low) / (2 * _LARGE):.15g}"), float(f"{zero:.15g}")


def is_known(text: str) -> bool:
    """Whether UDUNITS knows these units. Raises InputError where it is not there."""
    return _unit(text) is not None


@cache
def _unit(text: str) -> Any:
    """Return units by UDUNITS; None where it does not know them. Most fields have those of ecCodes: loaded late."""
    try:
        import cf_units
    except ImportError:
        raise InputError(
            f"units {text!r} need the package cf-units to be compared: pip install 'tradewind[output]'"
        ) from None
    try:
        found = cf_units.Unit(text)
    except ValueError:
        return None
    return None if found.is_unknown() or found.is_no_unit() else found
