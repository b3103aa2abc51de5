"""Messages between a model and a server: their version, tags and forms.

docs/reference/field-server-protocol.md lists them. Orders are JSON; src/fieldserver reads what servers send it: whole
numbers and real ones of 8 bytes each, text and lists behind their length.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

ORDER, STATUS, ANSWER, READY, AVAILABLE, INPUT, JOIN, END = range(7001, 7009)
"""Tags. To the server: orders. From it: its status, at any time; and replies to `define` and `check`, when it is ready
to do something together with the model, when it has been asked to read ahead, before it sends input. Between servers,
as they join a model, and from a local server, as it starts. From the server, as it ends."""
MAGIC = 0x74776673
"""Marks ranks, and local servers, that open a field server: "twfs"."""
PROTOCOL = 5
"""Version of the messages. src/fieldserver/control_channel.hpp has the same; who changes one counts on."""


class Control(Protocol):
    """One end of the messages between a model and a server."""

    def send(self, tag: int, data: bytes) -> None:
        """Send a message, and go on."""

    def receive(self, tag: int) -> bytes | None:
        """Return the next message, or None where none has come."""

    def finish(self) -> None:
        """Wait until all messages have gone."""


def from_json(data: bytes) -> Any:
    """Return the value of a message as JSON."""
    return json.loads(decoded(data))


def to_json(value: Any) -> bytes:
    """Return the message of a value as JSON."""
    return json.dumps(value).encode()


def encoded(text: str) -> bytes:
    """Return a text as it is sent: names of files may be any bytes."""
    return text.encode(errors="surrogateescape")


def decoded(data: bytes) -> str:
    """Return a text that was sent."""
    return data.decode(errors="surrogateescape")


def pack(*values: Any) -> bytes:
    """Return values one after the other: numbers, text, and lists of these or of tuples of these."""
    return b"".join(map(_packed, values))


def _packed(value: Any) -> bytes:
    if isinstance(value, int):
        return struct.pack("=q", value)
    if isinstance(value, float):
        return struct.pack("=d", value)
    if isinstance(value, str):
        data = encoded(value)
        return struct.pack("=q", len(data)) + data
    if isinstance(value, tuple):
        return pack(*value)
    return struct.pack("=q", len(value)) + pack(*value)


class Message:
    """Reads what `pack` has written, in its order."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def integer(self) -> int:
        """Return a whole number."""
        (value,) = struct.unpack_from("=q", self._data, self._at)
        self._at += 8
        return int(value)

    def text(self) -> str:
        """Return a text."""
        size = self.integer()
        self._at += size
        return decoded(self._data[self._at - size : self._at])


@dataclass
class ServerStatus:
    """Status of a server: parts of steps that are finished, blocks whose memory is free, and errors.

    `released`: slots and numbers of their blocks. `lost`: why it does nothing any more.
    """

    finished: int = 0
    released: Sequence[tuple[int, int]] = ()
    errors: list[str] = field(default_factory=list)
    lost: str = ""

    def pack(self) -> bytes:
        """Return it as a message."""
        return pack(self.finished, [number for pair in self.released for number in pair], self.errors, self.lost)
