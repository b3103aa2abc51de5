"""Memories of the arrays that are exchanged, by name; entries of tuning files name them, too."""

from __future__ import annotations

from typing import Literal

PRIVATE: Literal["private"] = "private"
"""Memory of arrays that only their own rank can read, as NumPy allocates it."""
SHARED: Literal["shared"] = "shared"
"""Memory of arrays that the ranks of a node share, as `tradewind.empty` allocates it."""

MEMORIES = (PRIVATE, SHARED)
