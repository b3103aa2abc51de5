"""The progress bar of `tradewind simulate`: on a terminal that looks on, and nowhere else."""

import json
import os
import pty
import re
import subprocess
import sys

import pytest

LONG = [
    *("simulate", "transpose", "--ranks", "400", "--machine", "torus-M", "--grid", "512x512x256", "--slab", "xz"),
    *("--algorithm", "ring-4", "--packet", "128B", "--buffers", "unbounded", "--threads", "1"),
]
"""8.8 M packet-hops: half a second or so, and five times as long as it is until the bar first moves."""
SHOWN = re.compile(r"(\d+)% *simulated ([\d.]+) (\w+), [\d.]+ [kMG]? ?packet-hops/s, [\d.]+ \w+ to go")
UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12}


@pytest.fixture
def terminal(monkeypatch):
    """Both ends of a terminal, as the one of somebody who has not set up colours."""
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    mine, theirs = pty.openpty()
    yield mine, theirs
    os.close(mine)


def run(terminal, terminal_is, *more):
    """Return the text on the terminal and on the other stream, standard output or error, which is no terminal."""
    mine, theirs = terminal
    other = "stderr" if terminal_is == "stdout" else "stdout"
    streams = {terminal_is: theirs, other: subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-m", "tradewind", *LONG, *more], **streams) as program:
        os.close(theirs)
        seen = b"".join(iter(lambda: _read(mine), b""))
        rest = getattr(program, other).read().decode()
    assert program.returncode == 0, (seen, rest)
    return seen.decode(), rest


def _read(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux: the last writer has closed it
        return b""


def test_a_terminal_shows_how_far_a_simulation_is(terminal):
    seen, out = run(terminal, "stderr", "--json")
    result = json.loads(out)
    shown = SHOWN.findall(re.sub(r"\x1b\[[\d;?]*\w", "", seen))
    assert shown, seen
    percents = [int(percent) for percent, _, _ in shown]
    times = [float(number) * UNITS[unit] for _, number, unit in shown]
    assert percents == sorted(percents)
    assert percents[-1] <= 100
    assert times == sorted(times)
    assert 0 < times[-1] <= result["time_s"] * 1.01, "rounded to three digits"
    assert seen.endswith("\x1b[2K"), "the bar is gone when the result comes"


def test_where_errors_go_to_a_file_there_is_no_bar(terminal):
    seen, errors = run(terminal, "stdout")
    assert "bottleneck: " in seen
    assert re.fullmatch(r"transpose ring-4 on torus-M: about .*\n", errors), "the forecast alone"
    for text in (seen, errors):
        assert "to go" not in text
        assert "simulated" not in text
        assert "━" not in text
        assert "%" not in text
    assert "\x1b[2K" not in seen
