"""Files that are read ahead of the model, in the order in which it will ask for them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from tradewind.base.errors import InputError
from tradewind.fieldserver.files.reading import InputFile, read_input
from tradewind.fieldserver.server.events import Event, Events

_BETWEEN_S = 0.1


@dataclass
class _Ahead:
    path: str
    ready: threading.Event = field(default_factory=threading.Event)
    taken: bool = False
    """Somebody reads it."""
    found: InputFile | None = None
    problem: str = ""


class ReadAhead:
    """Reads up to `depth` files more than the model has asked for.

    `call` has work done after all other work (by a writer's thread, so what is written before a file goes first).
    `read` is what reads a file.
    """

    def __init__(
        self, call: Callable[[Callable[[], None]], None], depth: int, read: Callable[[str], InputFile] = read_input
    ) -> None:
        self._call, self._depth, self._read = call, depth, read
        self._lock = threading.Lock()
        self._later: deque[str] = deque()
        self._files: dict[str, _Ahead] = {}
        self._threads: list[threading.Thread] = []
        self.read_s = 0.0
        self.read_bytes = 0
        self.events: Events[Event] = Events()

    def ask(self, paths: Sequence[str]) -> None:
        """Name the next files."""
        self._later += paths
        self._begin()

    def get(self, path: str, meanwhile: Callable[[], None] | None = None) -> InputFile:
        """Return a file; those named before it are not wanted any more. Waits until it is read. Raises InputError.

        `meanwhile`: called now and then by a rank whose silence others would take for a failure.
        """
        for old in list(self._files):
            if old == path:
                break
            if path in self._files or path in self._later:
                del self._files[old]
        if path not in self._files:
            if path in self._later:
                while self._later.popleft() != path:
                    pass
            self._files[path] = _Ahead(path)
        self._begin()
        ahead = self._files[path]
        if meanwhile is None:
            self._take(ahead)  # it is late: it has not been begun
            ahead.ready.wait()
        elif not ahead.ready.is_set():
            self._threads = [each for each in self._threads if each.is_alive()]
            self._threads.append(threading.Thread(target=self._take, args=[ahead], daemon=True))
            self._threads[-1].start()
            while not ahead.ready.wait(_BETWEEN_S):
                meanwhile()
        if ahead.found is None:
            raise InputError(ahead.problem)
        return ahead.found

    def close(self) -> None:
        """Wait for the file that is being read: a thread that the interpreter ends keeps the locks of libraries."""
        self._later.clear()
        for thread in self._threads:
            thread.join()

    def _begin(self) -> None:
        while self._later and len(self._files) < self._depth:
            ahead = self._files.setdefault(path := self._later.popleft(), _Ahead(path))
            self._call(lambda ahead=ahead: self._take(ahead))  # type: ignore[misc]

    def _take(self, ahead: _Ahead) -> None:
        with self._lock:
            taken, ahead.taken = ahead.taken, True
        if taken:  # the model waits for it: a file that is read beside it would make it later
            ahead.ready.wait()
            return
        begin = perf_counter()
        try:
            ahead.found = self._read(ahead.path)
            self.read_bytes += ahead.found.bytes
        except InputError as error:
            ahead.problem = str(error)
        finally:
            end = perf_counter()
            self.read_s += end - begin
            self.events.append((f"read {ahead.path}", begin, end))
            ahead.ready.set()
