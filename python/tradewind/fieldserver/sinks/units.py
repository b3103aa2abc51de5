"""Units of fields as UDUNITS has them, and their conversion to those that ecCodes has of a parameter of GRIB."""

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
_LARGE = 1e6


def conversion(name: str, given: str, wanted: str, grib: Any) -> tuple[float, float]:
    """Return scale and offset from the units of a field to those of its parameter. Raises InputError.

    Where ecCodes has no units of a parameter, or such as UDUNITS does not know (a code table), there is none.
    """
    if given in (wanted, wanted.replace("**", "")):
        return 1.0, 0.0
    wanted = _SPELLINGS.get(wanted.lower(), wanted)
    unit, other = _unit(given), _unit(wanted)
    if other is None:
        return 1.0, 0.0
    where = f"field {name}: units {given!r}"
    if unit is None:
        raise InputError(f"{where}: UDUNITS knows no such units; those of GRIB's {grib!r} are {wanted!r}")
    if not unit.is_convertible(other):
        raise InputError(f"{where}: those of GRIB's {grib!r} are {wanted!r}: units that convert to them are allowed")
    low, zero, high = (float(each) for each in unit.convert(np.array([-_LARGE, 0.0, _LARGE]), other))
    if not np.isclose(high - zero, zero - low):
        raise InputError(f"{where}: those of GRIB's {grib!r} are {wanted!r}: units in proportion to them are allowed")
    return float(f"{(high - low) / (2 * _LARGE):.15g}"), float(f"{zero:.15g}")


@cache
def _unit(text: str) -> Any:
    """Return units by UDUNITS; None where it does not know them. Few fields have others than ecCodes: loaded late."""
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
