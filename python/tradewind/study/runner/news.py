"""How far running cases are, told by worker processes to the study that started them.

A datagram holds one piece of news. Nobody waits for it and nobody holds a lock while it is sent, so that a worker may
be killed at any time; what the study has no time to read is lost, and the next one says more.
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
"""Between two pieces of news of a case."""
_LARGEST = 4096


class Newsroom:
    """Where news come in: a context, with the `address` to send them to."""

    def __enter__(self) -> Newsroom:
        with contextlib.ExitStack() as held:
            self.address = str(held.enter_context(temporary_folder()) / "news")
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
        """(key of the case, how far it is), as far as anything came in."""
        while True:
            try:
                news = json.loads(self._socket.recv(_LARGEST))
            except BlockingIOError:
                return
            yield news.pop("key"), Progress(**news)


def reporter(key: str, send: Callable[[dict[str, object]], None]) -> Callable[[Progress], None]:
    """What a simulation calls as it goes on: it sends news of the case `key` now and then."""
    last = time.monotonic()

    def watch(progress: Progress) -> None:
        nonlocal last
        if time.monotonic() - last >= PAUSE_S:
            last = time.monotonic()
            send({"key": key, **asdict(progress)})

    return watch


def datagrams(address: str) -> Callable[[dict[str, object]], None]:
    """Sends news to a newsroom; where that is full or gone, it does without."""
    sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    sender.setblocking(False)

    def send(news: dict[str, object]) -> None:
        with contextlib.suppress(OSError):  # nobody reads: news, not results
            sender.sendto(json.dumps(news).encode(), address)

    return send
