"""Functions and the number of the build of programs and libraries in ELF, of 64 bits."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_HEADER_BYTES = 64
_SECTION = np.dtype(
    [
        *((name, "<u4") for name in ("name", "kind")),
        *((name, "<u8") for name in ("flags", "address", "at", "size")),
        *((name, "<u4") for name in ("link", "info")),
        *((name, "<u8") for name in ("alignment", "entry")),
    ]
)
_SYMBOL = np.dtype([("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"),
                    ("size", "<u8")])  # fmt: skip
_SYMTAB, _NOTE, _DYNSYM = 2, 7, 11
_FUNCTION = 2
_BUILD_ID = 3


class Symbols(NamedTuple):
    """The functions of an object, by ascending address."""

    build_id: str
    """Hexadecimal; "": it has none."""
    functions: NDArray[Any]
    names: bytes

    def function_at(self, address: int) -> str:
        """Return the name of the function that an address lies in, as the linker has it; "": in none."""
        place = int(np.searchsorted(self.functions["value"], address, "right")) - 1
        if place < 0 or address >= int(self.functions["value"][place]) + int(self.functions["size"][place]):
            return ""
        begin = int(self.functions["name"][place])
        return self.names[begin : self.names.find(b"\0", begin)].decode(errors="replace")


def read_symbols(path: str) -> Symbols | None:
    """Return the symbols of a file; None of a file that is missing, cut off, or not ELF of 64 bits."""
    try:
        if not Path(path).is_file():  # opening a pipe would wait for its writer
            return None
        with Path(path).open("rb") as file:
            length = os.fstat(file.fileno()).st_size
            head = file.read(_HEADER_BYTES)
            if len(head) < _HEADER_BYTES or head[:6] != b"\x7fELF\x02\x01":
                return None
            at, entry, count = (*struct.unpack_from("<Q", head, 40), *struct.unpack_from("<HH", head, 58))
            if entry != _SECTION.itemsize:
                return None

            def content(begin: int, size: int) -> bytes:
                if begin + size > length:
                    raise ValueError("the file is cut off")
                file.seek(begin)
                return file.read(size)

            sections = np.frombuffer(content(at, entry * count), _SECTION)
            notes = [content(int(each["at"]), int(each["size"])) for each in sections[sections["kind"] == _NOTE]]
            tables = [each for kind in (_SYMTAB, _DYNSYM) for each in sections[sections["kind"] == kind]]
            if not tables:
                return Symbols(_build_id(notes), np.empty(0, _SYMBOL), b"")
            table = tables[0]
            found = np.frombuffer(content(int(table["at"]), int(table["size"])), _SYMBOL)
            strings = sections[int(table["link"])]
            names = content(int(strings["at"]), int(strings["size"]))
    except (OSError, ValueError, IndexError, OverflowError):
        return None
    functions = found[(found["info"] & 15 == _FUNCTION) & (found["section"] != 0)]
    return Symbols(_build_id(notes), functions[np.argsort(functions["value"], kind="stable")], names)


def _build_id(notes: list[bytes]) -> str:
    """Return the number in the note of the linker; sections of notes have one each, but for what tools add."""
    for note in notes:
        if len(note) >= 16 and note[12:16] == b"GNU\0":
            name, size, kind = struct.unpack_from("<III", note)
            if (name, kind) == (4, _BUILD_ID):
                return note[16 : 16 + size].hex()
    return ""
