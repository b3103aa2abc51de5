"""The floors of the C++ core: which folder of src/ and bindings/ may include which, and the namespace of each.

``python tests/core_floors.py`` prints what breaks them; `make lint` runs it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

GROUND = ("base", "layout", "pattern", "schedule")
FLOORS = {
    "base": (),
    "layout": GROUND[:1],
    "pattern": GROUND[:2],
    "schedule": GROUND[:3],
    "program": GROUND,
    "algorithm": GROUND,
    "verify": (*GROUND, "program"),
    "mpi": GROUND,
    "fieldserver": (*GROUND, "algorithm", "mpi"),
    "machine": ("base", "layout"),
    "kernel": ("base", "layout"),
    "spectral": ("base", "layout", "pattern", "kernel"),
    "sim": (*GROUND, "program", "machine"),
    "recorder": (),
}
"""Folders that each folder of src/ may include beside itself. ARCHITECTURE.md draws them."""
ALONE = ("kernel",)
"""Folders of src/ whose own folders may use what lies directly in the folder, but not one another."""
BINDINGS = {
    "bindings/c": (*GROUND, "algorithm", "mpi", "fieldserver", "spectral", "tradewind"),
    "bindings/c/program": (*GROUND, "mpi"),
    "bindings/python/mpi": (*GROUND, "algorithm", "mpi", "fieldserver"),
    "bindings/python/core": tuple(folder for folder in FLOORS if folder not in ("mpi", "fieldserver", "recorder")),
    "bindings/python": ("base",),
}
"""Folders that are linked into each library over the core; `tradewind` is include/tradewind."""
OUTSIDE = {
    "mpi.h": ("src/mpi", "src/fieldserver", "bindings/c", "bindings/python/mpi"),
    "Python.h": (),
    "nanobind": ("bindings/python",),
}
"""Headers of others, and the only folders that may include them."""

INCLUDE = re.compile(r'\s*#\s*include\s+([<"])([^>"]+)')
OPENED = re.compile(r"(?:inline )?namespace\b ?([\w:]*) ?\{")
CLOSED = re.compile(r"\}  // namespace\b")
CODE = re.compile(r"[^\s#/}]")
"""How a line begins that is code at the outermost level: clang-format indents all but namespaces."""


def namespace_of(folder: str) -> str:
    """`base` is the common ground: its types are named without it."""
    return "tradewind" if folder == "base" else f"tradewind::{folder}"


def include_problem(place: str, own: str, room: str, allowed: tuple[str, ...], quoted: bool, header: str) -> str | None:
    """Return why a file in `place` may not include a header, None where it may.

    `own` is the folder of src/ that the file belongs to, `room` the one below src/ that it lies in.
    """
    folder = header.split("/")[0]
    if folder in OUTSIDE:
        places = OUTSIDE[folder]
        if any(place == p or place.startswith(f"{p}/") for p in places):
            return None
        return f"includes {header}, which only {' and '.join(places) or 'no folder'} may"
    if not quoted:
        return None
    if place.startswith("bindings") and (header.startswith("../") or "/" not in header):
        return None  # of the same library
    if folder == own and folder in ALONE and header.count("/") > 1 and header.rpartition("/")[0] != room:
        return f"includes {header}; src/{room} may include of src/{own} only what lies in no other folder of it"
    if folder == own or folder in allowed:
        return None
    return f"includes {header}; {place} may include only {', '.join((*allowed, own) if own else allowed)}"


def namespace_problems(lines: list[str], wanted: str) -> Iterator[tuple[int, str]]:
    """Lines that declare anything outside the one namespace of their folder."""
    opened: list[str] = []
    for number, line in enumerate(lines, 1):
        if found := OPENED.match(line):
            name = found[1]
            if name != wanted if not opened else name.startswith("tradewind"):
                yield number, f"opens namespace {name or '{'}; the namespace of its folder is {wanted}"
            opened.append(name)
        elif CLOSED.match(line) and opened:
            opened.pop()
        elif not opened and CODE.match(line):
            yield number, f"declares something outside namespace {wanted}"


def problems(root: Path) -> list[str]:
    """Yield what breaks the floors in the checkout at `root`, as file:line: what, and what is allowed."""
    found = []
    sources = [path for top in ("src", "bindings") for path in sorted((root / top).rglob("*.[ch]pp"))]
    for path in sources:
        name = path.relative_to(root).as_posix()
        room = name.removeprefix("src/").rpartition("/")[0]
        lines = path.read_text().splitlines()
        if name.startswith("src/"):
            own = name.split("/")[1]
            place, allowed = f"src/{own}", FLOORS.get(own)
            found += [f"{name}:{number}: {what}" for number, what in namespace_problems(lines, namespace_of(own))]
        else:
            own, place = "", path.parent.relative_to(root).as_posix()
            allowed = BINDINGS.get(place)
        if allowed is None:
            found.append(f"{name}:1: {place} has no floor in tests/core_floors.py")
            continue
        for number, line in enumerate(lines, 1):
            if include := INCLUDE.match(line):
                problem = include_problem(place, own, room, allowed, include[1] == '"', include[2])
                if problem:
                    found.append(f"{name}:{number}: {problem}")
            elif path.suffix == ".hpp" and line.lstrip().startswith("using namespace"):
                found.append(f"{name}:{number}: using namespace in a header, for all who include it")
    return found


def main() -> int:
    """Print the problems; 1 where there is one."""
    root = Path(__file__).parents[1]
    found = problems(root)
    sys.stdout.write("".join(f"{line}\n" for line in found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
