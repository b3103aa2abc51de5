"""Files as they are read: regular ones, of a size that fits memory, in UTF-8."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tradewind.base.errors import InputError, quoted
from tradewind.base.files import kind_of, reason_of

MAX_BYTES = 512 * 2**20
"""Maximum bytes of a file, unless its reader asks for less: a sparse file of terabytes is an error at once."""


def read_bytes(path: Path, what: str = "", maximum: int = MAX_BYTES) -> bytes:
    """Return the content of a file. Raises InputError for a folder, a device, a pipe, and more than `maximum` bytes.

    `what`: how errors call the file.
    """
    check_source(path, what)
    try:
        with open(path, "rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            content = stream.read(maximum + 1) if size <= maximum else b""
            size = max(size, len(content))
    except OSError as error:
        raise InputError(f"{_name(path, what)}: {reason_of(error)}") from None
    if size > maximum:
        raise InputError(f"{_name(path, what)}: {size} bytes; at most {maximum} are allowed")
    return content


def path_of(what: str, path: Any) -> Path:
    """Return a path that a caller gave. Raises InputError for anything else."""
    if not isinstance(path, str | os.PathLike) or "\0" in str(path):
        raise InputError(f"{what} {quoted(path)}: the name of a file or folder is allowed")
    return Path(path)


def read_text(path: Path, what: str = "", maximum: int = MAX_BYTES) -> str:
    """The text of a file, its lines ended by a line feed. Raises as `read_bytes`, and for what is no UTF-8."""
    content = read_bytes(path, what, maximum)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{_name(path, what)}: no text in UTF-8: byte {content[error.start]:#04x} in line {line}"
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def read_json(path: Path, what: str = "", maximum: int = MAX_BYTES) -> Any:
    """The value of a JSON file. Raises as `read_text`, and for what is no JSON, or deeper than anybody nests it."""
    text = read_text(path, what, maximum)
    try:
        return json.loads(text, parse_constant=_no_number)
    except RecursionError:
        raise InputError(f"{_name(path, what)}: no JSON of ours: it is nested too deeply") from None
    except ValueError as error:  # JSONDecodeError, and numbers of more digits than Python reads
        raise InputError(f"{_name(path, what)}: no JSON: {error}") from None


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not a number in JSON")


def is_folder(path: Path) -> bool:
    """Whether there is such a folder. Raises InputError where the rights do not suffice to know."""
    return _mode(path, stat.S_ISDIR)


def is_file(path: Path) -> bool:
    """Whether there is such a regular file. Raises InputError where the rights do not suffice to know."""
    return _mode(path, stat.S_ISREG)


def is_there(path: Path) -> bool:
    """Whether there is anything of this name. Raises InputError where the rights do not suffice to know."""
    return _mode(path, lambda _: True)


def _mode(path: Path, question: Callable[[int], bool]) -> bool:
    try:
        return question(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise InputError(f"{_name(path, '')}: {reason_of(error)}") from None
    except ValueError as error:  # a null character
        raise InputError(f"{_name(path, '')}: {error}") from None


def check_source(path: Path, what: str = "") -> None:
    """Raises InputError for what is there and no file: nothing waits for a pipe, or reads a device without end."""
    try:
        found = path.stat()
    except OSError as error:
        raise InputError(f"{_name(path, what)}: {reason_of(error)}") from None
    except ValueError as error:  # a null character
        raise InputError(f"{_name(path, what)}: {error}") from None
    if kind := kind_of(found.st_mode):
        raise InputError(f"{_name(path, what)}: this is a {kind}; a file is allowed")


def _name(path: Path, what: str) -> str:
    return f"cannot read {what} {path}" if what else f"cannot read {path}"
