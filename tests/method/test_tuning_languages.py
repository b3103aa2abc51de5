"""C, C++ and Fortran take from a tuning file what Python takes, and refuse what Python refuses."""

from __future__ import annotations

import random
import re
from dataclasses import astuple, replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.method import memories, tuning
from tradewind.method.host import Host
from tradewind.method.method import Method

HERE = Host("node1", 'a "fast" processor,\t3 µm', "an MPI 1.0", 4)
HOSTS = [HERE, replace(HERE, cpu="another"), replace(HERE, mpi="an MPI 2.0"), replace(HERE, mpi="x", ranks_per_node=2)]
FIGURES = {"median_s": 2.5e-05, "min_s": 1e-05, "default_s": 3e-05, "trials": 20}
GRID = _core.Grid(60, 40, 5)
BLOCKS = [_core.Blocks(GRID, split, axes) for split in ((2, 2), (4, 1)) for axes in ("xy", "zy")]
POINTS = _core.fetch_of_ids([np.arange(5 * i, 5 * i + 5) for i in range(4)], [np.array([19 - i, 3]) for i in range(4)])
FETCHES = [POINTS, POINTS.with_levels((3, 2)), POINTS.with_levels((6, 1)), POINTS.with_levels((1, 5))]
PATTERNS = [
    *(_core.Halo(BLOCKS[i], width, [x, True]) for i in (0, 2) for width in (1, 2) for x in (False, True)),
    *(_core.Transpose(one, other) for one in BLOCKS for other in BLOCKS if one is not other),
    *(_core.AllReduce(ranks, count) for ranks in (4, 3) for count in (7, 8)),
    *FETCHES,
    *(_core.FetchAdjoint(fetch) for fetch in FETCHES),
]
METHODS = {
    "halo": ("sweep,shared,direct", "direct,put-fence,datatype", "direct,isend-irecv,buffer"),
    "transpose": ("burst,alltoallv,buffer", "ring-2,persistent,direct", "native"),
    "allreduce": ("ring,shared,direct", "recursive-2,isend-irecv,buffer", "native"),
    "fetch": ("direct,shared,direct", "direct,put-notify,buffer"),
}
REQUESTS = [
    (pattern, dtype, fields, memory)
    for pattern in PATTERNS
    for dtype in ("f4", "f8")
    for fields in (1, 2)
    for memory in memories.MEMORIES
]


def entry(pattern=PATTERNS[0], dtype="f8", fields=2, memory="private", method="sweep,shared,direct", host=HERE, **more):
    request = tuning.request_of(pattern, dtype, fields, memory)
    made = tuning.entry_of(request, host, Method.parse(method), FIGURES, oversubscribed=False)
    return made.model_copy(update=more)


def in_c(path, pattern, dtype, fields, memory="private", host=HERE, strict=False):
    """Return (method, warning) of libtradewind from a file, or None."""
    where = (host.cpu, host.mpi, host.ranks_per_node)
    text = path.read_bytes().decode()
    found = _core.tuned_method(text, str(path), strict, pattern, dtype, fields, memory, where)
    return found and (Method(*(part or None for part in found[:3])), found[3])


def in_python(path, pattern, dtype, fields, memory="private", host=HERE):
    found = tuning.find(tuning.read(path), tuning.request_of(pattern, dtype, fields, memory), host)
    if found is None:
        return None
    text = f"{path}: {pattern.describe()} was tuned elsewhere: {'; '.join(found[1])}" if found[1] else ""
    return found[0].choice, text


def test_the_same_entries_are_found(tmp_path):
    """In a file of several entries about some exchanges, from several hosts and days, and none about others."""
    chance = random.Random(5)
    entries, requests = [], chance.sample(REQUESTS, 60)
    for pattern, dtype, fields, memory in requests[:25]:
        for host in chance.sample(HOSTS, chance.randint(1, 4)):
            day = datetime(2024, 2, 28, 23, 59, 59, tzinfo=UTC) + timedelta(hours=chance.randint(0, 30000))
            method = chance.choice(METHODS[pattern.name])
            entries.append(entry(pattern, dtype, fields, memory, method, host, date=day))
    path = tmp_path / "tuned.toml"
    path.write_text("".join(tuning._text(each) for each in entries), encoding="utf-8")
    found = set()
    for request in requests:
        for host in (*HOSTS, replace(HERE, cpu="nowhere")):
            told = in_c(path, *request, host)
            assert told == in_python(path, *request, host)
            found.add(told and told[0])
    assert None in found
    assert len(found) > 8


def test_a_strict_file_from_elsewhere_is_refused(tmp_path):
    path = tmp_path / "tuned.toml"
    tuning.merge(path, [entry()])
    assert in_c(path, PATTERNS[0], "f8", 2, "private", HERE, strict=True)
    with pytest.raises(InputError, match=r"was tuned elsewhere: the processor is another, not a .*leave out strict"):
        in_c(path, PATTERNS[0], "f8", 2, "private", HOSTS[1], strict=True)
    assert in_c(path, PATTERNS[1], "f8", 2, "private", HOSTS[1], strict=True) is None


@pytest.mark.parametrize("pattern", list(tuning._KINDS))
def test_the_same_keys_are_known(pattern):
    fields = tuning._KINDS[pattern].model_fields
    assert dict(_core.tuning_keys(pattern)) == {name: not field.is_required() for name, field in fields.items()}


FORMS = {
    "lines that end as in Windows": ("\n", "\r\n"),
    "blanks": ("width = 1", "  width\t=  1   # as narrow as can be"),
    "a list on several lines": ("grid = [60, 40, 5]", "grid = [ # x, y, z\n  60,\n  4_0,\n  +5,\n]"),
    "text as it is": ('cpu = "a', "cpu = 'C:\\a' #\n# cpu = \"a"),
    "text with escapes": ('mpi = "an MPI 1.0"', r'mpi = "\u0061n\u0020MPI 1\u002E0"'),
    "a quoted key": ("width = 1", '"width" = 1'),
    "another distance to UTC": ("date = 2024-02-29T12:00:00Z", "date = 2024-02-29 14:30:00.25+02:30"),
    "a whole number of seconds": ("median_s = 2.5e-05", "median_s = 1_0"),
    "a large real number": ("median_s = 2.5e-05", "median_s = +2.5E+3"),
    "nothing": (None, ""),
    "no memory, as in files of earlier versions": ('memory = "private"\n', ""),
    "comments alone": (None, "# nothing\n\n"),
}


@pytest.mark.parametrize("form", FORMS)
def test_other_forms_of_the_same(tmp_path, form):
    path = tmp_path / "tuned.toml"
    date = datetime(2024, 2, 29, 12, tzinfo=UTC)
    text = tuning._text(entry(date=date)) + tuning._text(entry(method="direct,shared,buffer", date=date, host=HOSTS[2]))
    old, new = FORMS[form]
    changed = new if old is None else text.replace(old, new)
    assert changed != text
    path.write_bytes(changed.encode())
    for host in HOSTS:
        assert in_c(path, PATTERNS[0], "f8", 2, host=host) == in_python(path, PATTERNS[0], "f8", 2, host=host)


DAMAGES = [
    ("width = 1", "width = -1"),
    ("width = 1", "width = 1.0"),
    ("width = 1", "width = true"),
    ("width = 1", ""),
    ("width = 1", "width = 1\nwidth = 1"),
    ("width = 1", "width = 1\ncount = 2"),
    ("width = 1", "width = 01"),
    ("width = 1", "width = 1__0"),
    ("width = 1", "width = 99999999999999999999"),
    ("width = 1", "width 1"),
    ("width = 1", "width ="),
    ("width = 1", "width = 1 2"),
    ("width = 1", "= 1"),
    ("[60, 40, 5]", "[60, 40]"),
    ("[60, 40, 5]", "[60, 40, 0]"),
    ("[60, 40, 5]", "[60 40, 5]"),
    ("[60, 40, 5]", "[60, 40, 5.0]"),
    ("[60, 40, 5]", "[60, 40, 5"),
    ('"y"', '"yx"'),
    ('"y"', '"y'),
    ('"y"', "1"),
    ('"halo"', '"hallo"'),
    ('"halo"', "1"),
    ('pattern = "halo"', ""),
    ('"f8"', '"f16"'),
    ('"private"', '"common"'),
    ('"sweep"', '"swep"'),
    ('"sweep"', '"ring"'),
    ('"shared"', '"shard"'),
    ('"direct"', '"directly"'),
    ('"sweep"', '"native"'),
    ('transport = "shared"', ""),
    ("median_s = 2.5e-05", "median_s = nan"),
    ("median_s = 2.5e-05", "median_s = inf"),
    ("median_s = 2.5e-05", "median_s = 0"),
    ("median_s = 2.5e-05", "median_s = 1."),
    ("median_s = 2.5e-05", 'median_s = "1us"'),
    ("oversubscribed = false", "oversubscribed = 0"),
    ("oversubscribed = false", "oversubscribed = False"),
    ("trials = 20", "trials = 0"),
    ("date = 2024-02-29T12:00:00Z", "date = 2023-02-29T12:00:00Z"),
    ("date = 2024-02-29T12:00:00Z", "date = 2024-02-29T12:00:00"),
    ("date = 2024-02-29T12:00:00Z", "date = 2024-02-29T24:00:00Z"),
    ("date = 2024-02-29T12:00:00Z", 'date = "2024-02-29T12:00:00Z"'),
    (r"fast\"", r"fast\q"),
    (r"fast\"", r"fast\ud800"),
    ("[[entry]]", "[entry]"),
    ("[[entry]]", "[[entry]"),
    ("[[entry]]", "[[entries]]"),
    ("[[entry]]", "more = 1\n[[entry]]"),
    ("[[entry]]", "[[entry]]\n[[entry]]"),
]


@pytest.mark.parametrize(("old", "new"), DAMAGES)
def test_damaged_files_are_refused(tmp_path, old, new):
    """With the line, in both; the same one, unless Python's parser counts otherwise what is no TOML at all."""
    path = tmp_path / "tuned.toml"
    text = tuning._text(entry(date=datetime(2024, 2, 29, 12, tzinfo=UTC)))
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError) as python:
        tuning.read(path)
    with pytest.raises(InputError) as c:
        in_c(path, *REQUESTS[0])
    lines = [set(re.findall(rf"^{path}:(\d+): ", str(error.value), re.MULTILINE)) for error in (python, c)]
    assert lines[1]
    if lines[0]:
        assert lines[1] == lines[0]


OTHER_TOML = [
    "[entry.more]\nx = 1",
    "entry = []",
    "x.y = 1",
    'host = """x"""',
    "host = {}",
    'more = ["x"]',
    "more = 0x10",
]


@pytest.mark.parametrize("line", OTHER_TOML)
def test_the_rest_of_toml_is_refused_with_its_line(tmp_path, line):
    path = tmp_path / "tuned.toml"
    path.write_text(f"[[entry]]\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"tuned\.toml:[12]: "):
        in_c(path, *REQUESTS[0])


def told(text: str) -> str:
    """Return the error of a text; "" without one."""
    try:
        _core.tuned_method(text, "t.toml", False, *REQUESTS[0], astuple(HERE)[1:])
    except InputError as error:
        return str(error)
    return ""


def test_damaged_bytes():
    """Whatever is cut out or changed: entries, or an error with its line."""
    chance = random.Random(3)
    text = tuning._text(entry())
    problems = set()
    for _ in range(3000):
        at = chance.randrange(len(text))
        new = "".join(chance.choice('"[]\\=#\n,.-_ u1e') for _ in range(chance.randint(0, 3)))
        broken = text[:at] + new + text[at + chance.randint(0, 4) :]
        problems.add(told(broken[: chance.randrange(len(broken) + 1)] if chance.random() < 0.3 else broken))
    assert all(re.match(r"t\.toml:\d+: ", problem) for problem in problems - {""})
    assert len(problems) > 100
