"""What tradewind.h declares."""

from __future__ import annotations

import re
from pathlib import Path

HEADER = Path(__file__).parents[2] / "include" / "tradewind" / "tradewind.h"


def functions() -> set[str]:
    """The names of all functions."""
    return set(re.findall(r"^TW_API [^(]*?(tw_\w+)\(", HEADER.read_text(), re.MULTILINE))
