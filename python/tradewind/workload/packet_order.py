"""Orders of packets that come to a switch at one time: that of its ports, or drawn at random by a seed."""

from __future__ import annotations

import re

from tradewind.base.errors import InputError, quoted

PORTS = "ports"
"""The order of the ports by which packets come, the lowest number first."""
_DRAWN = re.compile(r"seed=(\d{1,19})(?:\.\.(\d{1,19}))?")
_LARGEST, _MOST = 2**63 - 1, 1000


def each_order(text: object) -> list[str]:
    """Return each order of a comma list such as "ports,seed=1..8". Raises InputError."""
    found: list[str] = []
    for word in str(text).split(","):
        if word == PORTS:
            found.append(word)
            continue
        drawn = _DRAWN.fullmatch(word)
        first, last = (int(drawn[1]), int(drawn[2] or drawn[1])) if drawn else (0, 0)
        if not 1 <= first <= last <= _LARGEST or last - first >= _MOST:
            raise InputError(
                f"order {quoted(word)}: {PORTS}, seed=N or seed=N..M are allowed, with seeds of 1 to {_LARGEST}, "
                f"at most {_MOST} of them"
            )
        found += (f"seed={seed}" for seed in range(first, last + 1))
    return list(dict.fromkeys(found))


def seed_of(order: str) -> int:
    """Return the seed of one order for the core; 0: that of the ports."""
    return 0 if order == PORTS else int(order.removeprefix("seed="))
