"""Messages of a local server with the model beside it, over a socket: see `messages`."""

from __future__ import annotations

import select
import socket
import struct
from collections import defaultdict, deque

from tradewind.fieldserver.server.messages import ORDER, to_json

_HEAD = struct.Struct("=qq")
"""Tag and length in bytes of a message; its bytes follow."""
_CHUNK = 2**16


class LocalControl:
    """The end of the server. What the socket has no room for waits here until the next call.

    A model that has ended in whichever way has closed its end: then the last order is to close, and to discard what
    waits.
    """

    def __init__(self, stream: socket.socket) -> None:
        self._stream = stream
        self._out = bytearray()
        self._in = bytearray()
        self._received: defaultdict[int, deque[bytes]] = defaultdict(deque)
        self._is_closed = False
        stream.setblocking(False)

    def send(self, tag: int, data: bytes) -> None:
        """Send a message, and go on."""
        self._out += _HEAD.pack(tag, len(data)) + data
        self._flush()

    def receive(self, tag: int) -> bytes | None:
        """Return the next message, or None where none has come."""
        self._flush()
        self._read_all()
        if not self._received[tag] and self._is_closed and tag == ORDER:
            return to_json({"op": "close", "awaited": False, "discard": True})
        return self._received[tag].popleft() if self._received[tag] else None

    def wait_for(self, tag: int) -> bytes:
        """Return the next message when it has come."""
        while (data := self.receive(tag)) is None:
            select.select([self._stream], [], [])
        return data

    def finish(self) -> None:
        """Wait until all messages have gone."""
        while self._out:
            select.select([], [self._stream], [])
            self._flush()

    def _flush(self) -> None:
        while self._out:
            try:
                del self._out[: self._stream.send(self._out)]
            except BlockingIOError:
                return
            except OSError:  # the model has ended, and reads nothing any more
                self._is_closed = True
                self._out.clear()

    def _read_all(self) -> None:
        while not self._is_closed:
            try:
                data = self._stream.recv(_CHUNK)
            except BlockingIOError:
                break
            except OSError:
                data = b""
            self._is_closed = not data
            self._in += data
        self._split()

    def _split(self) -> None:
        while len(self._in) >= _HEAD.size:
            tag, size = _HEAD.unpack_from(self._in)
            end = _HEAD.size + size
            if len(self._in) < end:
                return
            self._received[tag].append(bytes(self._in[_HEAD.size : end]))
            del self._in[:end]
