"""Work of a rank on files, in bytes: how long it takes, a machine says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FileWork:
    """Bytes of a rank, or of each of its points. Those that it encodes, compresses and decodes are bytes in memory,
    those that it writes and reads are bytes of files. One is done after the other; ranks of a group share the disk."""

    encode: float = 0.0
    compress: float = 0.0
    decode: float = 0.0
    write: float = 0.0
    read: float = 0.0

    def __bool__(self) -> bool:
        return any((self.encode, self.compress, self.decode, self.write, self.read))


NO_FILES = FileWork()
