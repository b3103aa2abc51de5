"""Lines of call sites are those that stand in the source; without them there are functions, else objects."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest

from tradewind.trace import source_lines
from tradewind.trace.builder import TraceBuilder
from tradewind.trace.sites import Site, read_sites
from tradewind.trace.source_lines import TOOLS, Place, SourceLines, _file_and_line, _readable
from tradewind.trace.symbols import read_symbols

SOURCE = "void wait(void);\nnamespace halo {\nvoid exchange() {\n    wait();\n    wait();\n}\n}\n"


@pytest.fixture
def library(tmp_path: Path) -> Path:
    (tmp_path / "halo.cpp").write_text(SOURCE)
    flags = ["-g", "-O0", "-fcf-protection=none", "-shared", "-fPIC", "-Wl,--build-id"]
    subprocess.run(["c++", *flags, "halo.cpp", "-o", "libhalo.so"], cwd=tmp_path, check=True)
    return tmp_path / "libhalo.so"


def place_of(library: Path, offset: int, build_id: str | None = None) -> Place:
    symbols = read_symbols(str(library))
    assert symbols is not None
    rank = TraceBuilder(1).rank(0)
    rank.call("MPI_Barrier", site=rank.site(str(library), offset, symbols.build_id if build_id is None else build_id))
    place = SourceLines().of(rank.events(), 0)
    assert place is not None
    return place


def calls_in(library: Path) -> list[int]:
    """Return the addresses behind the calls, as the disassembler has them."""
    text = subprocess.run(["objdump", "-d", library], capture_output=True, text=True, check=True).stdout
    within = text.partition("<_ZN4halo8exchangeEv>:")[2].partition("\n\n")[0].splitlines()
    return [
        int(within[n + 1].partition(":")[0], 16) for n, line in enumerate(within) if "call" in line or "\tbl\t" in line
    ]


@pytest.mark.skipif(not any(map(shutil.which, TOOLS)), reason="no tool that finds lines is installed")
def test_lines_are_those_of_the_calls_not_of_what_follows_them(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (place_of(library, offset) for offset in calls_in(library))
    file = str(library.parent / "halo.cpp")
    assert (first.function, first.file, first.line) == ("halo::exchange()", file, 4)
    assert second == replace(first, line=5, offset=second.offset)
    assert str(first) == f"halo::exchange(), {file}:4"
    monkeypatch.chdir(library.parent)
    assert str(first) == "halo::exchange(), halo.cpp:4"


def test_without_lines_there_are_functions_and_of_another_build_objects(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offset = calls_in(library)[0]
    named = Place(str(library), offset)
    assert place_of(library, offset, "ab12") == named
    assert str(named) == f"libhalo.so+{offset:#x}"
    unnumbered = library.with_name("unnumbered.so")
    subprocess.run(["strip", "-R", ".note.gnu.build-id", library, "-o", unnumbered], check=True)
    assert place_of(unnumbered, offset) == replace(named, object=str(unnumbered))  # it may be of another build
    subprocess.run(["strip", "-g", library], check=True)
    assert place_of(library, offset) == replace(named, function="halo::exchange()")
    monkeypatch.setenv("PATH", "")
    assert str(place_of(library, offset)) == "_ZN4halo8exchangeEv, libhalo"
    assert place_of(library, 8) == Place(str(library), 8)  # in no function
    assert read_symbols(__file__) is None
    library.write_bytes(library.read_bytes()[:3000])
    assert read_symbols(str(library)) is None
    assert read_symbols("/no/library.so") is None


def test_a_tool_that_does_not_end_is_given_up(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offset = calls_in(library)[0]
    tool = library.parent / TOOLS[0]
    tool.write_text("#!/bin/sh\nexec sleep 60\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(library.parent), prepend=os.pathsep)
    monkeypatch.setattr(source_lines, "TOOL_SECONDS", 0.1)
    assert place_of(library, offset) == Place(str(library), offset)


def test_a_pipe_in_place_of_an_object_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reading = Thread(target=read_symbols, args=[str(tmp_path / "pipe")], daemon=True)
    reading.start()
    reading.join(10)
    assert not reading.is_alive()


@pytest.mark.parametrize(
    ("linked", "written"),
    [
        ("__halo_MOD_exchange", "halo::exchange"),
        ("__pyx_pw_6mpi4py_3MPI_4Comm_69Send", "mpi4py.MPI.Comm.Send"),
        ("__pyx_f_6mpi4py_3MPI_bootstrap", "mpi4py.MPI.bootstrap"),
        ("exchange_", "exchange_"),
    ],
)
def test_names_are_those_of_the_language(linked: str, written: str) -> None:
    assert _readable(linked) == written


@pytest.mark.parametrize(
    ("printed", "found"),
    [
        ("/src/halo.cpp:42", ("/src/halo.cpp", 42)),  # binutils, LLVM
        ("/src/halo.cpp:42 (discriminator 3)", ("/src/halo.cpp", 42)),  # binutils
        ("/src/halo.cpp:42:7", ("/src/halo.cpp", 42)),  # elfutils
        ("/src/halo.cpp:0:0", None),
        ("/src/halo.cpp:?", None),
        ("??:0", None),
        ("??:?", None),
    ],
)
def test_locations_are_read_as_each_tool_prints_them(printed: str, found: tuple[str, int] | None) -> None:
    assert _file_and_line(printed) == found


def test_paths_in_any_encoding() -> None:
    line = b'{"object":0,"path":"/opt/mod\xe8le","build_id":""}\n{"site":1,"object":0,"offset":64}\n'
    assert read_sites([line], "run.trace") == [Site("/opt/mod\udce8le", 64)]
    assert str(Place("/opt/mod\udce8le", 64)) == r"mod\udce8le+0x40"
