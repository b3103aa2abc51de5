"""Common part of all forms of files: a file grows under another name, and is there as a whole or not at all."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from abc import ABC, abstractmethod
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from tradewind.base.files import inside, make_folder, replaced
from tradewind.fieldserver.plan.forms import FormRules

if TYPE_CHECKING:
    from tradewind.fieldserver.plan.field import OutputField, Record
    from tradewind.fieldserver.plan.plan_file import Request

WHAT = "output file"
_PIECE = 2**20


@dataclass(frozen=True)
class Written:
    """A file that is whole: path below the folder, bytes, and checksum."""

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Place:
    """Where files appear. `durable`: they must outlast this computer. `kept`: what forms keep from step to step."""

    folder: Path
    durable: bool
    kept: dict[Any, Any] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True)
class Moment:
    """The time of a step: start of the run, seconds since then."""

    start: datetime
    seconds: float


class Form(FormRules, ABC):
    """A file of one step, or the part of a store that one step is.

    `path`: where in the folder it appears when it is finished.
    """

    def __init__(self, place: Place, path: str, when: Moment, compression: int) -> None:
        self.folder, self.durable = place.folder, place.durable
        self.path, self.when, self.compression = path, when, compression
        self.sink = ""

    @staticmethod
    def check(field: OutputField, request: Request) -> None:
        """Raises InputError for a field that the form cannot describe."""
        del field, request  # most describe all

    def pieces(self, record: Record) -> list[Record]:
        """A record as parts that can be prepared at the same time."""
        return [record]

    @abstractmethod
    def prepare(self, record: Record, request: Request) -> Any:
        """Encode values. Many threads call it at once."""

    @abstractmethod
    def append(self, record: Record, request: Request, prepared: Any) -> None:
        """Add what was prepared. One thread at a time calls it."""

    @abstractmethod
    def finish(self) -> list[Written]:
        """Let the file appear under its name. Raises InputError or WriteError, and leaves nothing then."""

    @abstractmethod
    def abort(self) -> None:
        """Leave nothing."""

    def leave(self) -> None:
        """Another has finished the file: leave what is there."""
        self.abort()

    @property
    def held(self) -> int:
        """Bytes of values that wait in memory for others of their file."""
        return 0


class PartFile:
    """A file under another name beside its place, with a checksum of what is written to it in order."""

    def __init__(self, folder: Path, path: str, *, durable: bool) -> None:
        whole = below(folder, path)
        make_folder(whole.parent, WHAT, durable=durable)
        self._stack = ExitStack()
        self.stream: IO[bytes] = self._stack.enter_context(replaced(whole, WHAT, durable=durable))
        self.bytes = 0
        self._sum = hashlib.sha256()

    def write(self, content: bytes | memoryview) -> None:
        """Write at the end."""
        self.guarded(self.stream.write, content)
        self._sum.update(content)
        self.bytes += memoryview(content).nbytes

    def guarded(self, work: Any, *arguments: Any) -> Any:
        """Call what writes; an error leaves nothing and names the file."""
        try:
            return work(*arguments)
        except BaseException as error:
            self._stack.__exit__(type(error), error, error.__traceback__)  # raises it in our words
            raise

    def whole_sum(self) -> str:
        """Checksum of what was written in order."""
        return self._sum.hexdigest()

    def finish(self) -> None:
        """Let it appear."""
        self._stack.close()

    def abort(self) -> None:
        """Leave nothing."""
        with suppress(_AbandonedError):
            self._stack.__exit__(_AbandonedError, _AbandonedError(), None)


class _AbandonedError(Exception):
    """A file is not wanted any more."""


def below(folder: Path, path: str) -> Path:
    """Return where a file of a plan appears. Raises InputError where a link leads out of the folder.

    Only the path of a sink that may be `outside` is not below the folder.
    """
    return Path(path) if os.path.isabs(path) else inside(folder, path, WHAT)


def checksum(stream: IO[bytes]) -> tuple[int, str]:
    """Bytes and sha256 of a stream from its beginning."""
    stream.seek(0)
    found, size = hashlib.sha256(), 0
    while piece := stream.read(_PIECE):
        found.update(piece)
        size += len(piece)
    return size, found.hexdigest()
