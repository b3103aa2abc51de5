"""The help of every command: one screen of 80 columns and 24 lines, with one example that its parser takes."""

import shlex

import pytest
from command_line import run_tradewind

from tradewind.cli import COMMANDS, command_for, words_of
from tradewind.cli.kinds import Asked
from tradewind.cli.options import PATTERNS, exchange
from tradewind.cli.parameters import parse

LINES = 24


def asked():
    """Every command line whose help differs: a command, or a command and what it is about."""
    for name in COMMANDS:
        yield [name]
        family = command_for(name, []).family
        yield from ([name, kind] for kind in (family.kinds() if family else ()))
        yield from ([name, word] for word in words_of(name))


@pytest.fixture(autouse=True)
def screen(monkeypatch):
    monkeypatch.setenv("LINES", str(LINES))


@pytest.mark.parametrize("words", list(asked()), ids=" ".join)
def test_a_help_fits_one_screen_and_its_example_is_right(words):
    done = run_tradewind(*words, "--help", columns=80)
    lines = done.out.splitlines()
    assert done.code == 0
    assert len(lines) < LINES, "the prompt has a line, too"
    assert max(map(len, lines)) <= 80
    (example,) = (line.removeprefix("Example: ") for line in lines if line.startswith("Example: "))
    program, name, *rest = shlex.split(example)
    command = command_for(name, rest)
    values = parse(command.parameters, rest)
    if command.family is PATTERNS and command.kind != "recorded":  # whose messages are in a file
        given = {each.name: values[each.name] for each in PATTERNS.own_options(command.kind)}
        exchange(
            Asked({key: value for key, value in given.items() if value is not None}), command.kind, values["ranks"]
        )
    assert (program, name) == ("tradewind", words[0])
    assert command.kind in (words[1] if len(words) > 1 else command.kind, None)
    for each in command_for(words[0], words[1:]).parameters:
        named = max(each.flags or [each.spelling], key=len)
        assert each.declared.hidden or named in done.out or named in ("PATTERN", "DWARF", "WHAT", *words[1:])


def test_the_help_of_all_fits_and_names_all():
    text = run_tradewind("--help", columns=80).out
    assert text.count("\n") < LINES
    assert all(name in text for name in COMMANDS)


def test_what_there_is_no_room_for_is_described_without_a_screen(monkeypatch):
    short = run_tradewind("simulate", "halo", "--help", columns=80).out
    assert "`tradewind simulate halo --help | less` describes all." in short
    assert "Random seed" not in short
    monkeypatch.delenv("LINES")
    whole = run_tradewind("simulate", "halo", "--help", columns=80).out
    assert "--seed SEED" in whole
    assert "describes all" not in whole
