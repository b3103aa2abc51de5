"""Quantities with units, as text: ``"1.2us"``, ``"10GB/s"``, ``"4KiB"``.

Decimal prefixes are powers of 1000 and binary ones (``Ki`` ...) powers of 1024. A number without its unit is refused,
as it is ambiguous.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal, DecimalException

from tradewind.base.errors import InputError

_DECIMAL = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_BINARY = {"Ki": 1024.0, "Mi": 1024.0**2, "Gi": 1024.0**3, "Ti": 1024.0**4}
_TIME = {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_LENGTH = {"mm": 1e-3, "m": 1.0, "km": 1e3}
_BYTES = {prefix + "B": factor for prefix, factor in (_DECIMAL | _BINARY).items()}
_RATE = {unit + "/s": factor for unit, factor in _BYTES.items()} | {
    prefix + bits: factor / 8 for bits in ("bit/s", "b/s") for prefix, factor in _DECIMAL.items()
}
_FLOPS = {prefix + unit: factor for unit in ("flop/s", "Flop/s") for prefix, factor in (_DECIMAL | {"P": 1e15}).items()}
_FREQUENCY = {prefix + "Hz": factor for prefix, factor in _DECIMAL.items() if prefix not in ("K", "T")}

_POWER = {"mW": 1e-3, "W": 1.0, "kW": 1e3, "MW": 1e6}
_ENERGY = {"fJ": 1e-15, "pJ": 1e-12, "nJ": 1e-9, "uJ": 1e-6, "J": 1.0}
_ENERGY_PER_BYTE = {
    unit + per: factor * bytes_
    for unit, factor in _ENERGY.items()
    for per, bytes_ in (("/B", 1.0), ("/bit", 8.0), ("/b", 8.0))
}

_NUMBER = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+)\s*([^\s]*)\s*")


def _parse(text: object, units: dict[str, float], what: str, examples: str) -> float:
    if isinstance(text, str) and (match := _NUMBER.fullmatch(text)):
        number, unit = match.groups()
        if unit in units:
            return _scaled_up(text, number, units[unit])
        if unit:
            raise InputError(f"{text!r}: {unit!r} is not a unit of {what} (allowed: {', '.join(units)})")
    if isinstance(text, (int, float)) or (isinstance(text, str) and _NUMBER.fullmatch(text)):
        raise InputError(f"{text!r} has no unit: write {what} as {examples}")
    raise InputError(f"{text!r} is not {what}: write it as {examples}")


def _scaled_up(text: str, number: str, factor: float) -> float:
    """The float that is nearest to number x factor, so that "100ns" and "0.1us" are one value."""
    try:
        value = float(Decimal(number) * Decimal(repr(factor)))
    except DecimalException:
        value = math.inf
    if not math.isfinite(value):
        raise InputError(f"{text!r}: the number is too large")
    return value


def seconds(text: object) -> float:
    """``"1.2us"`` -> 1.2e-6."""
    return _parse(text, _TIME, "a time", '"100ns" or "1.2us"')


def meters(text: object) -> float:
    """``"1.3 km"`` -> 1300.0."""
    return _parse(text, _LENGTH, "a length", '"500m" or "1.3km"')


def byte_count(text: object) -> int:
    """``"4KiB"`` -> 4096."""
    value = _parse(text, _BYTES, "a size", '"4KiB" or "64kB"')
    if value != int(value):
        raise InputError(f"{text!r} is not a whole number of bytes")
    return int(value)


def bytes_per_second(text: object) -> float:
    """``"10GB/s"`` -> 1e10; ``"100Gb/s"``, in bits, which may also be written ``"100Gbit/s"``, -> 1.25e10."""
    return _parse(text, _RATE, "a bandwidth", '"10GB/s", or in bits "100Gb/s"')


def flops(text: object) -> float:
    """``"1.2TFlop/s"`` -> 1.2e12."""
    return _parse(text, _FLOPS, "a rate of operations", '"600Gflop/s" or "1.2TFlop/s"')


def hertz(text: object) -> float:
    """``"1kHz"`` -> 1000."""
    return _parse(text, _FREQUENCY, "a frequency", '"100Hz" or "1kHz"')


def watts(text: object) -> float:
    """``"1.2kW"`` -> 1200."""
    return _parse(text, _POWER, "a power", '"230W" or "1.2kW"')


def joules_per_byte(text: object) -> float:
    """``"25pJ/B"`` -> 2.5e-11; in bits ``"4pJ/bit"`` -> 3.2e-11."""
    return _parse(text, _ENERGY_PER_BYTE, "an energy per byte", '"25pJ/B", or in bits "4pJ/bit"')


def _scaled(value: float, steps: list[tuple[float, str]]) -> str:
    for factor, unit in steps:
        if abs(value) >= factor:
            return f"{_short(value / factor)} {unit}"
    factor, unit = steps[-1]
    return f"{_short(value / factor)} {unit}"


def _short(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 999.5 else f"{value:.3g}"


def format_seconds(value: float) -> str:
    """0.0123 -> ``"12.3 ms"``, for a reader."""
    return _scaled(value, [(1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"), (1e-12, "ps")])


def format_duration(value: float) -> str:
    """Return a duration as a reader expects it of work: in seconds, minutes, hours or days, two digits."""
    for limit, unit, name in ((90, 1, "s"), (90 * 60, 60, "min"), (36 * 3600, 3600, "h"), (math.inf, 86400, "days")):
        if value < limit:
            return f"{value / unit:.2g} {name}" if value / unit < 10 else f"{value / unit:.0f} {name}"
    raise ValueError(value)


def format_bytes(value: float) -> str:
    """8192 -> ``"8 KiB"``, for a reader."""
    return _scaled(value, [(1024.0**4, "TiB"), (1024.0**3, "GiB"), (1024.0**2, "MiB"), (1024.0, "KiB"), (1.0, "B")])


def format_rate(value: float) -> str:
    """1e10 -> ``"10 GB/s"``, for a reader."""
    return _scaled(value, [(1e12, "TB/s"), (1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s")])


def format_joules(value: float) -> str:
    """93 -> ``"93 J"``, for a reader; from a megajoule on in kWh."""
    if abs(value) >= 1e6:
        return _scaled(value / 3.6e6, [(1e6, "GWh"), (1e3, "MWh"), (1.0, "kWh")])
    return _scaled(value, [(1e3, "kJ"), (1.0, "J"), (1e-3, "mJ"), (1e-6, "uJ")])


def format_watts(value: float) -> str:
    """188 -> ``"188 W"``, for a reader."""
    return _scaled(value, [(1e6, "MW"), (1e3, "kW"), (1.0, "W"), (1e-3, "mW")])


def format_count(value: float) -> str:
    """62500000 -> ``"62.5 M"``, for a reader."""
    return _scaled(value, [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")]).rstrip()
