"""Completion of commands in a shell."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import run_tradewind

from tradewind.cli.candidates import candidates
from tradewind.cli.completion_scripts import SCRIPTS

RUNS = {
    "bash": "{script}\nCOMP_WORDS=({words}) COMP_CWORD={last}\n_tradewind\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"",
    "fish": "{script}\ncomplete -C '{words}'",
    "zsh": "compdef() {{ :; }}\ncompadd() {{ shift 2; print -l -- $@ }}\n_files() {{ print a file }}\n{script}\n"
    "words=({words}) CURRENT={place}\n_tradewind",
}
"""A program of each shell that prints what it would complete."""


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("sim", ["simulate"]),
        ("simulate h", ["halo"]),
        ("simulate p", ["program"]),
        ("advise o", ["output"]),
        ("simulate halo -n 4 --machine fr", ["frontier"]),
        ("advise halo --machine frontier,lumi-", ["frontier,lumi-c", "frontier,lumi-g"]),
        ("simulate halo --model=p", ["--model=packet"]),
        ("simulate halo --model = p", ["packet"]),
        ("verify halo --dtype f", ["f4", "f8"]),
        ("verify allreduce --algorithm recursive-", ["recursive-k", "recursive-near-k"]),
        ("bench halo --transport per", ["persistent"]),
        ("bench halo --packing da", ["datatype"]),
        ("simulate halo --routing ugal-", ["ugal-sst71"]),
        ("run diffusion --strategy ov", ["overlap"]),
        ("run diffusion --simulate fr", ["frontier"]),
        ("bench halo -n 4 --wi", ["--width"]),
        ("bench halo --width 2 --wi", []),
        ("simulate halo --set a=1 --se", ["--seed", "--set"]),
        ("list ro", ["routings"]),
        ("study qui", ["quickstart"]),
        ("completion z", ["zsh"]),
        ("simulate halo -n ", []),
        ("nothing h", []),
    ],
)
def test_the_last_word_is_completed(line, found):
    assert candidates(line.split(" ")) == found


def test_a_line_that_is_wrong_already_is_not_completed():
    done = run_tradewind("completion", "words", "--", "simulate", "hallo", "--m")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_another_shell_is_refused():
    done = run_tradewind("completion", "csh")
    assert (done.code, done.err) == (2, "error: unknown shell 'csh'; did you mean 'zsh'? (known: bash, zsh, fish)\n")


@pytest.mark.parametrize("shell", [name for name in SCRIPTS if shutil.which(name)])
def test_a_shell_completes_a_machine(shell):
    line = "tradewind advise halo --machine frontier,lumi-"
    words = line.split()
    script = RUNS[shell].format(script=SCRIPTS[shell], words=line, last=len(words) - 1, place=len(words))
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run([shell, "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["frontier,lumi-c", "frontier,lumi-g"], done.stderr
