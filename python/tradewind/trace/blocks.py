"""The blocks of which files of traces consist, see docs/reference/trace.md: the file of a rank while it runs, and all
ranks joined.
"""

from __future__ import annotations

import itertools
import lzma
import struct
import zlib
from collections.abc import Iterator, Sequence
from enum import IntEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tradewind.base.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIGNATURE = b"tradewind trace\n"
VERSION = 1
"""The newest version of the format that is read; what is written has it."""
_MAGIC = b"TWTB"
_HEADER = struct.Struct("<4sBBBBIIII")


class Kind(IntEnum):
    """Kinds of blocks. Readers skip those that they do not know."""

    RUN = 1
    RANK = 2
    DEFINITIONS = 3
    OPERATIONS = 4
    ORDER = 5
    GAPS = 6
    DURATIONS = 7
    END = 8
    SITES = 9
    OVERTAKERS = 10


class Coding(IntEnum):
    """How the content of a block is stored."""

    PLAIN = 0
    ZLIB = 1
    XZ = 2
    BY_OPERATION = 3
    """Numbers of 16 bits, one per event: sorted by operation, all upper parts, all lower 7 bits, then zlib."""


class Block(NamedTuple):
    """A block of a file, without its content."""

    kind: int
    coding: int
    rank: int
    stored: int
    raw: int
    checksum: int
    at: int
    """Position of the content."""


def is_empty(path: Path) -> bool:
    """Return whether a file ends within the signature. Raises InputError for one that cannot be read."""
    with _opened(path) as file:
        begin = file.read(len(SIGNATURE))
    return begin != SIGNATURE and SIGNATURE.startswith(begin)


def _opened(path: Path) -> IO[bytes]:
    try:
        return open(path, "rb")
    except OSError as error:
        raise InputError(f"cannot read trace {path}: {error.strerror}") from None


def scan(file: IO[bytes], path: Path) -> tuple[list[Block], str]:
    """Return the whole blocks of a file, and what is wrong behind the last: "" where the file ends there.

    Raises InputError for a file that is no trace, or of a newer version.
    """
    size = file.seek(0, 2)
    file.seek(0)
    if file.read(len(SIGNATURE)) != SIGNATURE:
        raise InputError(
            f"{path}: not a trace: a file of `tradewind record`, a schedule in GOAL's text form, or a trace of SimGrid "
            f"is allowed"
        )
    blocks: list[Block] = []
    at = len(SIGNATURE)
    while at < size:
        file.seek(at)
        header = file.read(_HEADER.size)
        if len(header) < _HEADER.size:
            return blocks, f"is cut off at byte {at}"
        magic, kind, coding, version, _, rank, stored, raw, checksum = _HEADER.unpack(header)
        if magic != _MAGIC:
            return blocks, f"is damaged at byte {at}"
        if version > VERSION:
            raise InputError(f"{path}: a trace of version {version}: up to {VERSION} are allowed; update Tradewind")
        at += _HEADER.size
        if at + stored > size:
            return blocks, f"is cut off at byte {size}, within a block"
        blocks.append(Block(kind, coding, rank, stored, raw, checksum, at))
        at += stored
    return blocks, ""


def content(file: IO[bytes], path: Path, block: Block, order: NDArray[np.uint32] | None = None) -> bytes:
    """Return the content of a block; `order`: the operations of its events. Raises InputError for a damaged one.

    No block may ask for more memory than `MOST_EVENTS` events, or `MOST_BYTES` of anything else, need.
    """
    where = f"{path}: the block at byte {block.at}"
    most = _EVENT_BYTES[block.kind] * MOST_EVENTS if block.kind in _EVENT_BYTES else MOST_BYTES
    if block.raw > most or block.stored > block.raw + (block.raw >> _INFLATED_BITS) + _FRAME_BYTES:
        raise InputError(
            f"{where} is damaged: it asks for {max(block.raw, block.stored)} bytes: up to {most} are allowed"
        )
    file.seek(block.at)
    data = file.read(block.stored)
    if zlib.adler32(data) != block.checksum:
        raise InputError(f"{where} is damaged: its checksum differs")
    decoded = _decoded(data, block, where)
    if block.coding != Coding.BY_OPERATION:
        return decoded
    if order is None or len(decoded) != 2 * len(order):
        raise InputError(f"{where} is damaged: it does not have the times of the events before it")
    return _unsorted(decoded, order)


MOST_EVENTS = 1 << 21
"""Events of a block that are read; what is written has up to half as many."""
MOST_BYTES = 1 << 28
"""Bytes of a block of anything but events."""
_EVENT_BYTES: dict[int, int] = {Kind.ORDER: 4, Kind.GAPS: 2, Kind.DURATIONS: 2, Kind.OVERTAKERS: 4}
_INFLATED_BITS = 10
_FRAME_BYTES = 1024
"""Most bytes that compression adds to content that it cannot compress: a share of 2 ** -10, and this."""
_XZ_BYTES = 1 << 26
"""Memory that a block may need to be decompressed."""


def _decoded(data: bytes, block: Block, where: str) -> bytes:
    """Return what a block holds once it is decompressed, which is never more than its header says."""
    if block.coding == Coding.PLAIN:
        whole, ended = data, True
    else:
        try:
            decoder: Any
            if block.coding == Coding.XZ:
                decoder = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_BYTES)
            elif block.coding in (Coding.ZLIB, Coding.BY_OPERATION):
                decoder = zlib.decompressobj()
            else:
                raise InputError(f"{where} has the coding {block.coding}: 0 to {max(Coding)} are allowed")
            whole = decoder.decompress(data, block.raw + 1)
        except (zlib.error, lzma.LZMAError) as error:
            raise InputError(f"{where} is damaged: {error}") from None
        ended = decoder.eof
    if len(whole) != block.raw or not ended:
        raise InputError(f"{where} is damaged: it does not hold the {block.raw} bytes that its header names")
    return whole


def write(file: IO[bytes], kind: Kind, rank: int, data: bytes, coding: Coding, order: Any = None) -> None:
    """Write a block. Raises OSError."""
    if coding == Coding.ZLIB:
        stored = zlib.compress(data, 6)
    elif coding == Coding.XZ:
        stored = lzma.compress(data, preset=1)
    elif coding == Coding.BY_OPERATION:
        stored = zlib.compress(_sorted(data, order), 6)
    else:
        stored = data
    header = (_MAGIC, kind, coding, VERSION, 0, rank, len(stored), len(data), zlib.adler32(stored))
    file.write(_HEADER.pack(*header) + stored)


def _sorted(data: bytes, order: NDArray[np.uint32]) -> bytes:
    values = np.frombuffer(data, "<u2")[np.argsort(order, kind="stable")]
    return (values >> _BITS).astype("u1").tobytes() + (values & _LOWER).astype("u1").tobytes()


def _unsorted(data: bytes, order: NDArray[np.uint32]) -> bytes:
    upper, lower = np.frombuffer(data, "u1").reshape(2, -1).astype("<u2")
    values = np.empty(len(order), "<u2")
    values[np.argsort(order, kind="stable")] = upper << _BITS | lower
    return values.tobytes()


_BITS = 7
_LOWER = (1 << _BITS) - 1
_EXACT = 2 << _BITS
"""Times below are their own codes."""
LONGEST_CODE = (56 << _BITS) - 1
"""The code of the longest time that is read: some 140 years."""


def encode_times(ns: NDArray[np.int64]) -> NDArray[np.uint16]:
    """Return the codes of durations: exact below 256 ns, else 8 bits and a power of two, within 0.4 %."""
    ns = np.maximum(ns, 0)
    exponent = np.maximum(np.frexp(np.maximum(ns, 1).astype(np.float64))[1].astype(np.int64) - _BITS - 1, 0)
    half = np.where(exponent > 0, 1 << np.maximum(exponent - 1, 0), 0)
    codes = (exponent << _BITS) + ((ns + half) >> exponent)
    return np.asarray(codes, np.uint16)


def decode_times(codes: NDArray[np.uint16]) -> NDArray[np.int64]:
    """Return the durations of codes, ns."""
    wide = codes.astype(np.int64)
    return np.where(wide < _EXACT, wide, ((wide & _LOWER) + _EXACT // 2) << np.maximum((wide >> _BITS) - 1, 0))


class Columns(NamedTuple):
    """Columns of events as files have them."""

    order: NDArray[np.uint32]
    gaps: NDArray[np.uint16]
    durations: NDArray[np.uint16]
    overtakers: NDArray[np.uint32]
    """Empty where the file has none."""

    @classmethod
    def joined(cls, parts: Sequence[Columns]) -> Columns:
        """Return the columns of parts behind one another."""
        whole: list[Any] = [np.concatenate(column) for column in zip(*parts, strict=True)]
        return cls(*whole)

    def part(self, begin: int, end: int | None) -> Columns:
        """Return the columns of the events from `begin` to before `end`."""
        sliced: list[Any] = [column[begin:end] for column in self]
        return Columns(*sliced)


class Reader:
    """The blocks of a file by rank; contents are read when asked for."""

    def __init__(self, path: Path) -> None:
        """Raises InputError for a file that cannot be read, or is no trace."""
        self.path = path
        self._file = _opened(path)  # it stays open as long as the trace
        found, self.problem = scan(self._file, path)
        self.by_rank: dict[int, list[Block]] = {}
        self.run: Block | None = None
        for block in found:
            if block.kind == Kind.RUN:
                self.run = block
            else:
                self.by_rank.setdefault(block.rank, []).append(block)

    def content(self, block: Block, order: NDArray[np.uint32] | None = None) -> bytes:
        """Return `content` of a block."""
        return content(self._file, self.path, block, order)

    def all_of(self, rank: int, kind: Kind) -> Iterator[bytes]:
        """Yield the contents of all blocks of a kind of a rank."""
        for block in self.by_rank.get(rank, ()):
            if block.kind == kind:
                yield self.content(block)

    def columns(self, rank: int) -> Iterator[Columns]:
        """Yield the columns of some events after the other; events without order, gaps or durations are left out."""
        blocks = {kind: [b for b in self.by_rank.get(rank, ()) if b.kind == kind] for kind in Kind}
        columns = (blocks[Kind.ORDER], blocks[Kind.GAPS], blocks[Kind.DURATIONS])
        overtaken = blocks[Kind.OVERTAKERS] or itertools.repeat(None)
        for order_block, gap_block, duration_block, overtaking in zip(*columns, overtaken, strict=False):
            order = np.frombuffer(self._whole(order_block, 4), "<u4")
            gaps, durations = (
                np.frombuffer(self._whole(block, 2, order), "<u2") for block in (gap_block, duration_block)
            )
            if not len(order) == len(gaps) == len(durations):
                raise InputError(f"{self.path}: the block at byte {gap_block.at} is damaged: it has other events")
            if max(gaps.max(initial=0), durations.max(initial=0)) > LONGEST_CODE:
                raise InputError(f"{self.path}: the block at byte {gap_block.at} is damaged: it has times of centuries")
            overtakers = np.frombuffer(self._whole(overtaking, 4) if overtaking else b"", "<u4")
            if overtaking and len(overtakers) != len(order):
                raise InputError(f"{self.path}: the block at byte {overtaking.at} is damaged: it has other events")
            yield Columns(order, gaps, durations, overtakers)

    def _whole(self, block: Block, size: int, order: NDArray[np.uint32] | None = None) -> bytes:
        """Return the content of a block of numbers of `size` bytes."""
        data = self.content(block, order)
        if len(data) % size:
            raise InputError(f"{self.path}: the block at byte {block.at} is damaged: it ends within a number")
        return data

    def events(self, rank: int) -> int:
        """Return the number of events of a rank."""
        raw = {kind: [b.raw for b in self.by_rank[rank] if b.kind == kind] for kind in (Kind.ORDER, Kind.DURATIONS)}
        return sum(size // 4 for size, _ in zip(raw[Kind.ORDER], raw[Kind.DURATIONS], strict=False))
