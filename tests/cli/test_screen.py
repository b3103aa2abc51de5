"""Output of commands on terminals of several widths, and without a terminal."""

import io
import os
import re
import subprocess
import sys

import pytest
from slow_tests import slow
from terminal import on_a_terminal

from tradewind.cli import COMMANDS, make_app, output
from tradewind.cli.screen import folded, width_of

SMALL = ["--set", "topology.shape=[4, 4, 4]", "--set", "topology.nodes_per_switch=1"]
SIMULATE = ["simulate", "allreduce", "--ranks", "60", "--machine", "torus-M", "--algorithm", "recursive-near-4,ring"]
OUTPUTS = {
    "simulate": [*SIMULATE, *SMALL],
    "list": ["list"],
    "list machines": ["list", "machines"],
    "list studies": ["list", "studies"],
    "help": ["--help"],
    "help of simulate": ["simulate", "--help"],
    "an error": ["simulate", "allreduce", "--ranks", "60", "--machine", "torus-N"],
    "show": ["show", "halo", "--ranks", "6", "--grid", "602x568x60", "--split", "3x2", "--periodic", "xy"],
    "a plan": ["study", "quickstart", "--dry-run"],
}

NOTE = re.compile(r"^(?:left out on(?:.|\n)*?show\s+all|(?:all rows|also): .*)\n", re.MULTILINE)


@pytest.fixture
def tradewind(capsys, monkeypatch):
    """Runs a command line in this process, for `columns` columns: (standard output, standard error)."""

    def run(columns, *arguments):
        monkeypatch.setenv("COLUMNS", str(columns or ""))
        output.run(make_app(), list(arguments))
        return capsys.readouterr()

    return run


@pytest.mark.parametrize("name", [name if name != "list studies" else slow(name)[0] for name in OUTPUTS])
@pytest.mark.parametrize("columns", [80, *slow(120)])
def test_no_word_is_cut_and_no_line_is_too_long(tradewind, name, columns):
    whole, narrow = (tradewind(width, *OUTPUTS[name]) for width in (None, columns))
    for full, text in zip(whole, narrow, strict=True):
        assert all(line == line.rstrip() for line in (full + text).splitlines())
        assert all(len(line) <= columns for line in text.splitlines()), max(text.splitlines(), key=len)
        printed = NOTE.sub("", text)
        assert set(printed.split()) - {"─" * len(word) for word in printed.split()} <= set(full.split())


def test_a_terminal_says_how_wide_it_is():
    seen = on_a_terminal(80, ["list", "algorithms"])
    assert "\nleft out on 80 columns: source; wider terminals, pipes and --json show all\n" in seen
    assert " source\n" in on_a_terminal(200, ["list", "algorithms"])


def test_help_names_all_commands_and_options(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.delenv("LINES", raising=False)

    def shown(*arguments):
        command = [sys.executable, "-m", "tradewind", *arguments]
        # Named, as readline sets LINES where Python does not see it, and children would.
        return subprocess.run(command, env={**os.environ}, capture_output=True, text=True, check=True).stdout

    commands = shown()
    assert all(f"\n  {name} " in commands for name in COMMANDS)
    assert commands == shown("--help")
    text = shown("simulate", "--help")
    assert "\n  --machine MACHINE " in text
    assert "\nPattern options:\n" in text
    assert " [default: the machine's own]\n" in text
    assert "Usage: tradewind simulate PATTERN [OPTIONS]\n" in text.replace("python -m ", "")
    assert "list [WHAT] [OPTIONS]\n" in shown("list", "--help")


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("columns", "width"), [("72", 72), ("", None), ("0", None), ("wide", None), ("-3", None)])
def test_columns_say_how_wide_a_line_is(monkeypatch, columns, width):
    monkeypatch.setenv("COLUMNS", columns)
    assert width_of(io.StringIO()) == width
    assert width_of(Terminal()) == (width or 80), "a terminal that does not say"


def test_text_is_folded_between_words():
    text = "error: the value [1, 2, 3] of link.latency is\n  not allowed here"
    assert folded(text, None) == text
    assert folded(text, 24, "  ") == "error: the value\n  [1, 2, 3] of\n  link.latency is\n  not allowed here"
    assert folded("a\n\nb", 10) == "a\n\nb"
    assert folded("/a/long/path/that-does-not-fit", 10) == "/a/long/path/that-does-not-fit"
