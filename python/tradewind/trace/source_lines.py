"""Function and source line of call sites, found behind a run in the programs and libraries that it used."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from tradewind.base.errors import as_utf8
from tradewind.trace.model import NONE, RankEvents
from tradewind.trace.sites import Site
from tradewind.trace.symbols import Symbols, read_symbols

TOOLS = ("addr2line", "llvm-addr2line", "eu-addr2line")
"""Programs that find lines, of which the first that is there is taken: of binutils, LLVM and elfutils."""
TOOL_SECONDS = 120.0
"""Time that such a program may take, for the sites of an object: one with gigabytes of lines takes a minute."""


@dataclass(frozen=True)
class Place:
    """Where a call stands in a program, as far as that is known."""

    object: str
    """The program or library."""
    offset: int
    """The address behind the call, counted from address 0 of the object."""
    function: str | None = None
    """None: there are no symbols, or the object may not be that of the run any more."""
    file: str | None = None
    """None, as the line: there are no source lines."""
    line: int | None = None

    def __str__(self) -> str:
        if self.file:
            line = f"{_shown(self.file)}:{self.line}"
            return f"{self.function}, {line}" if self.function else line
        name = as_utf8(Path(self.object).name)
        return f"{self.function}, {name.partition('.')[0]}" if self.function else f"{name}+{self.offset:#x}"


def _shown(file: str) -> str:
    """Return a path from the working directory on where it is below it."""
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file


class SourceLines:
    """Places of call sites. Each object is read once for all sites of a rank, and for what other ranks have beside."""

    def __init__(self) -> None:
        self._places: dict[Site, Place] = {}
        self._symbols: dict[str, Symbols | None] = {}

    def of(self, events: RankEvents, operation: int) -> Place | None:
        """Return where an operation of a rank was called; None where the trace does not have it."""
        number = int(events.operations["site"][operation])
        if number == NONE:
            return None
        if events.sites[number] not in self._places:
            self._find(site for site in events.sites if site not in self._places)
        return self._places[events.sites[number]]

    def _find(self, sites: Iterable[Site]) -> None:
        by_object: dict[tuple[str, str], list[Site]] = {}
        for site in sites:
            by_object.setdefault((site.path, site.build_id), []).append(site)
        for (path, build_id), members in by_object.items():
            self._places |= zip(members, self._places_in(path, build_id, members), strict=True)

    def _places_in(self, path: str, build_id: str, sites: list[Site]) -> list[Place]:
        if path not in self._symbols:
            self._symbols[path] = read_symbols(path)
        symbols = self._symbols[path]
        plain = [Place(path, site.offset) for site in sites]
        # Two builds without a number may differ.
        if symbols is None or not build_id or symbols.build_id != build_id:
            return plain
        # The address behind a call may be the first of another line.
        addresses = [site.offset - 1 for site in sites]
        try:
            lines = _lines(path, addresses)
            names = _demangled([symbols.function_at(address) for address in addresses])
        except subprocess.TimeoutExpired:
            self._symbols[path] = None  # it is not tried again for each rank
            return plain
        return [
            replace(each, function=_readable(function or name) or None, file=file, line=line)
            for each, (function, file, line), name in zip(plain, lines, names, strict=True)
        ]


_LOCATION = re.compile(r"(?P<file>.+?):(?P<line>[0-9]+)(?::[0-9]+)?(?: \(discriminator [0-9]+\))?")
"""elfutils have a column behind the line."""


def _file_and_line(location: str) -> tuple[str, int] | None:
    """Return what a tool has printed as a location; None where it found none."""
    match = _LOCATION.fullmatch(location)
    return None if match is None or int(match["line"]) == 0 else (os.path.normpath(match["file"]), int(match["line"]))


def _lines(path: str, addresses: list[int]) -> list[tuple[str, str | None, int | None]]:
    """Return function, file and line of addresses; "", None and None where no line is known."""
    nothing: list[tuple[str, str | None, int | None]] = [("", None, None)] * len(addresses)
    tool = next(filter(None, map(shutil.which, TOOLS)), None)
    if tool is None:
        return nothing
    output = _output([tool, "-C", "-f", "-e", path], [f"{address:#x}" for address in addresses])
    if len(output) != 2 * len(addresses):
        return nothing
    found = list(nothing)
    for number, (function, location) in enumerate(zip(output[::2], output[1::2], strict=True)):
        if (at := _file_and_line(location)) is not None:
            found[number] = "" if function == "??" else function, *at
    return found


_IN_MODULE = re.compile(r"__(?P<module>\w+)_MOD_(?P<procedure>\w+)")


_CYTHON = re.compile(r"__pyx_(?:pw|pf|f)_(?=[0-9])")
_NAME_IN_CYTHON = re.compile(r"(?P<length>[0-9]+)(?P<rest>[A-Za-z_].*)")


def _readable(name: str) -> str:
    """Return a name as the language has it: of a procedure of a module of gfortran, and of a method of Cython."""
    if (found := _CYTHON.match(name)) is None:
        return _IN_MODULE.sub(r"\g<module>::\g<procedure>", name)
    names, rest = [], name[found.end() :]
    while (part := _NAME_IN_CYTHON.fullmatch(rest)) is not None and part["rest"][int(part["length"]) :][:1] == "_":
        names.append(part["rest"][: int(part["length"])])
        rest = part["rest"][int(part["length"]) + 1 :]
    return ".".join([*names, rest.lstrip("0123456789")])


def _demangled(names: list[str]) -> list[str]:
    """Return names as C++ has them, where a tool for that is there."""
    tool = shutil.which("c++filt")
    if tool is None or not any(name.startswith("_Z") for name in names):
        return names
    output = _output([tool], names)
    return output if len(output) == len(names) else names


def _output(command: list[str], lines: list[str]) -> list[str]:
    """Return the lines that a tool prints for those that it is given; none where it fails. Raises TimeoutExpired."""
    variables = {name: value for name, value in os.environ.items() if name != "DEBUGINFOD_URLS"}  # no downloads
    run = subprocess.run(
        command,
        input="\n".join(lines) + "\n",
        env=variables,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=TOOL_SECONDS,
    )
    return run.stdout.splitlines() if run.returncode == 0 else []
