"""Short messages between ranks, which no rank waits to send: see `messages`."""

from __future__ import annotations

from typing import Any

from tradewind.fieldserver.server.messages import to_json
from tradewind.mpi.library import MPI


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
        self.send(tag, to_json(value))

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
