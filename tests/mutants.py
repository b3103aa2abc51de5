"""Damaged machine files, files of links, study files and traces: the readers refuse them with an InputError or read
them, and return at once.

``python tests/mutants.py COUNT [SEED]`` tries COUNT; `test_mutants.py` a few hundred.
"""

from __future__ import annotations

import faulthandler
import io
import json
import re
import struct
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
from networks import NETWORKS, PETERSEN, ROUTED

from tradewind.base.data import data_folder
from tradewind.base.errors import InputError
from tradewind.machine import load_machine
from tradewind.replay.buffering import verify_trace
from tradewind.study.cases.expand import expand
from tradewind.study.plan.load import load_study
from tradewind.trace.blocks import SIGNATURE, Coding, Kind, Reader, write
from tradewind.trace.builder import TraceBuilder
from tradewind.trace.model import ANY
from tradewind.trace.read import open_trace
from tradewind.trace.write import save_trace

LONGEST_S = 30.0
"""Seconds of processor time for one file. Figures 12 to 14 of ESCAPE, which pack wavenumbers 27 times, take 3 to 7."""

TOKEN = re.compile(rb"[A-Za-z_]+|[0-9.]+|[^\sA-Za-z_0-9.]")
NUMBER = re.compile(rb"[0-9]+(?:\.[0-9]+)?")
QUOTED = re.compile(rb'"[^"\n]*"')
VALUE = re.compile(rb"= *([^\n]+)")
NUMBERS = [
    text.encode()
    for text in (
        *(
            "0",
            "-1",
            "1",
            "2",
            "1.5",
            "-0.0",
            "1e3",
            "1e400",
            "1e-400",
            "nan",
            "inf",
            "-inf",
            "0x1f",
            "1_000",
            "٣",
            "１",
        ),
        *("2147483647", "2147483648", "4294967296", "9223372036854775807", "9223372036854775808", "9" * 40),
        *("9" * 5000, "1e99999999999999999999", f"0.{'0' * 400}1"),
    )
]
UNITS = [
    unit.encode() for unit in ("GB/s", "ns", "us", "KiB", "flop/s", "bit/s", "h", "B", "", "parsec", " ", "µs", "/s")
]
VALUES = [
    text.encode()
    for text in (
        *('""', "true", "[]", "{}", "[[]]", "[1, 'a', {}]", "{ a = 1 }", "1979-05-27", "07:32:00", "'''\n'''"),
        *('"\\u0000"', '"\\U0010FFFF"', '"""\\\n  x"""', "'\\'", '["x", "y"]', "{ sweep = 'a' }"),
    )
]
ODD = ["\u202e", "\x00", "\ufeff", "é", "\U0001f300", "\u2028", *"\r\t\\\"'#=.[{}]"]


def _replaced(random: Random, data: bytes, pattern: re.Pattern[bytes], choices: list[bytes], group: int = 0) -> bytes:
    """With one of the places where the pattern fits replaced by one of the choices."""
    places = list(pattern.finditer(data))
    if not places:
        return data
    place = random.choice(places)
    return data[: place.start(group)] + random.choice(choices) + data[place.end(group) :]


def _bytes(random: Random, data: bytes) -> bytes:
    at = random.randrange(len(data) + 1)
    return data[:at] + random.randbytes(random.randrange(3)) + data[at + random.randrange(3) :]


def _odd_character(random: Random, data: bytes) -> bytes:
    at = random.randrange(len(data) + 1)
    return data[:at] + random.choice(ODD).encode() + data[at:]


def _token(random: Random, data: bytes) -> bytes:
    return _replaced(random, data, TOKEN, TOKEN.findall(data) or [b""])


def _number(random: Random, data: bytes) -> bytes:
    return _replaced(random, data, NUMBER, NUMBERS)


def _quantity(random: Random, data: bytes) -> bytes:
    return _replaced(random, data, QUOTED, [b'"' + random.choice(NUMBERS) + random.choice(UNITS) + b'"'])


def _value(random: Random, data: bytes) -> bytes:
    return _replaced(random, data, VALUE, VALUES + NUMBERS, group=1)


def _nested(random: Random, data: bytes) -> bytes:
    depth = random.choice([3, 30, 300, 3000])
    value = random.choice([b"[" * depth + b"]" * depth, b"{a=" * depth + b"1" + b"}" * depth, b"[" * depth])
    return _replaced(random, data, VALUE, [value], group=1)


def _dotted(random: Random, data: bytes) -> bytes:
    name = b".".join([b"a"] * random.choice([2, 20, 2000]))
    return data + random.choice([b"\n[%s]\n", b"\n[[%s]]\n", b"\n%s = 1\n"]) % name


def _lines(random: Random, data: bytes) -> bytes:
    """Some lines left out, written twice or moved."""
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    first = random.randrange(len(lines))
    block = lines[first : first + random.choice([1, 1, 1, 2, 5, 20])]
    rest = lines[:first] + lines[first + len(block) :]
    at = random.randrange(len(rest) + 1)
    return b"".join(random.choice([rest, lines[:first] + block + lines[first:], rest[:at] + block + rest[at:]]))


def _whole(random: Random, data: bytes) -> bytes:
    """Something done to the file as a whole."""
    cut = random.randrange(len(data) + 1)
    return random.choice(
        [data[:cut], data[cut:], data.replace(b"\n", b"\r\n"), data.replace(b"\n", b"\r"), b"\xef\xbb\xbf" + data]
    )


MUTATIONS: list[Callable[[Random, bytes], bytes]] = [
    *(_bytes, _odd_character, _token, _token, _number, _number, _quantity, _quantity, _value, _value),
    *(_nested, _dotted, _lines, _lines, _whole),
]


@dataclass(frozen=True)
class Original:
    """A file that is damaged, and how its kind is read."""

    name: str
    kind: str
    data: bytes


LINKS = "graph.links"


def originals() -> list[list[Original]]:
    """By kind: the machines and studies that come along, a machine of every kind of network, links, and traces."""
    along = [
        [Original(path.name, kind, path.read_bytes()) for path in sorted(data_folder(folder).rglob("*.toml"))]
        for kind, folder in (("machine", "machines"), ("study", "studies"))
    ]
    networks = [
        Original(f"{values['kind']} {number}", "machine", _machine(values, routing))
        for number, (values, routing) in enumerate(ROUTED)
    ]
    links = [Original(LINKS, "links", Path(PETERSEN).read_bytes())]
    return [*along, networks, links, [Original(name, "trace", data) for name, data in TRACES.items()]]


def _recorded() -> bytes:
    """A trace of which every block is as it is, so that what is damaged is what a reader finds."""
    builder = TraceBuilder(2, ["./model"])
    half, window = builder.communicator([1, 0]), builder.window()
    for rank in range(2):
        calls = builder.rank(rank).call("MPI_Init").call("MPI_Comm_split", created=half)
        calls.neighbors[half] = ([1 - rank], [1 - rank])
        calls.call("MPI_Win_create", created=window).call("MPI_Alltoallv", bytes=8, received=8, blocks=[4, 4])
        for _ in range(3):
            calls.call("MPI_Irecv", source=ANY, source_tag=0, received=80, request=0, gap_ns=300, type=calls.type(8))
            calls.call("MPI_Send", communicator=half, peer=1 - rank, tag=0, bytes=80, thread=rank, gap_ns=40)
            calls.call("MPI_Waitall", asked=[0], ended=[(0, 1 - rank, 0, 80)], duration_ns=100)
        calls.counted["MPI_File_open"] = (2, 0.25)
    with tempfile.TemporaryDirectory() as name:
        path, plain = Path(name) / "run.trace", io.BytesIO(SIGNATURE)
        plain.seek(0, io.SEEK_END)
        save_trace(builder.trace(), path)
        reader = Reader(path)
        for rank, blocks in reader.by_rank.items():
            order = None
            for block in blocks:
                data = reader.content(block, order)
                order = np.frombuffer(data, "<u4") if block.kind == Kind.ORDER else order
                write(plain, Kind(block.kind), rank, data, Coding.PLAIN)
        return plain.getvalue()


_HEADER = struct.Struct("<4sBBBBIIII")


def _sealed(data: bytes) -> bytes:
    """A trace whose blocks have the checksums of what they hold now, as one that was damaged on purpose."""
    sealed = bytearray(data)
    at = len(SIGNATURE)
    while at + _HEADER.size <= len(sealed):
        *fields, stored, raw, _ = _HEADER.unpack_from(sealed, at)
        begin = at + _HEADER.size
        _HEADER.pack_into(sealed, at, *fields, stored, raw, zlib.adler32(sealed[begin : begin + stored]))
        at = begin + stored
    return bytes(sealed)


TRACES = {
    "run.trace": _recorded(),
    "run.goal": b"num_ranks 2\nrank 0 {\nl1: calc 100 cpu 0\nl2: send 80b to 1 tag 0 cpu 0 nic 0\nl2 requires l1\n}\n"
    b"/* of two */ rank 1 {\nl1: recv 80b from 0 tag 0\nl2: calc 9 // ns\nl2 irequires l1\n}\n",
    "run.ti": b"0 init\n1 init\n0 compute 1e3\n0 isend 1 0 80 0\n1 irecv 0 0 80 0\n0 wait 0 1 0\n1 waitall\n"
    b"0 alltoallv 6 1 2 6 1 2\n1 gatherv 3 1 2 0 6 6\n1 reducescatter 1 2 5 1\n0 sendRecv 1 1 1 1 6 6\n0 finalize\n",
}
"""Traces of all forms, by the names of their files."""


def _machine(topology: dict[str, object], routing: str) -> bytes:
    """A machine that comes along, with another network; a graph's links lie beside it."""
    values = topology | ({"file": LINKS} if "file" in topology else {})
    table = "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())
    text = (data_folder("machines") / "torus-M.toml").read_text(encoding="utf-8")
    text = re.sub(r"(?m)^routing = .*", f'routing = "{routing}"', text)
    return re.sub(r"(?s)\[topology\].*?\n(?=\[link\])", f"[topology]\n{table}\n", text).encode()


def mutants(seed: int, count: int) -> Iterator[tuple[Original, bytes]]:
    """Damaged files, each with the file that it was, its kinds in turn. A seed gives the same ones."""
    random = Random(seed)
    kinds = originals()
    for i in range(count):
        original = random.choice(kinds[i % len(kinds)])
        data = original.data
        for _ in range(random.choice([1, 1, 1, 2, 4])):
            data = random.choice(MUTATIONS)(random, data)
        yield original, _sealed(data) if original.name == "run.trace" else data


def read(path: Path, kind: str) -> str:
    """Return "read" or "refused" for a file. Any other error of the reader is raised."""
    try:
        if kind == "study":
            expand(load_study(path).study)
        elif kind == "trace":
            verify_trace(open_trace(path))
        else:
            load_machine(path)
    except InputError as error:
        if not all(problem.strip() for problem in error.problems):
            raise ValueError("a problem without words") from error
        return "refused"
    return "read"


def check(seed: int, count: int, patience_s: float | None = None) -> dict[str, int]:
    """Reads mutants; returns how many were read and how many refused. Raises AssertionError with the first bad one.

    A reader that hangs ends the process after `patience_s` with where it was; the mutant stays in the temporary folder,
    which is named first.
    """
    outcomes = {"read": 0, "refused": 0}
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        folder = Path(name)
        machine, links = folder / "mutant.toml", folder / LINKS
        graph = _machine(NETWORKS["graph"][0], "minimal")
        if patience_s:
            print(f"in {folder}, where a mutant that is read for {patience_s:g} s stays", flush=True)
        for number, (original, data) in enumerate(mutants(seed, count)):
            of_links = original.kind == "links"
            machine.write_bytes(graph if of_links else data)
            links.write_bytes(data if of_links else Path(PETERSEN).read_bytes())
            if patience_s:
                faulthandler.dump_traceback_later(patience_s, exit=True)
            begin = time.process_time()
            try:
                outcomes[read(machine, original.kind)] += 1
            except Exception as error:
                raise AssertionError(f"{_kept(data)}, mutant {number} of seed {seed} of {original.name}") from error
            taken = time.process_time() - begin
            assert taken < LONGEST_S, f"{_kept(data)}, mutant {number} of seed {seed}: {taken:.1f} s"
        faulthandler.cancel_dump_traceback_later()
    return outcomes


def _kept(data: bytes) -> Path:
    """Where a bad mutant is kept, to be looked at."""
    path = Path(tempfile.mkdtemp()) / "mutant.toml"
    path.write_bytes(data)
    return path


if __name__ == "__main__":
    count, seed = (int(text) for text in (sys.argv[1:] + ["2000", "1"][len(sys.argv) - 1 :]))
    print(f"{count} damaged machine files, study files and traces: {check(seed, count, patience_s=60)}")
