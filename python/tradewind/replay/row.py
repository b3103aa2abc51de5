"""A row of what a rank replays, and what its columns hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tradewind import _core
from tradewind.trace.calls import CALLS
from tradewind.trace.model import NONE

COMPUTE, SEND, RECEIVE, WAIT, COLLECTIVE, START = range(6)
"""Kinds of rows, as program::RowKind counts them."""
SYNCHRONOUS, NONBLOCKING, PERSISTENT, JOINED, CANCELLED, BUFFERED, FREED, ANY_SOURCE, ANY_TAG = (
    1 << bit for bit in range(9)
)
"""Flags of rows, as program::TraceRows has them."""
BLOCK_TAG = _core.block_tag
"""A tag that no program has: messages with it are left out where they have no bytes, see program::MessageEnds."""
NEIGHBOR_TAG, FENCED_PUT_TAG, FENCED_GET_TAG, POSTED_PUT_TAG, POSTED_GET_TAG, START_TAG, COMPLETE_TAG = (
    _core.free_tags - (number << 32) for number in range(7)
)
"""The same, of collective calls of neighbors; and less the number of a window, which has 31 bits, of its messages."""
COMPUTING = 0
"""The label of computations; function i of MPI has the label i + 1."""
LABELS = ["computing", *(call.name for call in CALLS)]
COLUMNS: dict[str, Any] = {
    "kind": np.uint8,
    "flags": np.uint16,
    "collective": np.uint8,
    "label": np.uint16,
    "communicator": np.uint32,
    "peer": np.int32,
    "tag": np.int64,
    "amount": np.int64,
    "request": np.int64,
}
"""Columns of rows and their types."""


@dataclass(frozen=True)
class Row:
    """One row; see `COLUMNS`."""

    kind: int
    label: int
    flags: int = 0
    collective: int = 0
    communicator: int = 0
    peer: int = NONE
    tag: int = 0
    amount: int = 0
    request: int = NONE


@dataclass
class Left:
    """Calls and bytes, by function, that a replay leaves out."""

    calls: dict[str, int] = field(default_factory=dict)
    bytes: dict[str, int] = field(default_factory=dict)

    def add(self, name: str, calls: int, moved: int) -> None:
        """Add calls of a function."""
        self.calls[name] = self.calls.get(name, 0) + calls
        self.bytes[name] = self.bytes.get(name, 0) + moved
