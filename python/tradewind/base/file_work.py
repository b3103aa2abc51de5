"""Work of a rank on files, in bytes; the rates of a machine give its time."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tradewind.base.errors import InputError


@dataclass(frozen=True)
class FileWork:
    """Bytes of a rank, or of each of its points. Those that it encodes, compresses and decodes are bytes in memory,
    those that it writes and reads are bytes of files. One is done after the other; ranks of a group share the disk.
    Raises InputError for what is negative or not finite."""

    encode: float = 0.0
    compress: float = 0.0
    decode: float = 0.0
    write: float = 0.0
    read: float = 0.0

    def __post_init__(self) -> None:
        if any(not 0 <= size < math.inf for size in vars(self).values()):
            raise InputError(f"{self}: 0 bytes or more are allowed")

    def __bool__(self) -> bool:
        return any(vars(self).values())


NO_FILES = FileWork()
