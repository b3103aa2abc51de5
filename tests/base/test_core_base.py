"""src/base by itself: a small program holds it against closed forms, and its TOML reader against Python's."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import tomllib
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]
COMPILER = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
SOURCES = [ROOT / "src" / "base" / f"{name}.cpp" for name in ("toml", "toml_value", "consecutive", "recycled")]

pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("base") / "base"
    source = Path(__file__).parent / "programs" / "base.cpp"
    options = ["-std=c++20", "-O1", "-fsanitize=undefined", "-fno-sanitize-recover", "-pthread", f"-I{ROOT / 'src'}"]
    assert COMPILER is not None
    subprocess.run([COMPILER, *options, "-o", path, source, *SOURCES], check=True, timeout=240)
    return path


def test_numbers_runs_memory_and_ranks(program: Path) -> None:
    done = subprocess.run([program, "numbers"], capture_output=True, text=True, timeout=240, check=False)
    assert (done.returncode, done.stdout) == (0, "all as it should be\n"), done.stderr


def value_of(kind: str, words: list[str]) -> Any:
    """A value as the program prints it, times as seconds since 1970."""
    if kind == "text":
        return bytes.fromhex(words[0][1:]).decode()
    if kind == "list":
        return [int(word) for word in words]
    return {"whole": int, "real": float.fromhex, "truth": lambda word: word == "1", "time": float.fromhex}[kind](
        words[0]
    )


def read(program: Path, text: str, folder: Path) -> tuple[list[dict[str, Any]], list[tuple[int, ...]]]:
    """The tables [[it]] of a text, and of each its line and those of its values. Raises ValueError for what is
    refused."""
    (folder / "a.toml").write_bytes(text.encode())
    done = subprocess.run([program, "toml", folder / "a.toml", "it"], capture_output=True, text=True, check=True)
    tables: list[dict[str, Any]] = []
    lines: list[tuple[int, ...]] = []
    for first, *rest in map(str.split, done.stdout.splitlines()):
        if first == "refused":
            raise ValueError(" ".join(rest))
        if first == "table":
            tables.append({})
            lines.append((int(rest[0]),))
        else:
            tables[-1][bytes.fromhex(first[1:]).decode()] = value_of(rest[1], rest[2:])
            lines[-1] += (int(rest[0]),)
    return tables, lines


def python_reads(text: str) -> list[dict[str, Any]]:
    tables = tomllib.loads(text)["it"]
    return [{k: v.timestamp() if isinstance(v, datetime) else v for k, v in table.items()} for table in tables]


def written(value: object) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[ {', '.join(map(str, value))}{', ' if len(value) % 2 else ''}]"
    return value.isoformat() if isinstance(value, datetime) else repr(value)


INTEGERS = st.integers(-(2**63), 2**63 - 1)
TIMES = st.datetimes(datetime(1970, 1, 2), datetime(2100, 1, 1)).map(
    lambda time: time.replace(microsecond=time.microsecond // 1000 * 1000, tzinfo=timezone(timedelta(hours=-3.5)))
)
VALUES = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"])),
    INTEGERS,
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.lists(INTEGERS, max_size=5),
    TIMES,
)
KEYS = st.text("abcXYZ019_-", min_size=1, max_size=8)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables=st.lists(st.dictionaries(KEYS, VALUES, max_size=6), min_size=1, max_size=4), end=st.sampled_from("\n\r"))
def test_tables_are_read_as_python_reads_them(
    program: Path, tmp_path: Path, tables: list[dict[str, Any]], end: str
) -> None:
    lines = ["# made", ""]
    places = []
    for table in tables:
        places.append((len(lines) + 1, *(len(lines) + 2 + i for i in range(len(table)))))
        lines += ["[[it]]", *(f"{key} = {written(value)}  # {key}" for key, value in table.items()), ""]
    text = ("\r\n" if end == "\r" else "\n").join(lines)
    truth = python_reads(text)
    found, where = read(program, text, tmp_path)
    assert where == places
    assert [list(table) for table in found] == [list(table) for table in truth]
    for one, other in zip(found, truth, strict=True):
        for key, value in other.items():
            assert type(one[key]) is type(value), key
            assert one[key] == value or (isinstance(value, float) and math.isclose(one[key], value, abs_tol=1e-6)), key


@pytest.mark.parametrize(
    "value",
    [
        *("1_000", "-0", "+7", "1e3", "6.02_2e+23", "'raw \\ text'", '"\\u00e9\\U0001F30A\\t"'),
        *("[]", "[1,\n 2, # two\n]", "2025-01-31T12:00:00Z", "2025-01-31 12:00:00.25+01:00"),
    ],
)
def test_other_ways_to_write_values(program: Path, tmp_path: Path, value: str) -> None:
    text = f"[[it]]\na = {value}\n'b c' = 1\n"
    assert read(program, text, tmp_path)[0] == python_reads(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = 1\n", r"file:1: unknown key 'a' \(known: \[\[it\]\]\)"),
        ("[[it]]\na = 1\na = 2\n", "file:3: not TOML: key 'a' stands twice"),
        ("[[it]]\n\na\n", "file:3: not TOML: no = behind the key 'a'"),
        ("[[it]]\n= 1\n", "file:2: not TOML: a key is missing"),
        ("[[it]\n", r"file:1: not TOML: \[\[it\]\] is not closed"),
        ("[it]\n", r"file:1: \[it\]: C, C\+\+ and Fortran read tables \[\[it\]\]"),
        ("[[other]]\n", r"file:1: \[other\]: C, C\+\+ and Fortran read"),
        ("[[it]]\na.b = 1\n", "file:2: a key with a dot"),
        ("[[it]]\na = { b = 1 }\n", "file:2: a table within a line"),
        ("[[it]]\na = 0x1F\n", "file:2: the value 0x1F"),
        ("[[it]]\na = 1 2\n", "file:2: not TOML: something behind the end"),
        ("[[it]]\na = 9223372036854775808\n", "file:2: "),
        ('[[it]]\na = "b\n', "file:2: not TOML"),
        ("[[it]]\na = 2025-13-01T00:00:00Z\n", "file:2: "),
    ],
)
def test_what_is_refused_has_its_line(program: Path, tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read(program, text, tmp_path)


def test_a_time_is_counted_from_1970(program: Path, tmp_path: Path) -> None:
    tables, _ = read(program, "[[it]]\na = 2000-03-01T00:00:00+00:00\n", tmp_path)
    assert tables == [{"a": datetime(2000, 3, 1, tzinfo=UTC).timestamp()}]
    assert tables[0]["a"] == (30 * 365 + 7 + 31 + 29) * 86400.0
