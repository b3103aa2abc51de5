"""Short messages between the first rank of a model and a server, which no rank waits to send.

docs/reference/field-server-protocol.md lists them. Orders are JSON; src/fieldserver reads what servers send it: whole
numbers and real ones of 8 bytes each, text and lists behind their length.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tradewind.mpi.library import MPI

ORDER, STATUS, ANSWER, READY, AVAILABLE, INPUT, JOIN, END = range(7001, 7009)
"""Tags. To the server: orders. From it: its status, at any time; and replies to `define` and `check`, when it is ready
to do something together with the model, when it has been asked to read ahead, before it sends input. Between servers,
as they join a model. From the server, as it ends."""
PROTOCOL = 5
"""Version of the messages. src/fieldserver/control_channel.hpp has the same; who changes one counts on."""


class ControlChannel:
    """One end of the messages with the rank `peer` of a communicator."""

    def __init__(self, comm: MPI.Intracomm, peer: int) -> None:
        self.comm, self.peer = comm, peer
        self._sent: list[tuple[MPI.Request, bytes]] = []

    def send(self, tag: int, data: bytes) -> None:
        """Send a message, and go on."""
        self._sent = [(request, kept) for request, kept in self._sent if not request.Test()]
        self._sent.append((self.comm.Isend([data, MPI.BYTE], self.peer, tag), data))

    def send_json(self, tag: int, value: Any) -> None:
        """Send a value as JSON, and go on."""
        self.send(tag, json.dumps(value).encode())

    def receive(self, tag: int) -> bytes | None:
        """Return the next message, or None where none has come."""
        return self.wait_for(tag) if self.comm.Iprobe(self.peer, tag) else None

    def wait_for(self, tag: int) -> bytes:
        """Return the next message when it has come."""
        status = MPI.Status()
        self.comm.Probe(self.peer, tag, status)
        data = bytearray(status.Get_count(MPI.BYTE))
        self.comm.Recv([data, MPI.BYTE], self.peer, tag)
        return bytes(data)

    def finish(self) -> None:
        """Wait until all messages have gone."""
        for request, _ in self._sent:
            request.Wait()
        self._sent.clear()


def from_json(data: bytes) -> Any:
    """Return the value of a message as JSON."""
    return json.loads(decoded(data))


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
