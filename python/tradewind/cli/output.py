"""Output of every command: text for a reader or one JSON value, and an exit code that a script can trust.

Commands raise the errors of `tradewind.base.errors`; `run` turns them, and those of the command line itself, into words
on standard error (with ``--json``: ``{"error": ...}`` on standard output) and exit codes: 0 done, 1 failed, 2 bad
input.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any


class _OutputError(Exception):
    """The output cannot be written; `__cause__` is the reason."""


@contextmanager
def _output() -> Iterator[None]:
    """Raise errors of the output as `_OutputError`. Errors of files are others: they have a name."""
    try:
        yield
    except OSError as error:
        if error.filename is not None:
            raise
        raise _OutputError from error


def print_result(result: Any, as_json: bool, show: Callable[[], None]) -> None:
    """Prints `result` as one JSON value, or calls `show` to print it for a reader."""
    with _output():
        if as_json:
            print(json.dumps(result, allow_nan=False))
        else:
            show()


def refuse(message: str, as_json: bool) -> None:
    """Prints why something was refused or failed."""
    if as_json:
        print(json.dumps({"error": message}))
    else:
        from tradewind.cli.screen import folded, width_of

        prefix = "error: "
        lines = prefix + message.replace("\n", "\n" + prefix)
        print(folded(lines, width_of(sys.stderr), indent=" " * len(prefix)), file=sys.stderr)


INTERRUPTED = "interrupted: no result is kept"


@contextmanager
def keeping(kept: Callable[[], str]) -> Iterator[None]:
    """Let an interrupt of the body be an error whose text has what is kept. Raises TradewindError."""
    from tradewind.base.errors import TradewindError

    try:
        yield
    except KeyboardInterrupt:
        raise TradewindError(f"interrupted: {kept()}") from None


def _give_up_output() -> None:
    """Lets what is left for the output go nowhere: Python would try to write it again as it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def run(app: Callable[[Sequence[str]], int | None], arguments: Sequence[str]) -> int:
    """Runs the command line `app` and returns the exit code."""
    from tradewind.base.errors import TradewindError

    as_json = "--json" in arguments
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name of a file need not be text
    try:
        code = app(arguments)
        with _output():
            sys.stdout.flush()
    except TradewindError as error:
        refuse(str(error), as_json)
        return error.exit_code
    except _OutputError as failed:
        _give_up_output()
        if not isinstance(failed.__cause__, BrokenPipeError):  # else the reader has ended
            refuse(f"cannot write the result: {getattr(failed.__cause__, 'strerror', failed)}", as_json=False)
        return 1
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        refuse(f"{where}{error.strerror or error}", as_json)
        return 1
    except MemoryError:
        refuse("there is not enough memory", as_json)
        return 1
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 1
    except KeyboardInterrupt:
        refuse(INTERRUPTED, as_json)
        return 1
    return code or 0
