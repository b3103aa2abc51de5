"""Short messages between the first rank of a model and a server: JSON, which no rank waits to send."""

from __future__ import annotations

import json
from typing import Any

from tradewind.mpi.library import MPI

ORDER, NEWS, ANSWER, READY, AVAILABLE, INPUT, JOIN = 7001, 7002, 7003, 7004, 7005, 7006, 7007
"""Tags: to the server; from it: when it likes, when it was asked, when it waits to make something together,
when it has been asked to read ahead, before it sends input, and between servers, before a model hears of them."""
PROTOCOL = 3
"""Version of the orders and their answers. bindings/c/field_server/talk.hpp has the same; who changes one counts on."""


class Talk:
    """One end of the messages with the rank `peer` of a communicator, which are sent with one tag."""

    def __init__(self, comm: MPI.Intracomm, peer: int) -> None:
        self.comm, self.peer = comm, peer
        self._sent: list[tuple[MPI.Request, bytes]] = []

    def say(self, tag: int, value: Any) -> None:
        """Send a value, and go on."""
        data = json.dumps(value).encode()
        self._sent = [(request, kept) for request, kept in self._sent if not request.Test()]
        self._sent.append((self.comm.Isend([data, MPI.BYTE], self.peer, tag), data))

    def hear(self, tag: int) -> Any:
        """Return the next value, or None where none has come."""
        return self.wait_for(tag) if self.comm.Iprobe(self.peer, tag) else None

    def wait_for(self, tag: int) -> Any:
        """Return the next value when it has come."""
        status = MPI.Status()
        self.comm.Probe(self.peer, tag, status)
        data = bytearray(status.Get_count(MPI.BYTE))
        self.comm.Recv([data, MPI.BYTE], self.peer, tag)
        return json.loads(bytes(data).decode(errors="surrogateescape"))  # names of files may be any bytes

    def finish(self) -> None:
        """Wait until all that was said has gone."""
        for request, _ in self._sent:
            request.Wait()
        self._sent.clear()
