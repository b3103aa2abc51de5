"""Call sites: where in a program, or in a library that it uses, MPI is called; each rank numbers them by itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tradewind.base.errors import InputError
from tradewind.trace.json_objects import TEXT, between, read_object


class Site(NamedTuple):
    """A call site."""

    path: str
    """The program or library, absolute."""
    offset: int
    """The address behind the call, counted from address 0 of that file."""
    build_id: str = ""
    """The linker's number of the build, hexadecimal; "": it has none."""


_NUMBER = between(0, 1 << 32)
_OBJECT = {"object": _NUMBER, "path": TEXT, "build_id": TEXT}
_SITE = {"site": _NUMBER, "object": _NUMBER, "offset": between(1, 1 << 60)}


def read_sites(contents: Iterable[bytes], where: str) -> list[Site]:
    """Return the call sites in blocks of lines in JSON; they are numbered from 1 on. Raises InputError."""
    sites: list[Site] = []
    objects: dict[int, tuple[str, str]] = {}
    for number, line in enumerate(b"".join(contents).splitlines(), start=1):
        at = f"{where}: line {number} of its call sites"
        text = line.decode(errors="surrogateescape")  # paths may be in any encoding
        entry = read_object(text, at, {})
        if "path" in entry:
            entry = read_object(text, at, _OBJECT)
            objects[entry["object"]] = entry["path"], entry["build_id"]
            continue
        entry = read_object(text, at, _SITE)
        if entry["site"] != len(sites) + 1:
            raise InputError(f"{at}: 'site' is {entry['site']}: {len(sites) + 1} is allowed")
        if entry["object"] not in objects:
            raise InputError(f"{at}: 'object' is {entry['object']}, which no line before it describes")
        path, build_id = objects[entry["object"]]
        sites.append(Site(path, entry["offset"], build_id))
    return sites


def lines_of_sites(sites: Sequence[Site]) -> bytes:
    """Return what `read_sites` reads."""
    objects: dict[tuple[str, str], int] = {}
    lines: list[dict[str, object]] = []
    for number, (path, offset, build_id) in enumerate(sites, start=1):
        if (path, build_id) not in objects:
            objects[path, build_id] = len(objects)
            lines.append({"object": objects[path, build_id], "path": path, "build_id": build_id})
        lines.append({"site": number, "object": objects[path, build_id], "offset": offset})
    return b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)
