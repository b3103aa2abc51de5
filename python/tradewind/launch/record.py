"""Recording of any MPI program: the recorder is preloaded into what a launcher starts, and its files are joined."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tradewind.base.errors import InputError, TradewindError
from tradewind.base.files import check_target, make_folder, remove_tree
from tradewind.base.installation import package_folder
from tradewind.launch.elf import read_program
from tradewind.trace.model import Trace
from tradewind.trace.read import PART_NAME, open_trace
from tradewind.trace.write import WHAT, join

LIBRARY = "libtradewind-record.so"
FOLDER_VARIABLE = "TRADEWIND_RECORD"
"""Variable of the environment with the folder for the files of ranks; without it the recorder does nothing."""


def library() -> Path:
    """Return the path of the recorder. Raises InputError where this installation has none."""
    path = package_folder() / LIBRARY
    if not path.is_file():
        raise InputError(f"the recorder {path} is missing: install Tradewind again")
    return path


def environment(folder: Path) -> dict[str, str]:
    """Return the variables by which a program is recorded into a folder, in front of what is preloaded already."""
    preloaded = os.environ.get("LD_PRELOAD", "")
    return {"LD_PRELOAD": f"{library()}:{preloaded}".rstrip(":"), FOLDER_VARIABLE: str(folder.absolute())}


def ranks_folder(output: Path) -> Path:
    """Return the folder for the files of ranks, beside the trace."""
    return output.with_name(f"{output.name}.ranks")


def record(command: Sequence[str], output: Path) -> tuple[Trace, int]:
    """Run a command, record all MPI programs in it as one trace; return that and the command's exit code.

    Raises InputError, before it starts, for a command that cannot be recorded, and TradewindError where it ran and no
    rank was recorded.
    """
    check_target(output, WHAT)
    _check(command)
    folder = ranks_folder(output)
    if folder.exists() and any(folder.iterdir()):
        raise InputError(
            f"{folder}: there are files of ranks that were not joined: `tradewind record --join {folder} -o {output}` "
            "joins them; or remove the folder"
        )
    make_folder(folder, WHAT)
    started = datetime.now(UTC).isoformat(timespec="seconds")
    code = _run(command, os.environ | environment(folder))
    if not any(folder.glob(PART_NAME)):
        folder.rmdir()
        ended = f"it ended with exit code {code}; " if code else ""
        raise TradewindError(
            f"no rank of {command[0]!r} was recorded: {ended}no program in it called MPI_Init, or the launcher does "
            "not pass LD_PRELOAD and TRADEWIND_RECORD on (Open MPI on several nodes: mpiexec -x LD_PRELOAD -x "
            "TRADEWIND_RECORD)"
        )
    return join_folder(folder, output, command, started), code


def join_folder(folder: Path, output: Path, command: Sequence[str] = (), started: str = "") -> Trace:
    """Join the files of ranks in a folder into one trace, and remove the folder. Raises InputError.

    Where the trace cannot be opened the folder stays.
    """
    join(folder, output, command, started)
    trace = open_trace(output)
    remove_tree(folder, WHAT)
    return trace


def _run(command: Sequence[str], variables: Mapping[str, str]) -> int:
    with subprocess.Popen(command, env=variables) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:  # which the command got, too: what it has recorded until then is joined
                continue


def _check(command: Sequence[str]) -> None:
    """Raise InputError where the command is not there, or what it starts cannot be recorded."""
    if not command:
        raise InputError("which command? `tradewind record -- mpiexec -n 4 ./model` is allowed")
    launcher = shutil.which(command[0])
    if launcher is None:
        raise InputError(f"{command[0]!r}: there is no such command")
    library()
    problems = []
    for path in _programs(launcher, command[1:]):
        program = read_program(path)
        if program is not None and (problem := program.problem()):
            problems.append(f"{path} {problem}")
    if problems:
        raise InputError(*problems)


def _programs(launcher: str, arguments: Sequence[str]) -> list[Path]:
    """Return the files among the words of a command that are programs: with a launcher, not the launcher itself."""
    named = [shutil.which(word) for word in arguments if not word.startswith("-")]
    found = [Path(path) for path in named if path is not None]
    return found or [Path(launcher)]


def summary(trace: Trace, output: Path) -> dict[str, Any]:
    """Return what a trace holds, in a few numbers."""
    size = output.stat().st_size
    info = trace.infos[trace.ranks[0]]
    return {
        "trace": str(output),
        "ranks": len(trace.ranks),
        "events": len(trace),
        "bytes": size,
        "bytes_per_event": size / max(1, len(trace)),
        "library": info.library,
        "abi": info.abi,
        "problems": list(trace.problems),
    }
