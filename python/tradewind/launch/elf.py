"""Headers of compiled programs: whether a library can be preloaded, and which MPI they are linked to."""

from __future__ import annotations

import platform
import stat
import struct
from dataclasses import dataclass
from pathlib import Path

_MACHINES = {62: "x86_64", 183: "aarch64"}
_PT_DYNAMIC, _PT_INTERP = 2, 3
_DT_NEEDED, _DT_STRTAB, _DT_FLAGS_1 = 1, 5, 0x6FFFFFFB
_DF_1_PIE = 0x08000000
_ET_DYN = 3
_PT_LOAD = 1


@dataclass(frozen=True)
class Program:
    """A compiled program."""

    machine: str
    is_static: bool
    is_setuid: bool
    needed: tuple[str, ...]
    """Libraries that it is linked to, such as libmpi.so.12."""

    def problem(self) -> str:
        """Return why no library can be preloaded into it; "": one can."""
        if self.is_static:
            return "is linked statically: no library can be preloaded into it; link it to a shared MPI library"
        if self.is_setuid:
            return "is setuid or setgid: the system preloads nothing into such a program"
        if self.machine != platform.machine():
            return f"is a program for {self.machine}; the recorder is for {platform.machine()}"
        unknown = [name for name in self.needed if name.startswith("libmpi.so") and name not in _MPI_LIBRARIES]
        if unknown:
            return f"is linked to {unknown[0]}, of an ABI that is not known ({', '.join(_MPI_LIBRARIES)} are)"
        return ""


_MPI_LIBRARIES = ("libmpi.so", "libmpi.so.12", "libmpi.so.40")
"""MPI libraries of that name whose ABI is known; those of other names are MPICH's (Cray) or of the MPI 5 standard."""


def read_program(path: Path) -> Program | None:
    """Return what a file says of itself; None for a script, a library, or what else is no program of 64 bits."""
    try:
        with open(path, "rb") as file:
            head = file.read(64)
            if len(head) < 64 or head[:6] != b"\x7fELF\x02\x01":
                return None
            kind, machine = struct.unpack_from("<HH", head, 16)
            at, size, count = *struct.unpack_from("<Q", head, 32), *struct.unpack_from("<HH", head, 54)
            file.seek(at)
            table = file.read(size * count)
            headers = [struct.unpack_from("<IIQQQQ", table, size * n) for n in range(count)]
            mode = path.stat().st_mode
            entries = _dynamic_entries(file, headers)
            needed = _needed(file, headers, entries)
    except (OSError, struct.error):
        return None
    has_interpreter = any(header[0] == _PT_INTERP for header in headers)
    is_pie = any(tag == _DT_FLAGS_1 and value & _DF_1_PIE for tag, value in entries)
    if kind == _ET_DYN and not has_interpreter and not is_pie:
        return None
    return Program(
        _MACHINES.get(machine, f"machine {machine}"),
        is_static=not has_interpreter,
        is_setuid=bool(mode & (stat.S_ISUID | stat.S_ISGID)),
        needed=needed,
    )


def _dynamic_entries(file, headers) -> list[tuple[int, int]]:  # type: ignore[no-untyped-def]
    """Return the tags and values of the dynamic section; none where there is no such section."""
    dynamic = next((header for header in headers if header[0] == _PT_DYNAMIC), None)
    if dynamic is None:
        return []
    file.seek(dynamic[2])
    section = file.read(dynamic[5])
    return [struct.unpack_from("<qQ", section, at) for at in range(0, len(section) - 15, 16)]


def _needed(file, headers, entries) -> tuple[str, ...]:  # type: ignore[no-untyped-def]
    """Return the names of the libraries in the dynamic section."""
    names = [value for tag, value in entries if tag == _DT_NEEDED]
    if not names:
        return ()
    strings = next(value for tag, value in entries if tag == _DT_STRTAB)
    offset = next(h[2] + strings - h[3] for h in headers if h[0] == _PT_LOAD and h[3] <= strings < h[3] + h[5])
    found = []
    for name in names:
        file.seek(offset + name)
        found.append(file.read(256).split(b"\0")[0].decode(errors="replace"))
    return tuple(found)
