"""Runs the command line in the process of the tests, which has imported already what a process of its own would."""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tradewind.cli import make_app, output


@dataclass(frozen=True)
class Result:
    """Output and exit code of the command line."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class _Text(io.StringIO):
    """Text whose characters are those of a terminal."""

    encoding = "utf-8"


def run_tradewind(*arguments: object, folder: Path | None = None, columns: int = 200) -> Result:
    """Runs `tradewind` with these arguments, in a folder, on a terminal of `columns` characters."""
    out, err = _Text(), _Text()
    with (
        patch.dict(os.environ, {"COLUMNS": str(columns)}),
        contextlib.chdir(folder or Path.cwd()),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = output.run(make_app(), [str(argument) for argument in arguments])
    return Result(code, out.getvalue(), err.getvalue())


Command = Callable[..., Result]
