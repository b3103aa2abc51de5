"""The code blocks of the documents, and how they are run.

=================================== =============================================================================
```` ```python ````                 run, in order, all blocks of a page in one namespace
```` ```python title="halo.py" ```` (toml too) written to that file
```` ```console ````                each line that begins with ``$`` is run, `tradewind` alone in this process and
                                    anything else in a shell; the other lines are its output
```` ```text ````                   right after a python block: what that block prints
=================================== =============================================================================

Quoted output may leave things out: ``...`` stands for anything, on a line of its own for any lines. Blank lines at
the ends do not count, nor space at the ends of lines, nor how much of it separates words. Output that begins with
``error:`` must come with exit code 2. Blocks of other languages are not run.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from command_line import Result, run_tradewind

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 1800
_FENCE = re.compile(r"^```(?P<language>\w+)(?P<rest>[^\n]*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
_SHELL = re.compile(r"[|&;<>$`*]")
"""Characters that mean something to a shell."""
_TITLE = re.compile(r'title="([^"]+)"')


@dataclass(frozen=True)
class Block:
    """A code block of a page."""

    language: str
    title: str | None
    text: str
    line: int
    """Line number of its first line of text in the page."""
    output: str | None = None
    """python: what it prints, where the page says so."""


def blocks(page: str) -> list[Block]:
    """The blocks of a page, in order; the text block after a python block is its output."""
    found: list[Block] = []
    end = 0
    for match in _FENCE.finditer(page):
        title = _TITLE.search(match["rest"])
        block = Block(match["language"], title and title[1], match["text"], page[: match.start("text")].count("\n") + 1)
        between = page[end : match.start()].strip()
        if block.language == "text" and found and found[-1].language == "python" and not between:
            found[-1] = Block(**{**vars(found[-1]), "output": block.text})
        else:
            found.append(block)
        end = match.end()
    return found


def commands(block: Block) -> list[tuple[str, str]]:
    """(command, quoted output) of a console block."""
    found: list[tuple[str, str]] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], ""))
        elif found:
            found[-1] = (found[-1][0], found[-1][1] + line + "\n")
    return found


def agrees(quoted: str, actual: str) -> bool:
    """Whether an output is as the page quotes it."""
    pattern = ""
    for line in quoted.strip().splitlines():
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
            continue
        parts = [r"\s+".join(re.escape(word) for word in part.split()) for part in line.split("...")]
        blank = [bool(part) and part[0].isspace() for part in line.split("...")]
        text = parts[0]
        for part, space in zip(parts[1:], blank[1:], strict=True):
            text += ".*?" + (r"\s+" if space else "") + part
        pattern += r"[^\S\n]*" + text + r"[^\S\n]*\n"
    return re.fullmatch(pattern, actual.strip() + "\n") is not None


def without_warnings(text: str) -> str:
    """Return an output without warnings of a machine on which other tests run; what is written may stand behind."""
    behind = r"(?=^output: |^[a-z ]+: \S+\.(?:png|svg|html|json|toml|pftrace)(?:;|$)|\Z)"
    return re.sub(rf"(?ms)^warning: .*?{behind}", "", text)


class Page:
    """Runs the blocks of a page in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, Any] = {"__name__": "page"}
        self.environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),  # for `python -m validation...`, as if at the root of the repository
            "COLUMNS": "80",
            "NO_COLOR": "1",
        }

    def run(self, block: Block) -> None:
        """Runs a block. Raises AssertionError where it fails or prints something else than the page says."""
        if block.title is not None:
            (self.folder / block.title).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            self._python(block)
        elif block.language == "console":
            for command, quoted in commands(block):
                self._command(command, quoted)

    def _python(self, block: Block) -> None:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block.text, f"<line {block.line}>", "exec"), self.names)
        if block.output is not None:
            assert agrees(block.output, printed.getvalue()), f"line {block.line} prints\n{printed.getvalue()}"

    def _command(self, command: str, quoted: str) -> None:
        alone = command.startswith("tradewind ") and not _SHELL.search(command)
        done = self._tradewind(command) if alone else self._shell(command)
        shown = f"$ {command}\n{done.out}{done.err}"
        refused = quoted.startswith("error:")
        assert done.code == (2 if refused else 0), f"exit code {done.code}\n{shown}"
        printed = done.err if refused else done.out if "warning:" in quoted else without_warnings(done.out)
        assert agrees(quoted, printed) or not quoted, f"the page says\n{quoted}\n{shown}"

    def _tradewind(self, command: str) -> Result:
        """Runs it here: a process of its own would import again what is imported already."""
        with patch.dict(os.environ, self.environment):
            return run_tradewind(*shlex.split(command)[1:], folder=self.folder, columns=80)

    def _shell(self, command: str) -> Result:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        return Result(done.returncode, done.stdout, done.stderr)
