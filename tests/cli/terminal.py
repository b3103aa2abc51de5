"""Run a command on a terminal with a given number of columns."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

UNSAID = ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")


def on_a_terminal(columns, arguments):
    """All that a command writes to a terminal, without colours; the terminal alone says how wide it is."""
    mine, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in UNSAID} | {"TERM": "xterm"}
    command = [sys.executable, "-m", "tradewind", *map(str, arguments)]
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, env=environment) as program:
        os.close(theirs)
        seen = b"".join(iter(lambda: _read(mine), b""))
    os.close(mine)
    assert program.returncode in (0, 2), seen
    return re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", seen.decode()).replace("\r\n", "\n")


def _read(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux: the last writer has closed it
        return b""
