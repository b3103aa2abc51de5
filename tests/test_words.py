"""The check of words refuses what it must, with file, line and what to write instead."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import words

ROOT = Path(__file__).parents[1]


def problems_in(name, text):
    return list(words.problems_of(text, name))


@pytest.mark.parametrize(
    ("line", "found", "instead"),
    [
        ("class Newsroom:", "Newsroom", "ProgressReceiver"),
        ("struct Carriage {", "Carriage", "intranode"),
        ("times are reckoned", "reckoned", "extrapolate"),
        ("std::uint32_t nics_a_node;", "nics_a_node", "per_node"),
        ("8 bytes a point", "bytes a point", "'per'"),
        ("25 descendant ports", "descendant ports", "downlinks"),
        ("ranks wait for each other in a circle", "wait for each other in a circle", "cyclic dependency"),
        ("enum class Unlike { error };", "Unlike", "Mismatch"),
        ("struct Act {", "Act", "Operation"),
        ("std::int8_t halo_turn(Index part);", "halo_turn", "halo_parity"),
        ("std::vector<Envelope> came;", "Envelope", "PeerMessage"),
        ("Rank keeper(Index id) const;", "keeper", "directory rank"),
        ('help="Answer as JSON."', "Answer as JSON", "print JSON"),
        ("compared with the right answer", "right answer", "expected result"),
        ("All functions answers a status", "answers a status", "returns a status"),
        ("struct TuningSite {", "TuningSite", "Host"),
        ("never faster than the most loaded link", "most loaded link", "busiest link"),
        ("_core.carried_way(pattern)", "carried_way", "carried_method"),
        ('result["reckoned_change"]', "reckoned_change", "extrapolated_change"),
        ("def lay_beside(rows):", "lay_beside", "compare with"),
        ("def leave_together(error):", "leave_together", "fail_collectively"),
        ("ranks wait for each other for ever", "wait for each other for ever", "deadlock"),
        ("the other ranks hear of it", "hear", "get the error"),
        ("a file that cannot be read or is none", "or is none", "invalid"),
        ("the bytes of so many points", "so many", "the name of the number"),
        ("a point that nobody owns", "nobody", "no rank"),
    ],
)
def test_a_former_word_is_refused(line, found, instead):
    (problem,) = problems_in("src/sim/run.cpp", f"first\n{line}\n")
    assert problem.startswith(f"src/sim/run.cpp:2: {found!r}: write ")
    assert instead in problem


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("python/tradewind/base/units.py", 'def f():\n    """Of a file."""\n'),
        ("python/tradewind/base/units.py", "x = 1\n# What is added.\n"),
        ("src/sim/run.hpp", "int x;\n    // How often it is called.\n"),
        ("bindings/fortran/points.f90", "integer :: n\n! What a rank lists\n"),
    ],
)
def test_an_opening_that_names_nothing_is_refused(name, text):
    (problem,) = problems_in(name, text)
    assert problem.startswith(f"{name}:2: begins with '")
    assert problem.endswith("begin with a verb or a noun that says what it is")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("src/sim/run.hpp", "// The ranks that wait, and the size\n// Of the queue.\n"),  # a line of a longer comment
        ("docs/index.md", "# What it has\n"),
        ("src/sim/run.hpp", "// A rank of a node, and handling of its messages.\n"),
        ("python/tradewind/machine/machine.py", 'data["carriage"]\n'),  # the former key is read there
    ],
)
def test_what_is_right_is_not_refused(name, text):
    assert problems_in(name, text) == []


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    monkeypatch.setattr(words, "PENDING", ("python/pending",))
    for name in ("python/done/here.py", "python/pending/there.py"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text('"""Of a rank."""\n')
    return tmp_path


def test_folders_to_be_revised_are_left_out(checkout):
    (problem,) = words.problems(checkout)
    assert problem.startswith("python/done/here.py:1: ")


def test_lint_fails_for_a_former_word(tmp_path):
    for name in ("tests", "src"):
        (tmp_path / name).mkdir()
    text = (ROOT / "tests/words.py").read_text()
    start, end = text.index("PENDING: tuple"), text.index('"""Folders and files that are still')
    (tmp_path / "tests/words.py").write_text(f"{text[:start]}PENDING: tuple[str, ...] = ()\n{text[end:]}")
    command = [sys.executable, str(tmp_path / "tests/words.py")]
    assert subprocess.run(command, check=False).returncode == 0
    shutil.copy(ROOT / "src/base/units.hpp", tmp_path / "src")
    (tmp_path / "src/new.hpp").write_text("struct Carriage;\n")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "src/new.hpp:1: 'Carriage': write intranode\n")
