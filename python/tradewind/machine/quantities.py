"""Quantities of machine files: their units, and the values that are allowed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from pydantic import BeforeValidator, Field

from tradewind.base import units
from tradewind.base.errors import InputError


def _quantity(parse: Callable[[object], float], minimum: str, maximum: str) -> BeforeValidator:
    lowest, highest = parse(minimum), parse(maximum)

    def check(text: object) -> float:
        value = parse(text)
        if not lowest <= value <= highest:
            raise InputError(f"{text!r}: {minimum} to {maximum} are allowed")
        return value

    return BeforeValidator(check)


# The core's limits: its clock counts picoseconds in 64 bits, a packet's size is kept in 28.
Bandwidth = Annotated[float, _quantity(units.bytes_per_second, "1MB/s", "1000TB/s")]
Latency = Annotated[float, _quantity(units.seconds, "0s", "1h")]
Size = Annotated[int, _quantity(units.byte_count, "1B", "128MiB")]
Limit = Annotated[int, _quantity(units.byte_count, "0B", "1TiB")]
Bypass = Annotated[int, _quantity(units.byte_count, "0B", "128MiB")]
Frequency = Annotated[float, _quantity(units.hertz, "0.001Hz", "1MHz")]
Detour = Annotated[float, _quantity(units.seconds, "1ns", "1h")]
Flops = Annotated[float, _quantity(units.flops, "1Mflop/s", "1000Pflop/s")]
Fraction = Annotated[float, Field(strict=True, ge=0, lt=1)]
