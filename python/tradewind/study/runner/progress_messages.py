"""Progress messages from worker processes to the study that started them.

A datagram holds one message. Sending it neither blocks nor takes a lock, so that a worker may be killed at any time.
Messages that the study has no time to read are dropped: the next one has later progress.
"""

from __future__ import annotations

import contextlib
import json
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict

from tradewind.base.errors import TradewindError
from tradewind.base.job_folder import temporary_folder
from tradewind.simulation import Progress

PAUSE_S = 0.5
"""Seconds between two messages of a case."""
_LARGEST = 4096


class ProgressReceiver:
    """Context manager that receives progress messages at its `address`."""

    def __enter__(self) -> ProgressReceiver:
        with contextlib.ExitStack() as held:
            self.address = str(held.enter_context(temporary_folder()) / "progress")
            self._socket = held.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
            try:
                self._socket.bind(self.address)
            except OSError as error:
                reason = f"{error.strerror or error}; name a shorter folder in TMPDIR"
                raise TradewindError(f"cannot listen at {self.address}: {reason}") from None
            self._socket.setblocking(False)
            self._held = held.pop_all()
        return self

    def __exit__(self, *exception: object) -> None:
        self._held.close()

    def read(self) -> Iterator[tuple[str, Progress]]:
        """Yield (key of the case, its progress) for each message that has arrived."""
        while True:
            try:
                message = json.loads(self._socket.recv(_LARGEST))
            except BlockingIOError:
                return
            yield message.pop("key"), Progress(**message)


def reporter(key: str, send: Callable[[dict[str, object]], None]) -> Callable[[Progress], None]:
    """Return a callback for a simulation; it sends the progress of the case `key` every `PAUSE_S`."""
    last = time.monotonic()

    def watch(progress: Progress) -> None:
        nonlocal last
        if time.monotonic() - last >= PAUSE_S:
            last = time.monotonic()
            send({"key": key, **asdict(progress)})

    return watch


def datagram_sender(address: str) -> Callable[[dict[str, object]], None]:
    """Return a function that sends messages to a receiver; it drops them where that is full or gone."""
    sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    sender.setblocking(False)

    def send(message: dict[str, object]) -> None:
        with contextlib.suppress(OSError):  # no reader: progress, not results
            sender.sendto(json.dumps(message).encode(), address)

    return send
